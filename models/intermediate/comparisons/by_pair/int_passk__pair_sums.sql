{%- set keys = passk._pair_keys() %}
{%- set bigint = dbt.type_bigint() %}

with changed_pairs as (
  {{ passk.changed_pairs(ref('int_passk__pair_states'), 'made.baseline_n is null and made.candidate_n is null') }}
),

pairs as (
  select
    *,
    row_number() over (order by suite, baseline_run_id, candidate_run_id, pair_source) as pair_number
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

{# Each run has to have enough tasks with n >= k, as for its own value. Every pair has a row here, because it has one without counts. #}
sizes as (
  select
    histogram.pair_number,
    grid.k,
    {%- for name, condition in [
      ('common_tasks', 'histogram.baseline_n is not null and histogram.candidate_n is not null'),
      ('baseline_only_tasks', 'histogram.candidate_n is null'),
      ('candidate_only_tasks', 'histogram.baseline_n is null'),
      ('baseline_tasks', 'histogram.baseline_n >= grid.k and histogram.candidate_n is not null'),
      ('candidate_tasks', 'histogram.candidate_n >= grid.k and histogram.baseline_n is not null'),
    ] %}
    cast(sum(case when {{ condition }} then histogram.tasks else 0 end) as {{ bigint }}) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
  from histogram
  cross join ({{ passk._ks_rows(passk._setting('passk_ks')) }}) as grid
  group by histogram.pair_number, grid.k
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
)

select
  {% for key in keys %}pairs.{{ key }}, {% endfor %}
  metrics.metric,
  sizes.k,
  sizes.common_tasks,
  sizes.baseline_only_tasks,
  sizes.candidate_only_tasks,
  sizes.baseline_tasks,
  sizes.candidate_tasks,
  coalesce(summed.eligible_tasks, 0) as eligible_tasks,
  coalesce(summed.informative_tasks, 0) as informative_tasks,
  coalesce(summed.deciding_tasks, 0) as deciding_tasks,
  summed.least_n,
  summed.baseline,
  summed.candidate,
  summed.rate_difference,
  summed.sum_difference,
  summed.sum_squares,
  summed.sum_fourths,
  summed.sum_within,
  summed.sum_variance,
  pairs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from pairs
inner join sizes
  on pairs.pair_number = sizes.pair_number
cross join (select 'pass_at_k' as metric union all select 'pass_hat_k' as metric) as metrics
left join summed
  on pairs.pair_number = summed.pair_number and metrics.metric = summed.metric and sizes.k = summed.k
