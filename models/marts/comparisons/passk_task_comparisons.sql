select
  suite,
  baseline_run_id,
  candidate_run_id,
  task_id,
  baseline_n,
  baseline_c,
  candidate_n,
  candidate_c,
  baseline_pass_rate,
  candidate_pass_rate,
  difference,
  p,
  p_adjusted,
  least_p,
  least_p_of_fall,
  moved,
  direction,
  null_reason
from {{ ref('int_passk__task_verdicts') }}
where not is_judged
