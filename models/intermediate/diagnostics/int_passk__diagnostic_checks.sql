{%- set ordered = passk._setting('passk_ordered_metrics') %}

with checks as (
  select
    counts.*,
    losses.lost_reliability,
    losses.dominant_tasks,
    losses.worst_task_id,
    losses.worst_tasks,
    losses.worst_share,
    {{ 'true' if ordered else 'false' }} as is_ordered,
    coalesce(orders.runs_tasks, 0) as runs_tasks,
    orders.switches,
    orders.switches_expected,
    orders.z_runs,
    coalesce(orders.trend_tasks, 0) as trend_tasks,
    orders.rank_shift,
    orders.z_trend,
    coalesce(suite_passes.suite_pass_tasks, 0) as suite_pass_tasks,
    suite_passes.suite_passes,
    suite_passes.cochran_q,
    suite_passes.z_suite_pass,
    coalesce(windows.window_tasks, 0) as window_tasks,
    windows.window_gap,
    windows.z_window,
    coalesce(windows.first_k_tasks, 0) as first_k_tasks,
    windows.first_k_gap,
    windows.z_first_k,
    copies.read_tasks,
    copies.seed_tasks,
    copies.seed_attempts,
    copies.repeated_seeds,
    copies.repeated_seed_tasks,
    copies.output_attempts,
    copies.distinct_outputs,
    copies.copied_tasks,
    copies.same_output_tasks,
    copies.graded_twice_tasks,
    copies.pairs,
    copies.disagreements,
    sessions.clock_s,
    sessions.pause_s,
    sessions.session_tasks,
    sessions.overdispersion,
    sessions.z_batch,
    coalesce(copies.tried_again_tasks, 0) as tried_again_tasks,
    coalesce(copies.output_tasks, 0) as output_tasks
  from {{ ref('int_passk__count_checks') }} as counts
  inner join {{ ref('int_passk__loss_checks') }} as losses
    on counts.run_id = losses.run_id and counts.suite = losses.suite
  inner join {{ ref('int_passk__copy_checks') }} as copies
    on counts.run_id = copies.run_id and counts.suite = copies.suite
  inner join {{ ref('int_passk__session_checks') }} as sessions
    on counts.run_id = sessions.run_id and counts.suite = sessions.suite
  {#- Empty where the var passk_ordered_metrics is false. #}
  left join {{ ref('int_passk__order_checks') }} as orders
    on counts.run_id = orders.run_id and counts.suite = orders.suite
  left join {{ ref('int_passk__suite_pass_checks') }} as suite_passes
    on counts.run_id = suite_passes.run_id and counts.suite = suite_passes.suite
  left join {{ ref('int_passk__window_checks') }} as windows
    on counts.run_id = windows.run_id and counts.suite = windows.suite
)

{# All columns, because different diagnostics need different ones. #}
select
  *,  -- noqa: AM04
  cochran_q / nullif(suite_passes - 1, 0) as phi,
  {{ passk.flip_rate('disagreements', 'pairs') }} as flip_rate,
  repeated_tasks - passed_tasks - failed_tasks as mixed_tasks,
  {#- The end of a finding on a run of which only some tasks were read. #}
  case
    when read_tasks < tasks
      then ' Read of ' || {{ passk._whole('read_tasks') }} || ' of ' || {{ passk._whole('tasks') }} || ' tasks.'
    else ''
  end as some_read
from checks
