{{ config(materialized='view') }}

select
  run_id,
  suite,
  task_id,
  attempt,
  outcome,
  reason_code,
  reason,
  raw,
  source_file,
  source_line,
  source_format,
  loaded_at
from {{ ref('int_passk__rejected_attempts') }}
