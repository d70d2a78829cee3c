{%- set keys = ['run_id', 'suite', 'task_id'] %}

{#- A task without a counted attempt has no streak. #}
with changed_runs as (
  {{ passk.changed_runs(
    ref('int_passk__unmasked_tasks'),
    'made.attempts > made.excluded',
    is_wanted=passk._setting('passk_ordered_metrics')
  ) }}
),

unmasked as (
  select
    unmasked.run_id,
    unmasked.suite,
    unmasked.task_id,
    changed_runs.log_version
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
  {{ passk.streak_lengths('sliced', keys + ['slice_name', 'slice_value']) }}
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
  unmasked.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from streaks
inner join unmasked
  on streaks.run_id = unmasked.run_id and streaks.suite = unmasked.suite and streaks.task_id = unmasked.task_id
