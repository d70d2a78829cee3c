{{ config(materialized='ephemeral') }}

select
  run_id,
  suite,
  task_id,
  removed_at
from {{ source('passk_landing', 'removed_tasks') }}
