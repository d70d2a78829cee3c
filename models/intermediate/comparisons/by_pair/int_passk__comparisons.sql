{%- set keys = passk._pair_keys() %}
{%- set critical = passk.normal_quantile() %}
{#- Over the differences of tasks, or of families, and two pseudo-differences, +1 and -1. #}
{%- set padded_error -%}
sqrt((unit_squares + 2 - unit_difference * unit_difference / (units + 2)) / (units + 1) / (units + 2))
{%- endset %}

with changed_pairs as (
  {{ passk.changed_pairs(ref('int_passk__pair_sums')) }}
),

pairs as (
  select
    sums.*,
    families.families,
    families.effective_families,
    families.variance,
    changed_pairs.log_version as made_version,
    {%- for side in ['baseline', 'candidate'] %}
    {{ side }}s.agent as {{ side }}_agent,
    {{ side }}s.agent_version as {{ side }}_agent_version,
    coalesce({{ side }}s.task_rows, 0) > 0 as has_{{ side }},
    {%- endfor %}
    {{ passk._latest_of_pair() }} as loaded_at
  from {{ ref('int_passk__pair_sums') }} as sums
  inner join changed_pairs
    on {{ passk._same_keys(keys, 'changed_pairs', 'sums') }}
  {#- Empty where the var passk_cluster is not set. #}
  left join {{ ref('int_passk__pair_families') }} as families
    on {{ passk._same_keys(keys + ['metric', 'k'], 'sums', 'families') }}
  {{ passk._join_runs_of('sums') }}
),

{# Each run has to have enough tasks with n >= k, as for its own value. #}
enough as (
  select
    *,
    {{ passk._has_enough_tasks('baseline_tasks', 'common_tasks') }} as is_enough_of_baseline,
    {{ passk._has_enough_tasks('candidate_tasks', 'common_tasks') }} as is_enough_of_candidate
  from pairs
),

checked as (
  select
    *,
    is_enough_of_baseline and is_enough_of_candidate and eligible_tasks > 0 as is_answered
  from enough
),

answered as (
  select
    {{ keys | join(',\n    ') }},
    baseline_agent,
    baseline_agent_version,
    candidate_agent,
    candidate_agent_version,
    metric,
    k,
    common_tasks,
    baseline_only_tasks,
    candidate_only_tasks,
    eligible_tasks,
    informative_tasks,
    deciding_tasks,
    {%- for column in [
      'least_n', 'baseline', 'candidate', 'rate_difference', 'sum_difference', 'sum_squares', 'sum_fourths', 'sum_within',
      'sum_variance'
    ] %}
    case when is_answered then {{ column }} end as {{ column }},
    {%- endfor %}
    case when is_answered then sum_difference / eligible_tasks end as difference,
    case when is_answered then {{ passk._as_double('eligible_tasks') }} end as eligible,
    case when is_answered and sum_variance > 0 then sum_difference / sqrt(sum_variance) end as z,
    families,
    case when is_answered then coalesce(effective_families, {{ passk._as_double('eligible_tasks') }}) end as units,
    variance,
    case
      when not has_baseline and not has_candidate then 'the suite has no attempt of either run'
      when not has_baseline then 'the suite has no attempt of the baseline'
      when not has_candidate then 'the suite has no attempt of the candidate'
      when common_tasks = 0 then 'no task is in both runs'
      when is_answered then null
      {%- for side, other in [('baseline', 'candidate'), ('candidate', 'baseline')] %}
      when is_enough_of_{{ other }} and not is_enough_of_{{ side }}
        then {{ passk._short_tasks_reason(side ~ '_tasks', 'common_tasks', ' of both runs, in the ' ~ side) }}
      {%- endfor %}
      else {{ passk._short_tasks_reason('eligible_tasks', 'common_tasks', ' of both runs') }}
    end as null_reason,
    loaded_at,
    made_version
  from checked
),

{# As many families of one size, whose means differ as the families do. One family has no variance of its own. #}
related as (
  select
    *,
    case when families is null then sum_difference else units * difference end as unit_difference,
    case
      when families is null then sum_squares
      else coalesce((units - 1) * variance * units / eligible, 0) + units * difference * difference
    end as unit_squares
  from answered
),

spread as (
  select
    *,
    {#- The variance if both runs were the same is too small where a few tasks changed a lot; the variance within the
        runs is not. #}
    sqrt(
      case when sum_within > sum_variance then sum_within else sum_variance end
      + {{ passk._floor_of_difference('k', 'least_n') }}
    ) / eligible as difference_error,
    2 * {{ passk.normal_tail('abs(z)') }} as two_tails,
    unit_difference / (units + 2) as centre,
    case
      when eligible_tasks >= 2
        then {{ passk.student_quantile('floor(units + 1.5e0)') }} * {{ padded_error }}
    end as reach
  from related
)

select
  {{ keys | join(',\n  ') }},
  baseline_agent,
  baseline_agent_version,
  candidate_agent,
  candidate_agent_version,
  metric,
  k,
  common_tasks,
  baseline_only_tasks,
  candidate_only_tasks,
  eligible_tasks,
  informative_tasks,
  deciding_tasks,
  families,
  case when families is not null then units end as effective_families,
  least_n,
  {#- (sum of d^2)^2 / sum of d^4 is the number of tasks that differ, if all of them differ equally. #}
  coalesce(sum_squares * sum_squares < 2 * sum_fourths * (1 - 1e-9), false) as is_outweighed,
  baseline,
  candidate,
  difference,
  rate_difference,
  difference_error,
  z,
  {{ passk._p_value('two_tails') }} as p,
  {%- for limits, middle, width in [
    ('difference', 'centre', 'reach'), ('difference_suite', 'difference', critical ~ ' * difference_error')
  ] %}
  {{ passk._clipped(middle ~ ' - ' ~ width, -1, 1) }} as {{ limits }}_lower,
  {{ passk._clipped(middle ~ ' + ' ~ width, -1, 1) }} as {{ limits }}_upper,
  {%- endfor %}
  null_reason,
  loaded_at,
  made_version as log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from spread
