{%- set keys = passk._pair_keys() %}
{%- set bigint = dbt.type_bigint() %}
{%- set ks = passk._setting('passk_ks') %}
{%- set critical = passk.normal_quantile() %}
{#- Of the differences and two more, +1 and -1. #}
{%- set padded_error -%}
sqrt((sum_squares + 2 - sum_difference * sum_difference / (eligible + 2)) / (eligible + 1) / (eligible + 2))
{%- endset %}

with changed_pairs as (
  {{ passk.changed_pairs(ref('int_passk__pair_states'), 'made.baseline_n is null and made.candidate_n is null') }}
),

pairs as (
  select
    changed_pairs.*,
    {%- for side in ['baseline', 'candidate'] %}
    {{ side }}s.agent as {{ side }}_agent,
    {{ side }}s.agent_version as {{ side }}_agent_version,
    coalesce({{ side }}s.task_rows, 0) > 0 as has_{{ side }},
    {%- endfor %}
    case
      when baselines.loaded_at is null or candidates.loaded_at > baselines.loaded_at then candidates.loaded_at
      else baselines.loaded_at
    end as loaded_at,
    row_number() over (
      order by changed_pairs.suite, changed_pairs.baseline_run_id, changed_pairs.candidate_run_id, changed_pairs.pair_source
    ) as pair_number
  from changed_pairs
  {{ passk._join_runs_of('changed_pairs') }}
),

grid as (
  {{ passk._ks_rows(ks) }}
),

histogram as (
  select
    pairs.pair_number,
    pair_states.baseline_n,
    pair_states.baseline_c,
    pair_states.candidate_n,
    pair_states.candidate_c,
    pair_states.tasks
  from pairs
  inner join {{ ref('int_passk__pair_states') }} as pair_states
    on {{ passk._same_keys(keys, 'pairs', 'pair_states') }}
),

totals as (
  select
    pair_number,
    cast(sum(case when baseline_n is not null and candidate_n is not null then tasks else 0 end) as {{ bigint }})
      as common_tasks,
    cast(sum(case when candidate_n is null then tasks else 0 end) as {{ bigint }}) as baseline_only_tasks,
    cast(sum(case when baseline_n is null then tasks else 0 end) as {{ bigint }}) as candidate_only_tasks
  from histogram
  group by pair_number
),

common as (
  select
    *,
    baseline_c + candidate_c as passes,
    baseline_n + candidate_n - baseline_c - candidate_c as failures,
    case when baseline_n < candidate_n then baseline_n else candidate_n end as fewer_n,
    case when baseline_n < candidate_n then candidate_n else baseline_n end as more_n
  from histogram
  where baseline_n is not null and candidate_n is not null
),

{# Each run has to have enough tasks with n >= k, as for its own value. #}
ready as (
  select
    common.pair_number,
    grid.k,
    cast(sum(case when common.baseline_n >= grid.k then common.tasks else 0 end) as {{ bigint }}) as baseline_tasks,
    cast(sum(case when common.candidate_n >= grid.k then common.tasks else 0 end) as {{ bigint }}) as candidate_tasks
  from common
  cross join grid
  group by common.pair_number, grid.k
),

{# Joined from the left, because engines that choose an order themselves may begin with all states times all states. Every
    count has its state; tasks with n below every k have no k here, and are in no sum that is asked for. #}
estimated as (
  select
    common.pair_number,
    common.tasks,
    common.fewer_n,
    common.passes > 0 and common.failures > 0 as is_informative,
    baselines.k,
    {%- for metric in ['pass_at_k', 'pass_hat_k'] %}
    baselines.{{ metric }} as baseline_{{ metric }},
    candidates.{{ metric }} as candidate_{{ metric }},
    candidates.{{ metric }} - baselines.{{ metric }} as difference_{{ metric }},
    {#- What is known of the variance within the tasks; with n < 2k it is not. #}
    coalesce(of_baseline.var_{{ metric }}, 0) + coalesce(of_candidate.var_{{ metric }}, 0) as within_{{ metric }},
    {%- endfor %}
    candidates.pass_rate - baselines.pass_rate as rate_difference
  from common
  left join {{ ref('int_passk__states') }} as baselines
    on common.baseline_n = baselines.n
    and common.baseline_c = baselines.c
    and common.baseline_n >= baselines.k
    and common.candidate_n >= baselines.k
  left join {{ ref('int_passk__states') }} as candidates
    on common.candidate_n = candidates.n and common.candidate_c = candidates.c and baselines.k = candidates.k
  left join {{ ref('int_passk__state_uncertainty') }} as of_baseline
    on baselines.n = of_baseline.n and baselines.c = of_baseline.c and baselines.k = of_baseline.k
  left join {{ ref('int_passk__state_uncertainty') }} as of_candidate
    on candidates.n = of_candidate.n and candidates.c = of_candidate.c and candidates.k = of_candidate.k
),

{# Sums of squares cancel little here: to those of the differences come 1 and 1 of the pseudo-tasks. A power that is too
   small for a number stops some engines. #}
sums as (
  select
    pair_number,
    k,
    cast(sum(tasks) as {{ bigint }}) as eligible_tasks,
    cast(sum(case when is_informative then tasks else 0 end) as {{ bigint }}) as informative_tasks,
    min(fewer_n) as least_n,
    {%- for metric in ['pass_at_k', 'pass_hat_k'] %}
    sum(tasks * baseline_{{ metric }}) / sum(tasks) as baseline_{{ metric }},
    sum(tasks * candidate_{{ metric }}) / sum(tasks) as candidate_{{ metric }},
    sum(tasks * difference_{{ metric }}) as sum_difference_{{ metric }},
    sum(tasks * case when abs(difference_{{ metric }}) < 1e-60 then 0e0 else power(difference_{{ metric }}, 2) end)
      as sum_squares_{{ metric }},
    sum(tasks * case when abs(difference_{{ metric }}) < 1e-60 then 0e0 else power(difference_{{ metric }}, 4) end)
      as sum_fourths_{{ metric }},
    sum(tasks * within_{{ metric }}) as sum_within_{{ metric }},
    {%- endfor %}
    sum(tasks * rate_difference) / sum(tasks) as rate_difference
  from estimated
  group by pair_number, k
),

{# The variances know of the passes only how many both runs have together, and not which run has the fewer attempts. #}
pooled as (
  select
    pair_number,
    fewer_n,
    more_n,
    passes,
    sum(tasks) as tasks
  from common
  where passes > 0 and failures > 0
  group by pair_number, fewer_n, more_n, passes
),

permuted as (
  select
    pooled.pair_number,
    variances.k,
    {%- for metric in ['pass_at_k', 'pass_hat_k'] %}
    cast(sum(case when variances.var_{{ metric }} > 0 then pooled.tasks else 0 end) as {{ bigint }})
      as deciding_tasks_{{ metric }},
    sum(pooled.tasks * variances.var_{{ metric }}) as sum_variance_{{ metric }},
    {%- endfor %}
    cast(sum(pooled.tasks) as {{ bigint }}) as known_tasks
  from pooled
  inner join {{ ref('int_passk__permutation_variances') }} as variances
    on pooled.fewer_n = variances.fewer_n and pooled.more_n = variances.more_n and pooled.passes = variances.passes
  where pooled.fewer_n >= variances.k
  group by pooled.pair_number, variances.k
),

summed as (
  {%- for metric in ['pass_at_k', 'pass_hat_k'] %}
  select
    sums.pair_number,
    '{{ metric }}' as metric,
    sums.k,
    sums.eligible_tasks,
    sums.informative_tasks,
    sums.least_n,
    coalesce(permuted.deciding_tasks_{{ metric }}, 0) as deciding_tasks,
    sums.baseline_{{ metric }} as baseline,
    sums.candidate_{{ metric }} as candidate,
    sums.sum_difference_{{ metric }} as sum_difference,
    sums.sum_squares_{{ metric }} as sum_squares,
    sums.sum_fourths_{{ metric }} as sum_fourths,
    sums.sum_within_{{ metric }} as sum_within,
    sums.rate_difference,
    case
      when coalesce(permuted.known_tasks, 0) = sums.informative_tasks
        then coalesce(permuted.sum_variance_{{ metric }}, 0)
    end as sum_variance
  from sums
  left join permuted
    on sums.pair_number = permuted.pair_number and sums.k = permuted.k
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

metrics as (
  select 'pass_at_k' as metric
  union all
  select 'pass_hat_k' as metric
),

joined as (
  select
    pairs.*,
    metrics.metric,
    grid.k,
    coalesce(totals.common_tasks, 0) as common_tasks,
    coalesce(totals.baseline_only_tasks, 0) as baseline_only_tasks,
    coalesce(totals.candidate_only_tasks, 0) as candidate_only_tasks,
    coalesce(summed.eligible_tasks, 0) as eligible_tasks,
    {%- for side in ['baseline', 'candidate'] %}
    ready.{{ side }}_tasks,
    {{ passk._has_enough_tasks('ready.' ~ side ~ '_tasks', 'totals.common_tasks') }} as is_enough_of_{{ side }},
    {%- endfor %}
    coalesce(summed.informative_tasks, 0) as informative_tasks,
    coalesce(summed.deciding_tasks, 0) as deciding_tasks,
    summed.least_n,
    summed.baseline,
    summed.candidate,
    summed.sum_difference,
    summed.sum_squares,
    summed.sum_fourths,
    summed.sum_within,
    summed.rate_difference,
    summed.sum_variance
  from pairs
  cross join metrics
  cross join grid
  left join totals
    on pairs.pair_number = totals.pair_number
  left join ready
    on pairs.pair_number = ready.pair_number and grid.k = ready.k
  left join summed
    on pairs.pair_number = summed.pair_number and metrics.metric = summed.metric and grid.k = summed.k
),

checked as (
  select
    *,
    is_enough_of_baseline and is_enough_of_candidate and eligible_tasks > 0 as has_enough_tasks,
    is_enough_of_baseline and is_enough_of_candidate and eligible_tasks > 0 and sum_variance is not null as is_answered
  from joined
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
    case
      when not has_baseline and not has_candidate then 'the suite has no attempt of either run'
      when not has_baseline then 'the suite has no attempt of the baseline'
      when not has_candidate then 'the suite has no attempt of the candidate'
      when common_tasks = 0 then 'no task is in both runs'
      when is_answered then null
      when has_enough_tasks then 'n > {{ passk._most_numbered() }} in some task'
      {%- for side, other in [('baseline', 'candidate'), ('candidate', 'baseline')] %}
      when is_enough_of_{{ other }} and not is_enough_of_{{ side }}
        then {{ passk._short_tasks_reason(side ~ '_tasks', 'common_tasks', ' of both runs, in the ' ~ side) }}
      {%- endfor %}
      else {{ passk._short_tasks_reason('eligible_tasks', 'common_tasks', ' of both runs') }}
    end as null_reason,
    loaded_at,
    log_version
  from checked
),

spread as (
  select
    *,
    {#- The variance if both runs were the same is too small where a few tasks changed far; that within the runs is not. #}
    {{ critical }} * sqrt(
      case when sum_within > sum_variance then sum_within else sum_variance end
      + {{ passk._floor_of_difference('k', 'least_n') }}
    ) / eligible as suite_reach,
    2 * {{ passk.normal_tail('abs(z)') }} as two_tails,
    sum_difference / (eligible + 2) as centre,
    case
      when eligible_tasks >= 2
        then {{ passk.student_quantile('eligible_tasks + 1') }} * {{ padded_error }}
    end as reach
  from answered
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
  least_n,
  {#- How many tasks differ, as if all did alike, is (sum of d^2)^2 / sum of d^4. #}
  coalesce(sum_squares * sum_squares < 2 * sum_fourths * (1 - 1e-9), false) as is_outweighed,
  baseline,
  candidate,
  difference,
  rate_difference,
  z,
  {{ passk._p_value('two_tails') }} as p,
  {%- for limits, middle, width in [
    ('difference', 'centre', 'reach'), ('difference_suite', 'difference', 'suite_reach')
  ] %}
  {{ passk._clipped(middle ~ ' - ' ~ width, -1, 1) }} as {{ limits }}_lower,
  {{ passk._clipped(middle ~ ' + ' ~ width, -1, 1) }} as {{ limits }}_upper,
  {%- endfor %}
  null_reason,
  loaded_at,
  log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from spread
