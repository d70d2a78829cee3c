{{ config(materialized='passk_incremental', unique_key=['run_id', 'suite', 'task_id']) }}

{%- set keys = ['run_id', 'suite', 'task_id'] %}

{#- Few tasks hold copies, so this reads only theirs. #}
{%- set copied_tasks %}
  select
    run_id,
    suite,
    task_id,
    loaded_at,
    log_rows
  from {{ ref('int_passk__unmasked_tasks') }}
  where copies > 0 and slice_name = 'all'
{%- endset %}
{%- set known = 'select distinct run_id, suite, task_id, task_loaded_at as loaded_at, log_rows from ' ~ this %}
{%- set plan = passk._plan(keys, copied_tasks, known) %}

{%- if plan.is_done %}
{{ passk._nothing_new() }}
{%- else %}
with copied_tasks as {{ passk._made_once() }}(
  {{ passk._to_make(keys, copied_tasks, plan) }}
),

attempts as {{ passk._made_once() }}(
  select
    {%- for name in passk._contract_names() %}
    staged.{{ name }},
    {%- endfor %}
    copied_tasks.loaded_at as task_loaded_at,
    copied_tasks.log_rows
  from {{ ref('stg_passk__attempts') }} as staged
  inner join copied_tasks
    on staged.run_id = copied_tasks.run_id
    and staged.suite = copied_tasks.suite
    and staged.task_id = copied_tasks.task_id
  where staged.reject_reason is null
),

numbered as (
  {{ passk._numbered_copies('attempts') }}
)

select
  {{ passk._contract_names() | join(',\n  ') }},
  copy_count,
  case when copy_number = 1 and is_unanimous = 1 then 1 else 0 end as is_kept,
  is_unanimous,
  task_loaded_at,
  log_rows,
  {{ passk._quoted(passk._built_with()) }} as built_with
from numbered
where copy_count > 1
{{ passk._replaces(plan.changed) if plan.changed }}
{%- endif %}
