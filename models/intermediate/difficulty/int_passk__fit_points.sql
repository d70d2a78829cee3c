{%- set fit = ['run_id', 'suite', 'k'] %}

with tasks as (
  select *
  from {{ ref('int_passk__length_points') }}
  where spread is not null
),

{# Four halves of tasks more, one that passes and one that fails to either side of the mean, make every fit finite. #}
halves as (
  select
    -1e0 as place,
    0e0 as score
  union all
  select
    -1e0 as place,
    1e0 as score
  union all
  select
    1e0 as place,
    0e0 as score
  union all
  select
    1e0 as place,
    1e0 as score
)

select
  {{ fit | join(', ') }},
  family_key,
  lone_task,
  place,
  pass_hat_k as score,
  {{ passk._as_double('tasks') }} as weight,
  0 as is_half
from tasks
union all
select
  {% for key in fit %}fits.{{ key }}, {% endfor %}
  '' as family_key,
  '' as lone_task,
  halves.place,
  halves.score,
  0.5e0 as weight,
  1 as is_half
from (select distinct {{ fit | join(', ') }} from tasks) as fits
cross join halves
