{%- set keys = ['run_id', 'suite', 'metric', 'k', 'attempts'] %}
{%- set width = passk._as_double(passk._setting('passk_plan_width')) %}
{#- The amount that rounding may add to a number of tasks. #}
{%- set slack = '1e-9' %}
{#- The quantiles of Student's t that are in a table: with more tasks the number is next to the root. #}
{%- set criticals = passk._quantiles_of('passk_plans', none).student %}

with roots as {{ passk._made_once() }}(
  select * from {{ ref('int_passk__plan_roots') }}
),

few_tasks as (
  select
    {{ passk._as_double(1) }} as tasks,
    {{ criticals[1] }} as critical
  {%- for critical in criticals[2:] %}
  union all
  select {{ loop.index + 1 }}, {{ critical }}
  {%- endfor %}
),

offsets as (
  select {{ passk._as_double(-2) }} as offset_by
  {%- for step in range(-1, 4) %}
  union all
  select {{ step }}
  {%- endfor %}
),

many_tasks as (
  select
    roots.*,
    case
      when floor(roots.root) + offsets.offset_by > {{ criticals | length }} then floor(roots.root) + offsets.offset_by
      else {{ passk._as_double(criticals | length) }}
    end as tasks
  from roots
  cross join offsets
),

candidates as (
  select
    {%- for key in keys %}
    roots.{{ key }},
    {%- endfor %}
    roots.family_size,
    few_tasks.tasks,
    2 * few_tasks.critical
    * {{ passk._padded_error('roots.mean', 'roots.variance', 'few_tasks.tasks') }} as width
  from roots
  cross join few_tasks
  where roots.root < {{ criticals | length + 2 }}
  union all
  select
    {{ keys | join(', ') }},
    family_size,
    tasks,
    {{ passk._plan_width('mean', 'variance', 'tasks') }} as width
  from many_tasks
)

select
  {{ keys | join(',\n  ') }},
  cast(min(tasks) as {{ dbt.type_bigint() }}) as families_for_width,
  cast(ceil(min(tasks) * max(family_size) * (1 - {{ slack }})) as {{ dbt.type_bigint() }}) as tasks_for_width
from candidates
where width <= {{ width }} * (1 + {{ slack }})
group by {{ keys | join(', ') }}
