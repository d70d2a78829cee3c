{{ config(materialized='view') }}

with staged as (
  select * from {{ ref('stg_passk__attempts') }}
),

duplicates as (
  select * from {{ ref('int_passk__duplicate_attempts') }}
),

broken_rows as (
  select
    run_id,
    suite,
    task_id,
    attempt,
    outcome,
    substring(reject_reason, 1, {{ dbt.position("':'", 'reject_reason') }} - 1) as reason_code,
    reject_reason as reason,
    raw,
    source_file,
    source_line,
    source_format,
    loaded_at
  from staged
  where reject_reason is not null
),

rejected_duplicates as (
  select
    run_id,
    suite,
    task_id,
    attempt,
    outcome,
    case when is_unanimous = 1 then 'duplicate' else 'conflicting_duplicate' end as reason_code,
    case
      when is_unanimous = 1
        then 'duplicate: the log holds this attempt ' || cast(copy_count as {{ dbt.type_string() }})
          || ' times, word for word; the first is kept.'
      else 'conflicting_duplicate: the log holds this attempt ' || cast(copy_count as {{ dbt.type_string() }})
        || ' times, and they differ; none is kept. Give each try its own attempt number, or load only one.'
    end as reason,
    {{ passk._row_as_text() }} as raw,
    source_file,
    source_line,
    source_format,
    loaded_at
  from duplicates
  where is_kept = 0
)

select * from broken_rows
union all
select * from rejected_duplicates
{%- if passk._attempts_kind() == 'landing' %}
union all
select * from {{ ref('stg_passk__rejected_attempts') }}
{%- endif %}
