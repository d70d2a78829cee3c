with expected as (
  select * from {{ ref('int_passk__expected_attempts') }}
),

counts as (
  select
    run_id,
    suite,
    task_id,
    attempts
  from {{ ref('int_passk__task_counts') }}
  where slice_name = 'all'
),

joined as (
  select
    expected.run_id,
    expected.suite,
    expected.task_id,
    expected.expected_attempts,
    coalesce(counts.attempts, 0) as attempts
  from expected
  left join counts
    on expected.run_id = counts.run_id and expected.suite = counts.suite and expected.task_id = counts.task_id
)

select
  run_id,
  suite,
  task_id,
  expected_attempts,
  attempts,
  expected_attempts - attempts as missing_attempts
from joined
where attempts < expected_attempts
