with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__read_tasks'), is_wanted=passk._setting('passk_diagnostics')) }}
),

read_tasks as (
  select
    read_tasks.run_id,
    read_tasks.suite,
    read_tasks.task_id,
    changed_runs.log_version
  from {{ ref('int_passk__read_tasks') }} as read_tasks
  inner join changed_runs
    on read_tasks.run_id = changed_runs.run_id and read_tasks.suite = changed_runs.suite
)

select
  attempts.run_id,
  attempts.suite,
  attempts.task_id,
  attempts.attempt,
  attempts.outcome,
  attempts.started_at,
  attempts.seed,
  attempts.output_hash,
  attempts.tags,
  read_tasks.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from {{ ref('int_passk__attempts') }} as attempts
inner join read_tasks
  on attempts.run_id = read_tasks.run_id and attempts.suite = read_tasks.suite and attempts.task_id = read_tasks.task_id
where attempts.outcome <> 'excluded'
