{{ config(materialized='passk_incremental') }}

{#- Few tasks hold copies, so this reads only theirs. #}
{%- set copied_tasks %}
  select
    run_id,
    suite,
    task_id
  from {{ ref('int_passk__task_counts') }}
  where copies > 0 and slice_name = 'all'
{%- endset %}

{%- if passk._stays_empty(copied_tasks) %}
{{ passk._nothing_new() }}
{%- else %}
with copied_tasks as (
  {{ copied_tasks }}
),

attempts as (
  select staged.*
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
  is_unanimous
from numbered
where copy_count > 1
{%- endif %}
