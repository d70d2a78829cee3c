-- Worked by hand. v1: (4, 4), (4, 3), (4, 0): pass@2 = (1 + 1 + 0) / 3, pass^2 = (1 + 1/2 + 0) / 3.
-- v2: (4, 3), (4, 3), and (3, 2) because the rate-limited trial is excluded: pass@2 = 1, pass^2 = (1/2 + 1/2 + 1/3) / 3.
with expected as (
  select 'v1' as run_id, 2e0 / 3 as pass_at_k, 1.5e0 / 3 as pass_hat_k
  union all
  select 'v2' as run_id, 1e0 as pass_at_k, (4e0 / 3) / 3 as pass_hat_k
)

select expected.run_id, report.pass_at_k, report.pass_hat_k
from expected
left join {{ ref('release_report') }} as report
  on expected.run_id = report.run_id
where report.run_id is null
  or abs(report.pass_at_k - expected.pass_at_k) > 1e-12
  or abs(report.pass_hat_k - expected.pass_hat_k) > 1e-12
