select
  run_id,
  suite,
  agent,
  agent_version,
  model,
  started_at,
  loaded_at,
  attempts,
  n,
  c,
  excluded
from {{ ref('passk', 'passk_runs') }}
