{{ config(materialized='ephemeral') }}
{%- set pair = ['suite', 'judge', 'other_judge'] %}
{%- set by_figure = 'terms.' ~ pair | join(', terms.') ~ ', terms.figure' %}

{#- How often two verdicts of the same try differ is x, and of two tries y: of tasks with tries enough for both. -#}
with terms as {{ passk._made_once() }}(
  select
    {{ pair | join(', ') }},
    'agreement' as figure,
    family,
    case when family is null then task_id end as lone_task,
    attempts,
    pass_rate,
    other_pass_rate,
    agreement as x,
    0e0 as y
  from {{ ref('int_passk__judged_tasks') }}
  union all
  select
    {{ pair | join(', ') }},
    'share' as figure,
    family,
    case when family is null then task_id end as lone_task,
    attempts,
    pass_rate,
    other_pass_rate,
    same_try as x,
    other_try as y
  from {{ ref('int_passk__judged_tasks') }}
  where other_try is not null
),

means as (
  select
    {{ pair | join(', ') }},
    figure,
    sum(attempts) as attempts,
    {{ passk._as_double('count(*)') }} as tasks,
    avg(pass_rate) as pass_rate,
    avg(other_pass_rate) as other_pass_rate,
    avg(x) as x,
    avg(y) as y
  from terms
  group by {{ pair | join(', ') }}, figure
),

{# A task whose family is not known is a family of its own. #}
families as (
  select
    {{ by_figure }},
    {{ passk._as_double('count(*)') }} as tasks,
    sum(terms.x - means.x) as x,
    sum(terms.y - means.y) as y
  from terms
  inner join means
    on {{ passk._same_keys(pair + ['figure'], 'terms', 'means') }}
  group by {{ by_figure }}, terms.family, terms.lone_task
),

spread as (
  select
    {{ pair | join(', ') }},
    figure,
    {{ passk._as_double('count(*)') }} as draws,
    sum(tasks) * sum(tasks) / sum(tasks * tasks) as units,
    {{ passk._variance_of_families('x', 'x') }} as var_x,
    {{ passk._variance_of_families('y', 'y') }} as var_y,
    {{ passk._variance_of_families('x', 'y') }} as cov_xy
  from families
  group by {{ pair | join(', ') }}, figure
)

select
  means.*,
  spread.draws,
  spread.units,
  spread.units / means.tasks * spread.var_x as var_x,
  spread.units / means.tasks * spread.var_y as var_y,
  spread.units / means.tasks * spread.cov_xy as cov_xy
from means
inner join spread
  on {{ passk._same_keys(pair + ['figure'], 'means', 'spread') }}
