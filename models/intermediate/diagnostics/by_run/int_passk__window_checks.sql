{%- set run = 'run_id, suite' %}
{%- set k = passk._setting('passk_deployment_k') %}
{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}

with changed_runs as (
  {{ passk.changed_runs(
    ref('int_passk__tasks_by_count'),
    is_wanted=passk._setting('passk_diagnostics') and passk._setting('passk_ordered_metrics')
  ) }}
),

counts as (
  select counts.*
  from {{ ref('int_passk__task_counts') }} as counts
  inner join changed_runs
    on counts.run_id = changed_runs.run_id and counts.suite = changed_runs.suite
  where counts.slice_name = 'all' and counts.attempts > 0
),

{# For k attempts in a row. #}
estimated as {{ passk._made_once() }}(
  select
    by_count.run_id,
    by_count.suite,
    by_count.n,
    by_count.c,
    states.pass_hat_k,
    states.pass_hat_k * states.lost_reliability as first_k_variance,
    {{ passk._window_variance('by_count.n', 'by_count.c', k, 'states.pass_hat_k') }} as window_variance
  from {{ ref('int_passk__tasks_by_count') }} as by_count
  inner join changed_runs
    on by_count.run_id = changed_runs.run_id and by_count.suite = changed_runs.suite
  inner join {{ ref('int_passk__estimates_by_count') }} as states
    on by_count.n = states.n and by_count.c = states.c and states.k = {{ k }}
  where by_count.slice_name = 'all'
),

first_ks as (
  select
    {{ run }},
    n,
    c,
    cast(count(*) as {{ bigint }}) as tasks,
    cast(sum(case when first_fail_rank > {{ k }} or first_fail_rank is null then 1 else 0 end) as {{ bigint }})
      as first_k_passes
  from counts
  group by {{ run }}, n, c
),

first_k_sums as (
  select
    first_ks.run_id,
    first_ks.suite,
    cast(sum(case when estimated.first_k_variance > 0 then first_ks.tasks else 0 end) as {{ bigint }}) as first_k_tasks,
    sum(
      case
        when estimated.first_k_variance > 0 then first_ks.first_k_passes - first_ks.tasks * estimated.pass_hat_k
      end
    ) as first_k_excess,
    sum(first_ks.tasks * estimated.first_k_variance) as first_k_variance
  from first_ks
  inner join estimated
    on first_ks.run_id = estimated.run_id
    and first_ks.suite = estimated.suite
    and first_ks.n = estimated.n
    and first_ks.c = estimated.c
  group by first_ks.run_id, first_ks.suite
),

informative as (
  select *
  from counts
  where c > 0 and c < n
),

streaks as (
  select streaks.*
  from {{ ref('int_passk__streaks') }} as streaks
  inner join changed_runs
    on streaks.run_id = changed_runs.run_id and streaks.suite = changed_runs.suite
  where streaks.slice_name = 'all'
),

{# The variance follows the formula only where no gap among the attempts breaks a window. #}
windows as (
  select {{ run }}, n, c, windows, pass_windows
  from ({{ passk._mask_windows('informative', ['run_id', 'suite', 'task_id', 'n', 'c'], [k]) }}) as of_masks
  union all
  select
    informative.run_id,
    informative.suite,
    informative.n,
    informative.c,
    of_streaks.windows,
    of_streaks.pass_windows
  from ({{ passk.window_counts('streaks', ['run_id', 'suite', 'task_id'], [k]) }}) as of_streaks
  inner join informative
    on of_streaks.run_id = informative.run_id
    and of_streaks.suite = informative.suite
    and of_streaks.task_id = informative.task_id
),

window_states as (
  select
    {{ run }},
    n,
    c,
    cast(count(*) as {{ double }}) as tasks,
    cast(sum(pass_windows) as {{ double }}) as pass_windows
  from windows
  where windows = n - {{ k }} + 1
  group by {{ run }}, n, c
),

window_sums as (
  select
    window_states.run_id,
    window_states.suite,
    cast(sum(window_states.tasks) as {{ bigint }}) as window_tasks,
    sum(
      window_states.pass_windows / (window_states.n - {{ k - 1 }}) - window_states.tasks * estimated.pass_hat_k
    ) as window_excess,
    sum(window_states.tasks * estimated.window_variance) as window_variance
  from window_states
  inner join estimated
    on window_states.run_id = estimated.run_id
    and window_states.suite = estimated.suite
    and window_states.n = estimated.n
    and window_states.c = estimated.c
  where estimated.window_variance > 0
  group by window_states.run_id, window_states.suite
)

select
  changed_runs.run_id,
  changed_runs.suite,
  coalesce(window_sums.window_tasks, 0) as window_tasks,
  window_sums.window_excess / nullif(window_sums.window_tasks, 0) as window_gap,
  window_sums.window_excess / sqrt(nullif(window_sums.window_variance, 0)) as z_window,
  first_k_sums.first_k_tasks,
  first_k_sums.first_k_excess / nullif(first_k_sums.first_k_tasks, 0) as first_k_gap,
  first_k_sums.first_k_excess / sqrt(nullif(first_k_sums.first_k_variance, 0)) as z_first_k,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from changed_runs
left join window_sums
  on changed_runs.run_id = window_sums.run_id and changed_runs.suite = window_sums.suite
left join first_k_sums
  on changed_runs.run_id = first_k_sums.run_id and changed_runs.suite = first_k_sums.suite
