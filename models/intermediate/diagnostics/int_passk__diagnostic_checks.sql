with checks as (
  select
    order_checks.*,
    copy_checks.read_tasks,
    copy_checks.seed_tasks,
    copy_checks.seed_attempts,
    copy_checks.repeated_seeds,
    copy_checks.repeated_seed_tasks,
    copy_checks.output_attempts,
    copy_checks.distinct_outputs,
    copy_checks.copied_tasks,
    copy_checks.same_output_tasks,
    copy_checks.graded_twice_tasks,
    copy_checks.pairs,
    copy_checks.disagreements,
    copy_checks.clock_s,
    copy_checks.pause_s,
    copy_checks.session_tasks,
    copy_checks.overdispersion,
    copy_checks.z_batch,
    coalesce(copy_checks.tried_again_tasks, 0) as tried_again_tasks,
    coalesce(copy_checks.output_tasks, 0) as output_tasks
  from {{ ref('int_passk__order_checks') }} as order_checks
  inner join {{ ref('int_passk__copy_checks') }} as copy_checks
    on order_checks.run_id = copy_checks.run_id and order_checks.suite = copy_checks.suite
)

{# All columns of both, for whichever diagnostic asks. #}
select
  *,  -- noqa: AM04
  cochran_q / nullif(suite_passes - 1, 0) as phi,
  {{ passk.flip_rate('disagreements', 'pairs') }} as flip_rate,
  repeated_tasks - passed_tasks - failed_tasks as mixed_tasks
from checks
