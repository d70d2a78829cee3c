{{
  config(
    materialized='incremental',
    incremental_strategy='passk_replace',
    unique_key=['run_id', 'suite', 'task_id'],
    on_schema_change='sync_all_columns',
  )
}}
{{ passk._depends_on_changes() }}

{%- set unmasked_tasks %}
  select
    run_id,
    suite,
    task_id
  from {{ ref('int_passk__task_counts') }}
  where pass_mask is null
    and slice_name = 'all'
    and attempts > 0
    and {{ '1 = 1' if passk._setting('passk_ordered_metrics') else '1 = 0' }}
{%- endset %}

{%- if is_incremental() and not passk._any_row(unmasked_tasks) %}
{#- Most logs have none. #}
select *
from {{ this }}
where 1 = 0
{%- else %}
{%- set since = passk._increment_since() %}
with unmasked_tasks as (
  {{ unmasked_tasks }}
),

{% if since -%}
changed as (
  {{ passk._changed_tasks(since) }}
),
{%- endif %}

attempts as (
  select attempts.*
  from {{ ref('int_passk__attempts') }} as attempts
  inner join unmasked_tasks
    on attempts.run_id = unmasked_tasks.run_id
    and attempts.suite = unmasked_tasks.suite
    and attempts.task_id = unmasked_tasks.task_id
  {%- if since %}
  inner join changed
    on attempts.run_id = changed.run_id and attempts.suite = changed.suite and attempts.task_id = changed.task_id
  {%- endif %}
),

sliced as (
  {{ passk._sliced('attempts') }}
),

streaks as (
  {{ passk.streak_lengths('sliced', ['run_id', 'suite', 'task_id', 'slice_name', 'slice_value']) }}
),

latest as (
  select
    run_id,
    suite,
    task_id,
    max(loaded_at) as loaded_at
  from attempts
  group by run_id, suite, task_id
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
  latest.loaded_at,
  {{ passk._quoted(passk._built_with()) }} as built_with
from streaks
inner join latest
  on streaks.run_id = latest.run_id and streaks.suite = latest.suite and streaks.task_id = latest.task_id
{%- endif %}
