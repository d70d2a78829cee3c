{{ config(materialized='passk_incremental', unique_key=['run_id', 'suite']) }}
{{ passk._depends_on_changes() }}

{%- set keys = ['run_id', 'suite', 'slice_name', 'slice_value'] %}
{%- set ordered = passk._setting('passk_ordered_metrics') %}
{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}
{#- What passk_suite_metrics makes the intervals of. #}
{%- set moments = [
  'var_pass_rate', 'var_pass_at_k', 'var_pass_hat_k', 'cov_pass_hat_k_pass_rate', 'within_pass_at_k', 'within_pass_hat_k',
  'pass_at_k_bayes', 'pass_hat_k_bayes', 'var_sum_pass_at_k_bayes', 'var_sum_pass_hat_k_bayes'
] %}

{%- set wanted = passk._wanted_runs() %}
{%- set known = 'select distinct run_id, suite, loaded_at, log_rows from ' ~ this ~ " where slice_name = 'all'" %}
{%- set plan = passk._plan(['run_id', 'suite'], wanted, known) %}

{%- if plan.is_done %}
{{ passk._nothing_new() }}
{%- else %}
{#- Most logs have none, and then they need no plan. #}
{%- set has_streaks = ordered and passk._may_have_rows(ref('int_passk__streaks')) %}

with all_counts as (
  select *
  from {{ ref('int_passk__task_counts') }}
  where attempts > 0
),

{% if plan.changed -%}
changed_runs as (
  {{ plan.changed }}
),

counts as (
  select all_counts.*
  from all_counts
  inner join changed_runs
    on all_counts.run_id = changed_runs.run_id and all_counts.suite = changed_runs.suite
),
{%- else -%}
counts as (
  select * from all_counts
),
{%- endif %}

runs as (
  select * from {{ ref('int_passk__runs') }}
),

{# From here on the cost is that of the distinct (n, c) of a suite, not of its tasks. #}
histogram as (
  select
    {{ keys | join(', ') }},
    n,
    c,
    cast(count(*) as {{ bigint }}) as tasks,
    cast(sum(attempts) as {{ bigint }}) as attempts,
    cast(sum(excluded) as {{ bigint }}) as excluded,
    cast(sum(attempts + copies) as {{ bigint }}) as log_rows
  from counts
  group by {{ keys | join(', ') }}, n, c
),

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
  from histogram
  inner join {{ ref('int_passk__states') }} as states
    on histogram.n = states.n and histogram.c = states.c
  left join {{ ref('int_passk__state_uncertainty') }} as uncertainty
    on states.n = uncertainty.n and states.c = uncertainty.c and states.k = uncertainty.k
),

{# The mean beside each row: the variance is summed around it, because sums of squares cancel. #}
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
    on weighed.k = means.k
    {%- for key in keys %}
    and weighed.{{ key }} = means.{{ key }}
    {%- endfor %}
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
    cast(sum(log_rows) as {{ bigint }}) as log_rows,
    {%- for metric in ['pass_at_k', 'pass_hat_k', 'pass_at_k_plugin', 'pass_hat_k_plugin'] %}
    sum(case when eligible > 0 then eligible * {{ metric }} end) / nullif(sum(eligible), 0) as {{ metric }},
    {%- endfor %}
    max(mean_pass_rate) as pass_rate,
    {%- for one, other in [
      ('pass_rate', 'pass_rate'), ('pass_at_k', 'pass_at_k'), ('pass_hat_k', 'pass_hat_k'), ('pass_hat_k', 'pass_rate')
    ] %}
    sum(eligible * off_{{ one }} * off_{{ other }}) / nullif(sum(eligible) - 1, 0)
      as {{ 'var_' ~ one if one == other else 'cov_' ~ one ~ '_' ~ other }},
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

{% if ordered -%}
{% if has_streaks -%}
streaks as (
  select streaks.*
  from {{ ref('int_passk__streaks') }} as streaks
  {%- if plan.changed %}
  inner join changed_runs
    on streaks.run_id = changed_runs.run_id and streaks.suite = changed_runs.suite
  {%- endif %}
),

{% endif -%}

{# Both roads to windows, as sums over their tasks. #}
window_sums as (
  {{ passk._mask_window_sums('counts', keys, passk._setting('passk_ks')) }}
  {%- if has_streaks %}
  union all
  select
    {{ keys | join(', ') }},
    k,
    cast(count(nullif(windows, 0)) as {{ bigint }}) as tasks,
    sum({{ passk.pass_at_k_window('fail_windows', 'windows') }}) as pass_at_k,
    sum({{ passk.pass_hat_k_window('pass_windows', 'windows') }}) as pass_hat_k
  from ({{ passk.window_counts('streaks', keys + ['task_id'], passk._setting('passk_ks')) }}) as windows
  group by {{ keys | join(', ') }}, k
  {%- endif %}
),

windows as (
  select
    {{ keys | join(', ') }},
    k,
    cast(sum(tasks) as {{ bigint }}) as window_tasks,
    sum(pass_at_k) / nullif(sum(tasks), 0) as pass_at_k_window,
    sum(pass_hat_k) / nullif(sum(tasks), 0) as pass_hat_k_window
  from window_sums
  group by {{ keys | join(', ') }}, k
),

ranks as (
  select
    {{ keys | join(', ') }},
    n,
    first_pass_rank,
    first_fail_rank,
    cast(count(*) as {{ bigint }}) as tasks
  from counts
  group by {{ keys | join(', ') }}, n, first_pass_rank, first_fail_rank
),

grid as (
  {{ passk._ks_rows(passk._setting('passk_ks')) }}
),

first_k as (
  select
    {% for key in keys %}ranks.{{ key }}, {% endfor %}
    grid.k,
    sum(ranks.tasks * {{ passk.pass_at_k_first_k('ranks.first_pass_rank', 'ranks.n', 'grid.k') }})
    / sum(case when ranks.n >= grid.k then ranks.tasks end) as pass_at_k_first_k,
    sum(ranks.tasks * {{ passk.pass_hat_k_first_k('ranks.first_fail_rank', 'ranks.n', 'grid.k') }})
    / sum(case when ranks.n >= grid.k then ranks.tasks end) as pass_hat_k_first_k
  from ranks
  cross join grid
  group by {% for key in keys %}ranks.{{ key }}, {% endfor %}grid.k
),
{%- endif %}

joined as (
  select
    averaged.run_id,
    averaged.suite,
    runs.agent,
    runs.agent_version,
    runs.model,
    averaged.slice_name,
    averaged.slice_value,
    averaged.k,
    averaged.eligible_tasks,
    averaged.total_tasks,
    averaged.least_n,
    averaged.attempts,
    averaged.n,
    averaged.c,
    averaged.excluded,
    averaged.log_rows,
    {{ passk._has_enough_tasks('averaged.eligible_tasks', 'averaged.total_tasks') }} as is_answered,
    averaged.pass_at_k,
    averaged.pass_hat_k,
    averaged.pass_at_k_plugin,
    averaged.pass_hat_k_plugin,
    averaged.pass_rate,
    averaged.informative_tasks,
    {%- for name in moments %}
    averaged.{{ name }},
    {%- endfor %}
    {% if ordered -%}
    {{ passk._has_enough_tasks('windows.window_tasks', 'averaged.total_tasks') }} as is_window_answered,
    windows.pass_at_k_window,
    windows.pass_hat_k_window,
    first_k.pass_at_k_first_k,
    first_k.pass_hat_k_first_k,
    {%- else -%}
    false as is_window_answered,
    cast(null as {{ double }}) as pass_at_k_window,
    cast(null as {{ double }}) as pass_hat_k_window,
    cast(null as {{ double }}) as pass_at_k_first_k,
    cast(null as {{ double }}) as pass_hat_k_first_k,
    {%- endif %}
    runs.loaded_at
  from averaged
  inner join runs
    on averaged.run_id = runs.run_id and averaged.suite = runs.suite
  {%- if ordered %}
  {%- for other in ['windows', 'first_k'] %}
  left join {{ other }}
    on averaged.run_id = {{ other }}.run_id
    and averaged.suite = {{ other }}.suite
    and averaged.slice_name = {{ other }}.slice_name
    and averaged.slice_value = {{ other }}.slice_value
    and averaged.k = {{ other }}.k
  {%- endfor %}
  {%- endif %}
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
    log_rows,
    {%- for metric in [
      'pass_at_k', 'pass_hat_k', 'pass_at_k_plugin', 'pass_hat_k_plugin', 'pass_at_k_first_k', 'pass_hat_k_first_k',
      'pass_rate', 'informative_tasks'
    ] + moments %}
    case when is_answered then {{ metric }} end as {{ metric }},
    {%- endfor %}
    case when is_window_answered then pass_at_k_window end as pass_at_k_window,
    case when is_window_answered then pass_hat_k_window end as pass_hat_k_window,
    case
      when not is_answered then {{ passk._short_tasks_reason('eligible_tasks', 'total_tasks') }}
    end as null_reason,
    case
      when is_answered and eligible_tasks < total_tasks
        then {{ passk._short_tasks_reason('eligible_tasks', 'total_tasks') }} || ', which the limits allow any score'
    end as caveat,
    loaded_at
  from joined
),

pooled as (
  select
    *,
    {{ passk.pass_at_k_pooled('pass_rate', 'k') }} as pass_at_k_pooled,
    {{ passk.pass_hat_k_pooled('pass_rate', 'k') }} as pass_hat_k_pooled,
    {{ passk.delta_k_unbiased('pass_hat_k', 'pass_rate', 'var_pass_rate', 'eligible_tasks', 'k') }} as delta_k,
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
{{ passk._replaces(plan.changed) if plan.changed }}
{%- endif %}
