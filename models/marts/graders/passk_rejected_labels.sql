select
  kind,
  run_id,
  suite,
  task_id,
  attempt,
  verdict,
  labeller,
  substring(reject_reason, 1, {{ dbt.position("':'", 'reject_reason') }} - 1) as reason_code,
  reject_reason as reason,
  source_file,
  source_line,
  loaded_at
from {{ ref('int_passk__labels') }}
where reject_reason is not null
