{%- set keys = passk._pair_keys() %}
{%- set bigint = dbt.type_bigint() %}

with changed_pairs as (
  {{ passk.changed_pairs(ref('int_passk__pair_states'), 'upstream.baseline_n is null and upstream.candidate_n is null') }}
),

pairs as (
  select
    *,
    row_number() over (order by {{ keys | join(', ') }}) as pair_number
  from changed_pairs
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

grid as (
  {{ passk._ks_rows(passk._setting('passk_ks')) }}
),

{# Each run must have enough tasks with n >= k, as for its own value. A pair has a row without counts, so it is here. #}
sizes as (
  select
    bin.pair_number,
    grid.k,
    cast(sum(case when bin.baseline_n is not null and bin.candidate_n is not null then bin.tasks else 0 end) as {{ bigint }})
      as common_tasks,
    cast(sum(case when bin.candidate_n is null then bin.tasks else 0 end) as {{ bigint }})
      as baseline_only_tasks,
    cast(sum(case when bin.baseline_n is null then bin.tasks else 0 end) as {{ bigint }})
      as candidate_only_tasks,
    cast(sum(case when bin.baseline_n >= grid.k and bin.candidate_n is not null then bin.tasks else 0 end) as {{ bigint }})
      as baseline_tasks,
    cast(sum(case when bin.candidate_n >= grid.k and bin.baseline_n is not null then bin.tasks else 0 end) as {{ bigint }})
      as candidate_tasks
  from histogram as bin
  cross join grid
  group by bin.pair_number, grid.k
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

{# Joined from the left, because engines that choose an order themselves may begin with all states times all states.
   Every count has its state; tasks with n below every k have no k here and are in no sum. #}
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
    {#- The variance within the tasks, where it is known; with n < 2k it is not. #}
    coalesce(of_baseline.var_{{ metric }}, 0) + coalesce(of_candidate.var_{{ metric }}, 0) as within_{{ metric }},
    {%- endfor %}
    candidates.pass_rate - baselines.pass_rate as rate_difference
  from common
  left join {{ ref('int_passk__estimates_by_count') }} as baselines
    on common.baseline_n = baselines.n
    and common.baseline_c = baselines.c
    and common.baseline_n >= baselines.k
    and common.candidate_n >= baselines.k
  left join {{ ref('int_passk__estimates_by_count') }} as candidates
    on common.candidate_n = candidates.n and common.candidate_c = candidates.c and baselines.k = candidates.k
  left join {{ ref('int_passk__uncertainty_by_count') }} as of_baseline
    on baselines.n = of_baseline.n and baselines.c = of_baseline.c and baselines.k = of_baseline.k
  left join {{ ref('int_passk__uncertainty_by_count') }} as of_candidate
    on candidates.n = of_candidate.n and candidates.c = of_candidate.c and candidates.k = of_candidate.k
),

{# Sums of squares lose few digits here, because the pseudo-tasks add 1 and 1 to them. A power that underflows is an
   error on some engines. #}
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
    {%- set square = 'difference_' ~ metric ~ ' * difference_' ~ metric %}
    sum(tasks * case when abs(difference_{{ metric }}) < 1e-60 then 0e0 else {{ square }} end) as sum_squares_{{ metric }},
    sum(tasks * case when abs(difference_{{ metric }}) < 1e-60 then 0e0 else {{ square }} * {{ square }} end)
      as sum_fourths_{{ metric }},
    sum(tasks * within_{{ metric }}) as sum_within_{{ metric }},
    {%- endfor %}
    sum(tasks * rate_difference) / sum(tasks) as rate_difference
  from estimated
  group by pair_number, k
),

{# The variances depend only on the passes of both runs together, and not on which run has fewer attempts. #}
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
    {%- for metric in ['pass_at_k', 'pass_hat_k'] %}
    cast(sum(case when variances.var_{{ metric }} > 0 then pooled.tasks else 0 end) as {{ bigint }})
      as deciding_tasks_{{ metric }},
    sum(pooled.tasks * variances.var_{{ metric }}) as sum_variance_{{ metric }},
    {%- endfor %}
    variances.k
  from pooled
  inner join {{ ref('int_passk__permutation_variances') }} as variances
    on pooled.fewer_n = variances.fewer_n and pooled.more_n = variances.more_n and pooled.passes = variances.passes
  where pooled.fewer_n >= variances.k
  group by pooled.pair_number, variances.k
),

summed as (
  {%- for metric in ['pass_at_k', 'pass_hat_k'] %}
  select
    sizes.*,
    '{{ metric }}' as metric,
    coalesce(sums.eligible_tasks, 0) as eligible_tasks,
    coalesce(sums.informative_tasks, 0) as informative_tasks,
    coalesce(permuted.deciding_tasks_{{ metric }}, 0) as deciding_tasks,
    sums.least_n,
    sums.baseline_{{ metric }} as baseline,
    sums.candidate_{{ metric }} as candidate,
    sums.rate_difference,
    sums.sum_difference_{{ metric }} as sum_difference,
    sums.sum_squares_{{ metric }} as sum_squares,
    sums.sum_fourths_{{ metric }} as sum_fourths,
    sums.sum_within_{{ metric }} as sum_within,
    coalesce(permuted.sum_variance_{{ metric }}, 0) as sum_variance
  from sizes
  left join sums
    on sizes.pair_number = sums.pair_number and sizes.k = sums.k
  left join permuted
    on sizes.pair_number = permuted.pair_number and sizes.k = permuted.k
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
)

select
  {% for key in keys %}pairs.{{ key }}, {% endfor %}
  summed.metric,
  summed.k,
  summed.common_tasks,
  summed.baseline_only_tasks,
  summed.candidate_only_tasks,
  summed.baseline_tasks,
  summed.candidate_tasks,
  summed.eligible_tasks,
  summed.informative_tasks,
  summed.deciding_tasks,
  summed.least_n,
  summed.baseline,
  summed.candidate,
  summed.rate_difference,
  {%- for total in ['sum_difference', 'sum_squares', 'sum_fourths', 'sum_within', 'sum_variance'] %}
  summed.{{ total }},
  {%- endfor %}
  pairs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from pairs
inner join summed
  on pairs.pair_number = summed.pair_number
