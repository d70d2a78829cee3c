{{ config(materialized='ephemeral') }}
{%- set keys = ['run_id', 'suite', 'metric', 'k'] %}

{#- Named whether or not it is read, so that what dbt has parsed serves for either. #}
{%- set of_tasks, by_family = ref('int_passk__task_counts'), passk._family() is not none %}

with counts as (
  select
    run_id,
    suite,
    n,
    c,
    tasks
  from {{ ref('int_passk__tasks_by_count') }}
  where slice_name = 'all'
),

scored as (
  select
    counts.*,
    states.metric,
    states.k,
    states.assumed,
    states.leverage,
    states.score
  from counts
  inner join {{ ref('int_passk__corrected_states') }} as states
    on counts.suite = states.suite and counts.n = states.n and counts.c = states.c
  where states.score is not null
),

points as (
  select
    {{ keys | join(', ') }},
    assumed,
    max(leverage) as leverage,
    {{ passk._as_double('sum(tasks)') }} as tasks,
    sum(tasks * score) / sum(tasks) as mean
  from scored
  group by {{ keys | join(', ') }}, assumed
),

means as (
  select
    {{ keys | join(', ') }},
    {%- for point in ['passes_lower', 'passes_upper', 'failures_lower', 'failures_upper'] %}
    max(case when assumed = '{{ point }}' then mean end) as at_{{ point }},
    {%- endfor %}
    max(case when assumed = 'estimate' then mean end) as corrected,
    max(case when assumed = 'estimate' then leverage end) as leverage,
    max(tasks) as tasks
  from points
  group by {{ keys | join(', ') }}
),

{% if by_family -%}
{# A task whose family is not known is a family of its own. #}
sizes as (
  select
    run_id,
    suite,
    family,
    case when family is null then task_id end as lone_task,
    n,
    c,
    count(*) as tasks
  from {{ of_tasks }}
  where slice_name = 'all' and attempts > 0
  group by run_id, suite, family, case when family is null then task_id end, n, c
),

{% else -%}
sizes as (
  select * from counts
),

{% endif -%}
apart as (
  select
    {% for key in keys %}means.{{ key }}, {% endfor %}
    {%- if by_family %}
    sizes.family,
    sizes.lone_task,
    {%- endif %}
    sizes.tasks,
    sizes.tasks * (states.score - means.corrected) as distance,
    sizes.tasks * (states.score - means.corrected) * (states.score - means.corrected) as square
  from means
  inner join sizes
    on means.run_id = sizes.run_id and means.suite = sizes.suite
  inner join {{ ref('int_passk__corrected_states') }} as states
    on means.suite = states.suite
    and means.metric = states.metric
    and means.k = states.k
    and sizes.n = states.n
    and sizes.c = states.c
  where states.assumed = 'estimate' and states.score is not null
),

{% if by_family -%}
families as (
  select
    {{ keys | join(', ') }},
    {{ passk._as_double('sum(tasks)') }} as tasks,
    sum(distance) as distance
  from apart
  group by {{ keys | join(', ') }}, family, lone_task
),

varied as (
  select
    {{ keys | join(', ') }},
    cast(count(*) as {{ dbt.type_bigint() }}) as families,
    sum(tasks) * sum(tasks) / sum(tasks * tasks) as units,
    {{ passk._variance_of_families('distance', 'distance') }} as variance
  from families
  group by {{ keys | join(', ') }}
)
{%- else -%}
varied as (
  select
    {{ keys | join(', ') }},
    cast(null as {{ dbt.type_bigint() }}) as families,
    {{ passk._as_double('sum(tasks)') }} as units,
    sum(square) / nullif(sum(tasks) - 1, 0) as variance
  from apart
  group by {{ keys | join(', ') }}
)
{%- endif %}

select
  means.*,
  varied.families,
  varied.units,
  varied.variance * varied.units / means.tasks as unit_variance
from means
left join varied
  on {{ passk._same_keys(keys, 'means', 'varied') }}
