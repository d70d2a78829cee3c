{{ config(materialized='table') }}
{%- set keys = ['run_id', 'suite', 'slice_name', 'slice_value'] %}
{%- set by_family = passk._family() is not none %}
{%- set tasks, histogram = ref('int_passk__task_counts'), ref('int_passk__tasks_by_count') %}

{#- With families, the tasks of a family together; a task whose family is not known is a family of its own. -#}
with counts as (
  {%- if by_family %}
  select
    {{ keys | join(', ') }},
    family,
    case when family is null then task_id end as lone_task,
    n,
    c,
    count(*) as tasks
  from {{ tasks }}
  where attempts > 0
  group by {{ keys | join(', ') }}, family, case when family is null then task_id end, n, c
  {%- else %}
  select
    {{ keys | join(', ') }},
    n,
    c,
    tasks
  from {{ histogram }}
  {%- endif %}
),

scores as (
  select * from {{ ref('int_passk__m_of_k_states') }}
),

{{ passk._score_means(keys, ['metric', 'k', 'm']) }}

select
  runs.run_id,
  runs.suite,
  runs.agent,
  runs.agent_version,
  runs.model,
  {%- for name in [
    'slice_name', 'slice_value', 'metric', 'k', 'm', 'eligible_tasks', 'total_tasks', 'least_n', 'families', 'effective_families',
    'estimate', 'lower', 'suite_lower', 'upper', 'suite_upper', 'null_reason', 'caveat'
  ] %}
  score_means.{{ name }},
  {%- endfor %}
  runs.loaded_at
from score_means
inner join {{ ref('int_passk__runs') }} as runs
  on score_means.run_id = runs.run_id and score_means.suite = runs.suite
