{%- set keys = ['run_id', 'suite', 'task_id', 'slice_name', 'slice_value'] %}

{#- A task without a counted attempt has no streak. #}
with changed_runs as (
  {{ passk.changed_runs(
    ref('int_passk__task_counts'),
    'upstream.pass_mask is null and upstream.n > 0',
    is_wanted=passk._setting('passk_ordered_metrics')
  ) }}
),

long_tasks as (
  select long_tasks.*
  from {{ ref('int_passk__long_tasks') }} as long_tasks
  inner join changed_runs
    on long_tasks.run_id = changed_runs.run_id and long_tasks.suite = changed_runs.suite
),

unmasked as (
  select
    unmasked.run_id,
    unmasked.suite,
    unmasked.task_id
  from {{ ref('int_passk__unmasked_tasks') }} as unmasked
  inner join changed_runs
    on unmasked.run_id = changed_runs.run_id and unmasked.suite = changed_runs.suite
  where unmasked.slice_name = 'all' and unmasked.attempts > unmasked.excluded
),

attempts as (
  select attempts.*
  from {{ ref('int_passk__attempts') }} as attempts
  inner join unmasked
    on attempts.run_id = unmasked.run_id and attempts.suite = unmasked.suite and attempts.task_id = unmasked.task_id
),

sliced as (
  {{ passk._sliced('attempts') }}
),

streaks as (
  {{ passk._long_streaks('long_tasks', keys) }}
  union all
  select * from ({{ passk.streak_lengths('sliced', keys) }}) as of_sorted
)

select
  streaks.run_id,
  streaks.suite,
  streaks.task_id,
  streaks.slice_name,
  streaks.slice_value,
  streaks.kind,
  streaks.streak_length,
  streaks.streaks,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from streaks
inner join changed_runs
  on streaks.run_id = changed_runs.run_id and streaks.suite = changed_runs.suite
