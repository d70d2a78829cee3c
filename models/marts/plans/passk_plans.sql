{%- set keys = ['run_id', 'suite', 'metric', 'k', 'attempts'] %}
{%- set difference = passk._as_double(passk._setting('passk_plan_difference')) %}
{%- set power = passk._power_quantiles()[passk._setting('passk_plan_power')] %}
{%- set reach = '(' ~ passk.normal_quantile() ~ ' + ' ~ power.normal ~ ')' %}
{#- The amount that rounding may add to a number of tasks, and the largest value of a variance of 0 after rounding. #}
{%- set slack = '1e-9' %}
{%- set nothing = '1e-12' %}

with variances as (
  select
    {{ keys | join(',\n    ') }},
    case when no_variance_reason is null then used_tasks else total_tasks end as tasks,
    {%- for column in ['basis', 'mean', 'between_variance', 'within_variance'] %}
    case when no_variance_reason is null then {{ column }} end as {{ column }},
    {%- endfor %}
    case when no_variance_reason is null then between_variance + within_variance end as variance,
    family_size,
    {#- The variance of a family's mean, as in int_passk__plan_roots. #}
    case
      when no_variance_reason is null then (between_variance * (1 + family_excess) + within_variance) / family_size
    end as family_variance,
    case
      when no_variance_reason is null and within_variance > {{ nothing }}
        then case when seen_share > differing_share then seen_share else differing_share end
    end as deciding_share,
    no_variance_reason,
    loaded_at
  from {{ ref('int_passk__plan_variances') }}
),

sized as (
  select
    variances.*,
    sizes.families_for_width,
    sizes.tasks_for_width,
    {{ reach }} * {{ reach }} * 2 * variances.within_variance / ({{ difference }} * {{ difference }}) as tasks_by_variance,
    {{ power.deciding }} / variances.deciding_share as tasks_by_number
  from variances
  left join {{ ref('int_passk__plan_sizes') }} as sizes
    on {{ passk._same_keys(keys, 'variances', 'sizes') }}
),

planned as (
  select
    *,
    case
      when tasks_by_variance > tasks_by_number
        then cast(ceil((1 - {{ slack }}) * tasks_by_variance) as {{ dbt.type_bigint() }})
      else cast(ceil((1 - {{ slack }}) * tasks_by_number) as {{ dbt.type_bigint() }})
    end as tasks_for_difference
  from sized
)

select
  planned.run_id,
  planned.suite,
  runs.agent,
  runs.agent_version,
  runs.model,
  planned.metric,
  planned.k,
  planned.attempts,
  planned.tasks,
  planned.basis,
  planned.mean as estimate,
  planned.between_variance as variance_between,
  planned.within_variance as variance_within,
  case
    when planned.variance > {{ nothing }}
      then planned.within_variance / (planned.family_variance * planned.family_size)
  end as within_share,
  {{ passk._plan_width('planned.mean', 'planned.family_variance', '(planned.tasks / planned.family_size)') }}
    as expected_width,
  {%- if passk._family() %}
  planned.families_for_width,
  {%- else %}
  cast(null as {{ dbt.type_bigint() }}) as families_for_width,
  {%- endif %}
  planned.tasks_for_width,
  planned.tasks_for_width * planned.attempts as attempts_for_width,
  case
    when planned.deciding_share is not null
      then {{ reach }} * sqrt(2 * planned.within_variance / planned.tasks)
  end as detectable_difference,
  planned.deciding_share,
  planned.tasks_for_difference,
  planned.tasks_for_difference * planned.attempts as attempts_for_difference,
  case
    when planned.no_variance_reason is not null then planned.no_variance_reason
    when planned.deciding_share is null then 'no task could come out differently in another run'
  end as null_reason,
  planned.loaded_at
from planned
inner join {{ ref('int_passk__runs') }} as runs
  on planned.run_id = runs.run_id and planned.suite = runs.suite
