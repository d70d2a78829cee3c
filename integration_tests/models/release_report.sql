-- The package's tables and macros in a user's own model.
select
  suite_metrics.run_id,
  suite_metrics.pass_at_k,
  suite_metrics.pass_hat_k,
  {{ passk.pass_at_k('suite_metrics.n', 'suite_metrics.c', 2) }} as pooled_pass_at_2,
  {{ passk.delta_k('suite_metrics.pass_hat_k', 'suite_metrics.pass_at_k * 1', 'suite_metrics.k') }} as delta_of_expression
from {{ ref('passk', 'passk_suite_metrics') }} as suite_metrics
where suite_metrics.suite = 'billing' and suite_metrics.slice_name = 'all' and suite_metrics.k = 2
