{{
  config(
    materialized='passk_incremental',
    unique_key=['run_id', 'suite'],
    meta={'shaped_by': ['passk_diagnostics', 'passk_deployment_k']},
  )
}}
{{ passk._depends_on_changes() }}
-- depends_on: {{ ref('int_passk__unmasked_tasks') }}

{%- set keys = ['run_id', 'suite'] %}
{%- set run = 'run_id, suite' %}
{%- set task = 'run_id, suite, task_id' %}
{%- set ordered = passk._setting('passk_ordered_metrics') %}
{%- set k = passk._setting('passk_deployment_k') %}
{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}

{%- set wanted = passk._wanted_runs(passk._setting('passk_diagnostics')) %}
{%- set known = 'select run_id, suite, loaded_at, log_rows from ' ~ this %}
{%- set plan = passk._plan(keys, wanted, known) %}

{%- if plan.is_done %}
{{ passk._nothing_new() }}
{%- else %}
{#- Most logs have no task without masks, and then they need no plan. #}
{%- set has_slow = ordered and passk._may_have_rows(ref('int_passk__unmasked_tasks'), 'attempts > excluded') %}

with runs as (
  {{ passk._to_make(keys, wanted, plan) }}
),

counts as (
  select counts.*
  from {{ ref('int_passk__task_counts') }} as counts
  inner join runs
    on counts.run_id = runs.run_id and counts.suite = runs.suite
  where counts.slice_name = 'all' and counts.attempts > 0
),

{# What needs no order costs as much as there are distinct (n, c). #}
histogram as (
  select
    {{ run }},
    n,
    c,
    cast(count(*) as {{ bigint }}) as tasks,
    cast(sum(case when first_fail_rank > {{ k }} or first_fail_rank is null then 1 else 0 end) as {{ bigint }})
      as first_k_passes,
    cast(sum(case when c = 1 and first_pass_rank = n then 1 else 0 end) as {{ bigint }}) as ended_by_pass
  from counts
  group by {{ run }}, n, c
),

{# Of k attempts in a row. #}
weighed as {{ passk._made_once() }}(
  select
    histogram.*,
    cast(histogram.c as {{ double }}) / nullif(histogram.n, 0) as pass_rate,
    states.pass_hat_k,
    states.lost_reliability,
    states.pass_hat_k * states.lost_reliability as first_k_variance,
    {{ passk._window_variance('histogram.n', 'histogram.c', k, 'states.pass_hat_k') }} as window_variance
  from histogram
  inner join {{ ref('int_passk__states') }} as states
    on histogram.n = states.n and histogram.c = states.c and states.k = {{ k }}
),

totals as {{ passk._made_once() }}(
  select
    {{ run }},
    cast(sum(tasks) as {{ bigint }}) as tasks,
    cast(sum(case when n > 0 then tasks else 0 end) as {{ bigint }}) as counted_tasks,
    cast(sum(case when c > 0 and c < n then tasks else 0 end) as {{ bigint }}) as informative_tasks,
    min(case when n > 0 then n end) as min_n,
    max(n) as max_n,
    cast(sum(case when n > 2 then tasks else 0 end) as {{ bigint }}) as repeated_tasks,
    cast(sum(case when n > 2 and c = n then tasks else 0 end) as {{ bigint }}) as passed_tasks,
    cast(sum(case when n > 2 and c = 0 then tasks else 0 end) as {{ bigint }}) as failed_tasks,
    cast(sum(case when n >= {{ k }} then tasks else 0 end) as {{ bigint }}) as eligible_tasks,
    cast(sum(case when n >= {{ k }} and c > 0 and c < n then tasks else 0 end) as {{ bigint }})
      as eligible_informative_tasks,
    sum(case when n >= {{ k }} then tasks * pass_rate end) / nullif(sum(case when n >= {{ k }} then tasks end), 0)
      as mean_pass_rate,
    sum(tasks * pass_hat_k) / nullif(sum(case when n >= {{ k }} then tasks end), 0) as pass_hat_k,
    cast(sum(tasks * c) as {{ double }}) / nullif(sum(tasks * n), 0) as attempt_pass_rate,
    sum(tasks * lost_reliability) as lost_reliability,
    max(case when tasks > 0 then lost_reliability end) as most_lost,
    cast(sum(case when first_k_variance > 0 then tasks else 0 end) as {{ bigint }}) as first_k_tasks,
    sum(case when first_k_variance > 0 then first_k_passes - tasks * pass_hat_k end) as first_k_excess,
    sum(tasks * first_k_variance) as first_k_variance
  from weighed
  group by {{ run }}
),

{# Tasks with fewer attempts than the longest have; a run that retries until it passes ends them in their only pass. #}
short_tasks as (
  select
    histogram.run_id,
    histogram.suite,
    cast(sum(histogram.tasks) as {{ bigint }}) as ragged_tasks,
    cast(sum(histogram.ended_by_pass) as {{ bigint }}) as ended_by_pass,
    {#- The most that chance gives: 1/n (1 - 1/n)^(n - 1), of one attempt the share that passes. #}
    {%- set chance -%}
    case
      when histogram.n = 1 then totals.attempt_pass_rate
      else power(1 - {{ passk._as_double(1) }} / histogram.n, histogram.n - 1) / histogram.n
    end
    {%- endset %}
    sum(histogram.tasks * {{ chance }}) as ended_by_pass_expected,
    sum(histogram.tasks * {{ chance }} * (1 - {{ chance }})) as ended_by_pass_variance
  from histogram
  inner join totals
    on histogram.run_id = totals.run_id and histogram.suite = totals.suite
  where histogram.n > 0 and histogram.n < totals.max_n
  group by histogram.run_id, histogram.suite
),

{# The variances are summed around the means: sums of squares cancel. #}
spreads as (
  select
    weighed.run_id,
    weighed.suite,
    sum(
      weighed.tasks * (weighed.pass_rate - totals.mean_pass_rate) * (weighed.pass_rate - totals.mean_pass_rate)
    ) / nullif(max(totals.eligible_tasks) - 1, 0) as var_pass_rate,
    sum(weighed.tasks * {{ passk._alike_variance('weighed.n', 'totals.mean_pass_rate', k) }}) as sum_alike_variance
  from weighed
  inner join totals
    on weighed.run_id = totals.run_id and weighed.suite = totals.suite
  where weighed.n >= {{ k }}
  group by weighed.run_id, weighed.suite
),

bounds as (
  select
    totals.run_id,
    totals.suite,
    {{ passk.delta_k_unbiased(
      'totals.pass_hat_k', 'totals.mean_pass_rate', 'spreads.var_pass_rate', 'totals.eligible_tasks', k
    ) }} as delta_k,
    sqrt(spreads.sum_alike_variance) / totals.eligible_tasks as alike_error
  from totals
  inner join spreads
    on totals.run_id = spreads.run_id and totals.suite = spreads.suite
),

{# How few tasks make more than half of what is lost: the worst first, equal ones at once. #}
losses as (
  select
    {{ run }},
    lost_reliability,
    cast(sum(tasks) as {{ bigint }}) as tasks
  from weighed
  where lost_reliability > 0
  group by {{ run }}, lost_reliability
),

ranked_losses as (
  select
    *,
    sum(tasks * lost_reliability) over (partition by {{ run }} order by lost_reliability desc rows unbounded preceding)
    - tasks * lost_reliability as lost_before,
    sum(tasks) over (partition by {{ run }} order by lost_reliability desc rows unbounded preceding) - tasks as tasks_before
  from losses
),

dominant as (
  select
    ranked_losses.run_id,
    ranked_losses.suite,
    {#- A sum that is half but for its rounding is half. #}
    min(cast(
      ranked_losses.tasks_before + 1
      + floor(
        (totals.lost_reliability / 2 - ranked_losses.lost_before) / ranked_losses.lost_reliability + 1e-9
      ) as {{ bigint }}
    )) as dominant_tasks
  from ranked_losses
  inner join totals
    on ranked_losses.run_id = totals.run_id and ranked_losses.suite = totals.suite
  where
    ranked_losses.lost_before + ranked_losses.tasks * ranked_losses.lost_reliability
    > totals.lost_reliability / 2 + 1e-9 * ranked_losses.lost_reliability
    and ranked_losses.lost_before <= totals.lost_reliability / 2 + 1e-9 * ranked_losses.lost_reliability
  group by ranked_losses.run_id, ranked_losses.suite
),

worst as (
  select
    counts.run_id,
    counts.suite,
    min({{ passk._by_bytes('counts.task_id') }}) as worst_task_id,
    cast(count(*) as {{ bigint }}) as worst_tasks
  from counts
  inner join totals
    on counts.run_id = totals.run_id and counts.suite = totals.suite
  inner join weighed
    on counts.run_id = weighed.run_id
    and counts.suite = weighed.suite
    and counts.n = weighed.n
    and counts.c = weighed.c
  where weighed.lost_reliability = totals.most_lost and totals.most_lost > 0
  group by counts.run_id, counts.suite
),

{% if ordered -%}
informative as (
  select
    {{ task }},
    n,
    c,
    pass_mask,
    fail_mask
  from counts
  where c > 0 and c < n
),

masked_orders as (
  {{ passk._mask_orders('informative', ['run_id', 'suite', 'n', 'c']) }}
),

{% if has_slow -%}
{# By the tasks without masks first: engines know that these are few. #}
slow_attempts as (
  select
    attempts.run_id,
    attempts.suite,
    attempts.task_id,
    attempts.attempt,
    attempts.outcome,
    informative.n,
    informative.c,
    row_number() over (
      partition by attempts.run_id, attempts.suite, attempts.task_id
      order by attempts.attempt
    ) as place,
    lag(attempts.outcome) over (
      partition by attempts.run_id, attempts.suite, attempts.task_id
      order by attempts.attempt
    ) as previous
  from {{ ref('int_passk__attempts') }} as attempts
  inner join {{ ref('int_passk__unmasked_tasks') }} as unmasked
    on attempts.run_id = unmasked.run_id
    and attempts.suite = unmasked.suite
    and attempts.task_id = unmasked.task_id
    and unmasked.slice_name = 'all'
  inner join informative
    on attempts.run_id = informative.run_id
    and attempts.suite = informative.suite
    and attempts.task_id = informative.task_id
  where
    attempts.outcome <> 'excluded'
    and informative.pass_mask is null
    and {{ passk._is_among(plan, 'attempts.run_id') }}
),

{# Copies that were settled leave a task that may have masks after all. #}
slow_orders as (
  select
    {{ task }},
    n,
    c,
    cast(sum(case when outcome <> previous then 1 else 0 end) as {{ bigint }}) as switches,
    cast(sum(case when outcome = 'passed' then place else 0 end) as {{ bigint }}) as rank_sum,
    {{ passk._counted_attempts() }} as counted_attempts,
    {{ passk._mask("outcome = 'passed'") }} as pass_mask
  from slow_attempts
  group by {{ task }}, n, c
),

{% endif -%}

orders as (
  select {{ run }}, n, c, switches, rank_sum from masked_orders
  {%- if has_slow %}
  union all
  select {{ run }}, n, c, switches, rank_sum from slow_orders
  {%- endif %}
),

order_states as (
  select
    {{ run }},
    n,
    c,
    cast(count(*) as {{ bigint }}) as tasks,
    cast(sum(switches) as {{ double }}) as switches,
    cast(sum(rank_sum) as {{ double }}) as rank_sum
  from orders
  group by {{ run }}, n, c
),

moments as (
  select
    *,
    {{ passk.switches_expected('n', 'c') }} as switches_expected,
    {{ passk.switches_variance('n', 'c') }} as switches_variance,
    {{ passk.rank_sum_expected('n', 'c') }} as rank_sum_expected,
    {{ passk.rank_sum_variance('n', 'c') }} as rank_sum_variance
  from order_states
),

{# Two attempts with one pass switch in either order. #}
order_sums as (
  select
    {{ run }},
    cast(sum(case when switches_variance > 0 then tasks else 0 end) as {{ bigint }}) as runs_tasks,
    sum(case when switches_variance > 0 then switches end) as switches,
    sum(case when switches_variance > 0 then tasks * switches_expected end) as switches_expected,
    sum(tasks * switches_variance) as switches_variance,
    cast(sum(tasks) as {{ bigint }}) as trend_tasks,
    sum(rank_sum - tasks * rank_sum_expected) as rank_excess,
    sum(tasks * c) as passes,
    sum(tasks * rank_sum_variance) as rank_variance
  from moments
  group by {{ run }}
),

{# Passes over the whole suite: the tasks whose counted attempts have the same numbers. #}
numbered as (
  {% if passk._mask_bits() or not has_slow -%}
  select
    {{ task }},
    n,
    c,
    {{ passk._mask_either('pass_mask', 'fail_mask') }} as counted_attempts,
    pass_mask
  from informative
  where pass_mask is not null
  {%- endif %}
  {%- if passk._mask_bits() and has_slow %}
  union all
  {%- endif %}
  {%- if has_slow %}
  select {{ task }}, n, c, counted_attempts, pass_mask
  from slow_orders
  where {{ passk._are_counted('counted_attempts', 'n') }}
  {%- endif %}
),

number_sets as (
  select
    {{ run }},
    counted_attempts,
    n,
    cast(count(*) as {{ bigint }}) as tasks,
    cast(sum(c) as {{ bigint }}) as passes,
    cast(sum(c * c) as {{ bigint }}) as task_square_sum
  from numbered
  group by {{ run }}, counted_attempts, n
),

{# Only the sets that are in as many tasks as any have to be sorted. #}
most_tasks as (
  select
    {{ run }},
    max(tasks) as tasks
  from number_sets
  group by {{ run }}
),

ranked_sets as (
  select
    number_sets.*,
    row_number() over (
      partition by number_sets.run_id, number_sets.suite
      order by number_sets.n desc, number_sets.counted_attempts asc
    ) as place
  from number_sets
  inner join most_tasks
    on number_sets.run_id = most_tasks.run_id
    and number_sets.suite = most_tasks.suite
    and number_sets.tasks = most_tasks.tasks
),

most_common_set as (
  select
    numbered.run_id,
    numbered.suite,
    numbered.task_id,
    numbered.pass_mask
  from numbered
  inner join ranked_sets
    on numbered.run_id = ranked_sets.run_id
    and numbered.suite = ranked_sets.suite
    and numbered.counted_attempts = ranked_sets.counted_attempts
  where ranked_sets.place = 1
),

square_sums as (
  {{ passk._square_sums('most_common_set', 'slow_attempts' if has_slow) }}
),

suite_passes as (
  select
    ranked_sets.run_id,
    ranked_sets.suite,
    ranked_sets.tasks,
    ranked_sets.n,
    {{ passk.cochran_q(
      'ranked_sets.n', 'square_sums.square_sum', 'ranked_sets.passes', 'ranked_sets.task_square_sum'
    ) }} as cochran_q
  from ranked_sets
  inner join square_sums
    on ranked_sets.run_id = square_sums.run_id and ranked_sets.suite = square_sums.suite
  where ranked_sets.place = 1
),

{% if has_slow -%}
slow_streaks as (
  select streaks.*
  from {{ ref('int_passk__streaks') }} as streaks
  inner join runs
    on streaks.run_id = runs.run_id and streaks.suite = runs.suite
  where streaks.slice_name = 'all'
),

{% endif -%}

{# Windows of k, where no hole among the attempts breaks any: only then is their variance that of the formula. #}
informative_windows as (
  {{ passk._mask_windows('informative', ['run_id', 'suite', 'task_id', 'n', 'c'], [k]) }}
  {%- if has_slow %}
  union all
  select
    informative.run_id,
    informative.suite,
    informative.task_id,
    informative.n,
    informative.c,
    windows.k,
    windows.windows,
    windows.pass_windows,
    windows.fail_windows
  from ({{ passk.window_counts('slow_streaks', ['run_id', 'suite', 'task_id'], [k]) }}) as windows
  inner join informative
    on windows.run_id = informative.run_id
    and windows.suite = informative.suite
    and windows.task_id = informative.task_id
  {%- endif %}
),

window_states as (
  select
    {{ run }},
    n,
    c,
    cast(count(*) as {{ double }}) as tasks,
    cast(sum(pass_windows) as {{ double }}) as pass_windows
  from informative_windows
  where windows = n - {{ k }} + 1
  group by {{ run }}, n, c
),

window_sums as (
  select
    window_states.run_id,
    window_states.suite,
    cast(sum(window_states.tasks) as {{ bigint }}) as window_tasks,
    sum(
      window_states.pass_windows / (window_states.n - {{ k - 1 }}) - window_states.tasks * weighed.pass_hat_k
    ) as window_excess,
    sum(window_states.tasks * weighed.window_variance) as window_variance
  from window_states
  inner join weighed
    on window_states.run_id = weighed.run_id
    and window_states.suite = weighed.suite
    and window_states.n = weighed.n
    and window_states.c = weighed.c
  where weighed.window_variance > 0
  group by window_states.run_id, window_states.suite
),
{%- endif %}

joined as (
  select
    totals.*,
    short_tasks.ragged_tasks,
    short_tasks.ended_by_pass,
    short_tasks.ended_by_pass_expected,
    short_tasks.ended_by_pass_variance,
    dominant.dominant_tasks,
    worst.worst_task_id,
    worst.worst_tasks,
    bounds.delta_k,
    bounds.alike_error,
    {% if ordered -%}
    order_sums.runs_tasks,
    order_sums.switches,
    order_sums.switches_expected,
    order_sums.switches_variance,
    order_sums.trend_tasks,
    order_sums.rank_excess,
    order_sums.passes,
    order_sums.rank_variance,
    suite_passes.tasks as suite_pass_tasks,
    suite_passes.n as suite_passes,
    suite_passes.cochran_q,
    window_sums.window_tasks,
    window_sums.window_excess,
    window_sums.window_variance
    {%- else -%}
    {%- for name, type in [
      ('runs_tasks', bigint), ('switches', double), ('switches_expected', double), ('switches_variance', double),
      ('trend_tasks', bigint), ('rank_excess', double), ('passes', bigint), ('rank_variance', double),
      ('suite_pass_tasks', bigint), ('suite_passes', bigint), ('cochran_q', double),
      ('window_tasks', bigint), ('window_excess', double), ('window_variance', double)
    ] %}
    cast(null as {{ type }}) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
    {%- endif %}
  from totals
  left join short_tasks
    on totals.run_id = short_tasks.run_id and totals.suite = short_tasks.suite
  left join dominant
    on totals.run_id = dominant.run_id and totals.suite = dominant.suite
  left join worst
    on totals.run_id = worst.run_id and totals.suite = worst.suite
  left join bounds
    on totals.run_id = bounds.run_id and totals.suite = bounds.suite
  {%- if ordered %}
  left join order_sums
    on totals.run_id = order_sums.run_id and totals.suite = order_sums.suite
  left join suite_passes
    on totals.run_id = suite_passes.run_id and totals.suite = suite_passes.suite
  left join window_sums
    on totals.run_id = window_sums.run_id and totals.suite = window_sums.suite
  {%- endif %}
),

scored as (
  select
    joined.*,
    (joined.switches - joined.switches_expected) / sqrt(nullif(joined.switches_variance, 0)) as z_runs,
    joined.rank_excess / sqrt(nullif(joined.rank_variance, 0)) as z_trend,
    joined.window_excess / sqrt(nullif(joined.window_variance, 0)) as z_window,
    {{ passk._chi_square_deviate(
      'joined.cochran_q', passk._as_double('nullif(joined.suite_passes - 1, 0)')
    ) }} as z_suite_pass,
    {% if ordered -%}
    joined.first_k_excess / sqrt(nullif(joined.first_k_variance, 0)) as z_first_k
    {%- else -%}
    cast(null as {{ double }}) as z_first_k
    {%- endif %}
  from joined
)

select
  scored.run_id,
  scored.suite,
  cast({{ k }} as {{ bigint }}) as k,
  {{ 'true' if ordered else 'false' }} as is_ordered,
  scored.tasks,
  scored.counted_tasks,
  scored.informative_tasks,
  scored.min_n,
  scored.max_n,
  coalesce(scored.runs_tasks, 0) as runs_tasks,
  scored.switches,
  scored.switches_expected,
  scored.z_runs,
  coalesce(scored.trend_tasks, 0) as trend_tasks,
  scored.rank_excess / nullif(scored.passes, 0) as rank_shift,
  scored.z_trend,
  coalesce(scored.suite_pass_tasks, 0) as suite_pass_tasks,
  scored.suite_passes,
  scored.cochran_q,
  scored.z_suite_pass,
  coalesce(scored.window_tasks, 0) as window_tasks,
  scored.window_excess / nullif(scored.window_tasks, 0) as window_gap,
  scored.z_window,
  {% if ordered -%}
  scored.first_k_tasks,
  scored.first_k_excess / nullif(scored.first_k_tasks, 0) as first_k_gap,
  {%- else -%}
  cast(0 as {{ bigint }}) as first_k_tasks,
  cast(null as {{ double }}) as first_k_gap,
  {%- endif %}
  scored.z_first_k,
  coalesce(scored.ragged_tasks, 0) as ragged_tasks,
  coalesce(scored.ended_by_pass, 0) as ended_by_pass,
  coalesce(scored.ended_by_pass_expected, 0) as ended_by_pass_expected,
  coalesce(scored.ended_by_pass_variance, 0) as ended_by_pass_variance,
  scored.eligible_tasks,
  scored.eligible_informative_tasks,
  scored.lost_reliability,
  scored.dominant_tasks,
  scored.worst_task_id,
  scored.worst_tasks,
  scored.most_lost / nullif(scored.lost_reliability, 0) as worst_share,
  scored.delta_k,
  scored.delta_k / nullif(scored.alike_error, 0) as z_alike,
  scored.repeated_tasks,
  scored.passed_tasks,
  scored.failed_tasks,
  runs.loaded_at,
  runs.log_rows,
  {{ passk._quoted(passk._built_with()) }} as built_with
from scored
inner join runs
  on scored.run_id = runs.run_id and scored.suite = runs.suite
{{ passk._replaces(plan.changed) if plan.changed }}
{%- endif %}
