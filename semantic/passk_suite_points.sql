select
  run_id,
  suite,
  agent,
  agent_version,
  model,
  k as attempts_k,
  reading,
  loaded_at,
  pass_at_k,
  pass_at_k_lower,
  pass_at_k_upper,
  pass_hat_k,
  pass_hat_k_lower,
  pass_hat_k_upper,
  delta_k
from {{ ref('passk', 'passk_suite_metrics') }}
where slice_name = 'all'
