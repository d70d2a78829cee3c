{{ config(materialized='table') }}
{%- set keys = ['run_id', 'suite', 'slice_name', 'slice_value'] %}
{%- set score = ['metric', 'k', 'm'] %}
{%- set bigint = dbt.type_bigint() %}
{%- set z = passk.normal_quantile() %}
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

scored as (
  select
    counts.*,
    states.metric,
    states.k,
    states.m,
    states.estimate,
    states.var_estimate,
    case when counts.n >= states.k then counts.tasks else 0 end as eligible
  from counts
  inner join {{ ref('int_passk__m_of_k_states') }} as states
    on counts.n = states.n and counts.c = states.c
),

means as (
  select
    {{ (keys + score) | join(', ') }},
    sum(eligible * estimate) / nullif(sum(eligible), 0) as mean
  from scored
  group by {{ (keys + score) | join(', ') }}
),

centered as (
  select
    scored.*,
    means.mean,
    case when scored.eligible > 0 then scored.estimate - means.mean end as off_estimate
  from scored
  inner join means
    on {{ passk._same_keys(keys + score, 'scored', 'means') }}
),

averaged as (
  select
    {{ (keys + score) | join(', ') }},
    cast(sum(eligible) as {{ bigint }}) as eligible_tasks,
    cast(sum(tasks) as {{ bigint }}) as total_tasks,
    cast(min(case when eligible > 0 then n end) as {{ bigint }}) as least_n,
    max(mean) as estimate,
    sum(eligible * off_estimate * off_estimate) / nullif(sum(eligible) - 1, 0) as variance,
    case
      when sum(case when eligible > 0 and var_estimate is null then 1 else 0 end) = 0
        then sum(case when eligible > 0 then eligible * var_estimate end)
    end as within
  from centered
  group by {{ (keys + score) | join(', ') }}
),

{% if by_family -%}
families as (
  select
    {{ (keys + score) | join(', ') }},
    {{ passk._as_double('sum(eligible)') }} as tasks,
    sum(case when eligible > 0 then eligible * off_estimate end) as off_estimate
  from centered
  group by {{ (keys + score) | join(', ') }}, family, lone_task
),

related as (
  select
    {{ (keys + score) | join(', ') }},
    cast(nullif(count(nullif(tasks, 0)), 0) as {{ bigint }}) as families,
    {#- A family of many tasks counts for more, so that unequal ones say as much as fewer equal ones. #}
    sum(tasks) * sum(tasks) / nullif(sum(tasks * tasks), 0) as units,
    {{ passk._variance_of_families('off_estimate', 'off_estimate') }} as variance
  from families
  group by {{ (keys + score) | join(', ') }}
),
{%- endif %}

joined as (
  select
    {% for key in keys + score %}averaged.{{ key }}, {% endfor %}
    averaged.eligible_tasks,
    averaged.total_tasks,
    averaged.least_n,
    averaged.estimate,
    averaged.within,
    {%- if by_family %}
    related.families,
    related.units,
    related.variance,
    {%- else %}
    cast(null as {{ bigint }}) as families,
    {{ passk._as_double('averaged.eligible_tasks') }} as units,
    averaged.variance,
    {%- endif %}
    {{ passk._has_enough_tasks('averaged.eligible_tasks', 'averaged.total_tasks') }} as is_answered
  from averaged
  {%- if by_family %}
  inner join related
    on {{ passk._same_keys(keys + score, 'averaged', 'related') }}
  {%- endif %}
),

answered as (
  select
    {{ (keys + score) | join(', ') }},
    eligible_tasks,
    total_tasks,
    least_n,
    {%- for column in ['estimate', 'within', 'families', 'units', 'variance'] %}
    case when is_answered then {{ column }} end as {{ column }},
    {%- endfor %}
    case when not is_answered then {{ passk._short_tasks_reason('eligible_tasks', 'total_tasks') }} end as null_reason,
    case
      when is_answered and eligible_tasks < total_tasks
        then {{ passk._short_tasks_reason('eligible_tasks', 'total_tasks') }} || ', which the limits allow any score'
    end as caveat
  from joined
),

errors as (
  select
    *,
    {{ passk._padded_columns([('estimate', 'estimate', 'variance')]) }},
    sqrt(within + {{ passk._floor_of_suite('k', 'least_n') }}) / eligible_tasks as suite_error
  from answered
)

select
  runs.run_id,
  runs.suite,
  runs.agent,
  runs.agent_version,
  runs.model,
  errors.slice_name,
  errors.slice_value,
  errors.metric,
  errors.k,
  errors.m,
  errors.eligible_tasks,
  errors.total_tasks,
  errors.least_n,
  errors.families,
  case when errors.families is not null then errors.units end as effective_families,
  errors.estimate,
  {%- for side, sign, extreme in [('lower', '-', 0), ('upper', '+', 1)] %}
  {%- for name, limit in [
    (side, passk._padded_limit('estimate', sign)),
    ('suite_' ~ side, passk._clipped('estimate ' ~ sign ~ ' ' ~ z ~ ' * suite_error', 0, 1))
  ] %}
  {{ passk._with_short_tasks(limit, 'eligible_tasks', 'total_tasks', extreme) }} as {{ name }},
  {%- endfor %}
  {%- endfor %}
  errors.null_reason,
  errors.caveat,
  runs.loaded_at
from errors
inner join {{ ref('int_passk__runs') }} as runs
  on errors.run_id = runs.run_id and errors.suite = runs.suite
