{%- set keys = ['run_id', 'suite', 'slice_name', 'slice_value'] %}
{%- set bigint = dbt.type_bigint() %}
{#- The inputs of the intervals in passk_suite_metrics. #}
{%- set moments = ['units', 'within_pass_at_k', 'within_pass_hat_k', 'pass_at_k_bayes', 'pass_hat_k_bayes'] %}
{%- set moments = moments + ['var_sum_pass_at_k_bayes', 'var_sum_pass_hat_k_bayes'] %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__tasks_by_count')) }}
),

runs as (
  select
    runs.run_id,
    runs.suite,
    runs.agent,
    runs.agent_version,
    runs.model,
    runs.loaded_at,
    changed_runs.log_version
  from {{ ref('int_passk__runs') }} as runs
  inner join changed_runs
    on runs.run_id = changed_runs.run_id and runs.suite = changed_runs.suite
),

{# The cost depends on the distinct (n, c) of a suite, not on its tasks. #}
weighed as (
  select
    histogram.*,
    states.k,
    states.pass_at_k,
    states.pass_hat_k,
    states.pass_at_k_plugin,
    states.pass_hat_k_plugin,
    states.pass_rate,
    uncertainty.var_pass_at_k,
    uncertainty.var_pass_hat_k,
    uncertainty.pass_at_k_bayes,
    uncertainty.pass_hat_k_bayes,
    uncertainty.var_pass_at_k_bayes,
    uncertainty.var_pass_hat_k_bayes,
    case when histogram.n >= states.k then histogram.tasks else 0 end as eligible
  from {{ ref('int_passk__tasks_by_count') }} as histogram
  inner join changed_runs
    on histogram.run_id = changed_runs.run_id and histogram.suite = changed_runs.suite
  inner join {{ ref('int_passk__estimates_by_count') }} as states
    on histogram.n = states.n and histogram.c = states.c
  left join {{ ref('int_passk__uncertainty_by_count') }} as uncertainty
    on states.n = uncertainty.n and states.c = uncertainty.c and states.k = uncertainty.k
),

{# The mean beside each row: the variance is summed around it, because a difference of sums of squares loses digits. #}
means as (
  select
    {{ keys | join(', ') }},
    k,
    sum(eligible * pass_rate) / nullif(sum(eligible), 0) as mean_pass_rate,
    sum(eligible * pass_at_k) / nullif(sum(eligible), 0) as mean_pass_at_k,
    sum(eligible * pass_hat_k) / nullif(sum(eligible), 0) as mean_pass_hat_k
  from weighed
  group by {{ keys | join(', ') }}, k
),

centered as (
  select
    weighed.*,
    means.mean_pass_rate,
    case when weighed.eligible > 0 then weighed.pass_rate - means.mean_pass_rate end as off_pass_rate,
    case when weighed.eligible > 0 then weighed.pass_at_k - means.mean_pass_at_k end as off_pass_at_k,
    case when weighed.eligible > 0 then weighed.pass_hat_k - means.mean_pass_hat_k end as off_pass_hat_k
  from weighed
  inner join means
    on {{ passk._same_keys(keys + ['k'], 'weighed', 'means') }}
),

averaged as (
  select
    {{ keys | join(', ') }},
    k,
    cast(sum(eligible) as {{ bigint }}) as eligible_tasks,
    cast(sum(tasks) as {{ bigint }}) as total_tasks,
    cast(min(case when eligible > 0 then n end) as {{ bigint }}) as least_n,
    cast(sum(attempts) as {{ bigint }}) as attempts,
    cast(sum(tasks * n) as {{ bigint }}) as n,
    cast(sum(tasks * c) as {{ bigint }}) as c,
    cast(sum(excluded) as {{ bigint }}) as excluded,
    {%- for metric in ['pass_at_k', 'pass_hat_k', 'pass_at_k_plugin', 'pass_hat_k_plugin'] %}
    sum(case when eligible > 0 then eligible * {{ metric }} end) / nullif(sum(eligible), 0) as {{ metric }},
    {%- endfor %}
    max(mean_pass_rate) as pass_rate,
    {%- for variance, one, other in passk._suite_variances() %}
    sum(eligible * off_{{ one }} * off_{{ other }}) / nullif(sum(eligible) - 1, 0) as {{ variance }},
    {%- endfor %}
    {%- for metric in ['pass_at_k', 'pass_hat_k'] %}
    case
      when sum(case when eligible > 0 and var_{{ metric }} is null then 1 else 0 end) = 0
        then sum(case when eligible > 0 then eligible * var_{{ metric }} end)
    end as within_{{ metric }},
    sum(case when eligible > 0 then eligible * {{ metric }}_bayes end) / nullif(sum(eligible), 0) as {{ metric }}_bayes,
    sum(case when eligible > 0 then eligible * var_{{ metric }}_bayes end) as var_sum_{{ metric }}_bayes,
    {%- endfor %}
    cast(sum(case when c > 0 and c < n then eligible else 0 end) as {{ bigint }}) as informative_tasks
  from centered
  group by {{ keys | join(', ') }}, k
),

joined as (
  select
    averaged.*,
    {%- for variance, _, _ in passk._suite_variances() %}
    case when families.families is null then averaged.{{ variance }} else families.{{ variance }} end
      as related_{{ variance }},
    {%- endfor %}
    {#- An estimate of these tasks, whether they are related or not. #}
    {{ passk.delta_k_unbiased(
      'averaged.pass_hat_k', 'averaged.pass_rate', 'averaged.var_pass_rate', 'averaged.eligible_tasks', 'averaged.k'
    ) }} as delta_k,
    families.families,
    coalesce(families.effective_families, {{ passk._as_double('averaged.eligible_tasks') }}) as units,
    runs.agent,
    runs.agent_version,
    runs.model,
    {{ passk._has_enough_tasks('averaged.eligible_tasks', 'averaged.total_tasks') }} as is_answered,
    {{ passk._has_enough_tasks('windows.window_tasks', 'averaged.total_tasks') }} as is_window_answered,
    windows.pass_at_k_window,
    windows.pass_hat_k_window,
    windows.pass_at_k_first_k,
    windows.pass_hat_k_first_k,
    runs.loaded_at,
    runs.log_version
  from averaged
  inner join runs
    on averaged.run_id = runs.run_id and averaged.suite = runs.suite
  {#- Empty where the var passk_cluster is not set, or passk_ordered_metrics is false. #}
  left join {{ ref('int_passk__suite_families') }} as families
    on {{ passk._same_keys(keys + ['k'], 'averaged', 'families') }}
  left join {{ ref('int_passk__suite_windows') }} as windows
    on {{ passk._same_keys(keys + ['k'], 'averaged', 'windows') }}
),

answered as (
  select
    run_id,
    suite,
    agent,
    agent_version,
    model,
    slice_name,
    slice_value,
    k,
    eligible_tasks,
    total_tasks,
    least_n,
    attempts,
    n,
    c,
    excluded,
    {%- for metric in [
      'pass_at_k', 'pass_hat_k', 'pass_at_k_plugin', 'pass_hat_k_plugin', 'pass_at_k_first_k', 'pass_hat_k_first_k',
      'pass_rate', 'informative_tasks', 'delta_k', 'families'
    ] + moments %}
    case when is_answered then {{ metric }} end as {{ metric }},
    {%- endfor %}
    {%- for variance, _, _ in passk._suite_variances() %}
    case when is_answered then {{ variance }} end as {{ variance }},
    case when is_answered then related_{{ variance }} end as related_{{ variance }},
    {%- endfor %}
    case when is_window_answered then pass_at_k_window end as pass_at_k_window,
    case when is_window_answered then pass_hat_k_window end as pass_hat_k_window,
    case when not is_answered then {{ passk._short_tasks_reason('eligible_tasks', 'total_tasks') }} end as null_reason,
    case
      when is_answered and eligible_tasks < total_tasks
        then {{ passk._short_tasks_reason('eligible_tasks', 'total_tasks') }} || ', which the limits allow any value'
    end as caveat,
    loaded_at,
    log_version
  from joined
),

pooled as (
  select
    *,
    {{ passk.pass_at_k_pooled('pass_rate', 'k') }} as pass_at_k_pooled,
    {{ passk.pass_hat_k_pooled('pass_rate', 'k') }} as pass_hat_k_pooled,
    {{ passk.delta_k('pass_hat_k_plugin', 'pass_rate', 'k') }} as delta_k_plugin,
    {{ passk.delta_k_max('pass_rate', 'k') }} as delta_k_max
  from answered
)

select
  *,
  {#- delta_k over its bound, m - m^k, with the same unbiased m^k in both: at k = 2 the intraclass correlation. #}
  case
    when k > 1 and pass_rate - pass_hat_k + delta_k > 0 then delta_k / (pass_rate - pass_hat_k + delta_k)
  end as heterogeneity,
  {{ passk.suite_reading(
    'pass_at_k', 'pass_hat_k', passk._setting('passk_capable_threshold'), passk._setting('passk_consistent_threshold')
  ) }} as reading,
  {{ passk._quoted(passk._built_with()) }} as built_with
from pooled
