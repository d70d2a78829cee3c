select
  run_id,
  suite,
  task_id,
  expected_attempts,
  attempts,
  missing_attempts
from {{ ref('int_passk__missing_attempts') }}
