{#- A fault of a log shows in many of its tasks, so some thousands of attempts are enough: those of the tasks whose digests
    come first, because any other order may depend on the tasks themselves. #}
with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__tasks_by_count'), is_wanted=passk._setting('passk_diagnostics')) }}
),

run_tasks as (
  select
    counts.run_id,
    counts.suite,
    counts.task_id,
    counts.n
  from {{ ref('int_passk__task_counts') }} as counts
  inner join changed_runs
    on counts.run_id = changed_runs.run_id and counts.suite = changed_runs.suite
  where counts.slice_name = 'all' and counts.attempts > 0
),

run_sizes as (
  select
    run_id,
    suite,
    sum(n) as attempts
  from run_tasks
  group by run_id, suite
),

digests as (
  select
    run_tasks.run_id,
    run_tasks.suite,
    run_tasks.task_id,
    run_tasks.n,
    {{ dbt.hash('run_tasks.task_id') }} as digest
  from run_tasks
  inner join run_sizes
    on run_tasks.run_id = run_sizes.run_id and run_tasks.suite = run_sizes.suite
  where run_sizes.attempts > {{ passk._most_read_attempts() }}
),

{# Counted by the first characters of their digests, so that only the tasks that may be read have to be sorted. #}
slots as (
  select
    run_id,
    suite,
    substring(digest, 1, 2) as slot,
    sum(n) as attempts,
    count(*) as tasks
  from digests
  group by run_id, suite, substring(digest, 1, 2)
),

slot_sums as (
  select
    run_id,
    suite,
    slot,
    sum(attempts) over (partition by run_id, suite order by slot rows unbounded preceding) as attempts,
    sum(tasks) over (partition by run_id, suite order by slot rows unbounded preceding) as tasks
  from slots
),

last_slots as (
  select
    run_id,
    suite,
    min(case
      when attempts > {{ passk._most_read_attempts() }} and tasks >= {{ passk._least_read_tasks() }} then slot
    end) as slot
  from slot_sums
  group by run_id, suite
),

ranked_tasks as (
  select
    digests.run_id,
    digests.suite,
    digests.task_id,
    digests.n,
    row_number() over (
      partition by digests.run_id, digests.suite
      order by digests.digest, {{ passk._by_bytes('digests.task_id') }}
    ) as place
  from digests
  inner join last_slots
    on digests.run_id = last_slots.run_id and digests.suite = last_slots.suite
  where last_slots.slot is null or substring(digests.digest, 1, 2) <= last_slots.slot
),

placed_tasks as (
  select
    run_id,
    suite,
    task_id,
    place,
    sum(n) over (partition by run_id, suite order by place rows unbounded preceding) as attempts
  from ranked_tasks
)

{# All of a small run is read. #}
select
  placed_tasks.run_id,
  placed_tasks.suite,
  placed_tasks.task_id,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from placed_tasks
inner join changed_runs
  on placed_tasks.run_id = changed_runs.run_id and placed_tasks.suite = changed_runs.suite
where
  placed_tasks.attempts <= {{ passk._most_read_attempts() }}
  or placed_tasks.place <= {{ passk._least_read_tasks() }}
union all
select
  run_tasks.run_id,
  run_tasks.suite,
  run_tasks.task_id,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from run_tasks
inner join run_sizes
  on run_tasks.run_id = run_sizes.run_id and run_tasks.suite = run_sizes.suite
inner join changed_runs
  on run_tasks.run_id = changed_runs.run_id and run_tasks.suite = changed_runs.suite
where run_sizes.attempts <= {{ passk._most_read_attempts() }}
