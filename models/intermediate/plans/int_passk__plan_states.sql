with histogram as (
  select
    run_id,
    suite,
    n,
    c,
    cast(count(*) as {{ dbt.type_bigint() }}) as tasks,
    max(loaded_at) as loaded_at
  from {{ ref('int_passk__task_counts') }}
  where slice_name = 'all' and attempts > 0
  group by run_id, suite, n, c
),

metrics as (
  select 'pass_at_k' as metric
  union all
  select 'pass_hat_k' as metric
)

{# With failures instead of passes, the formulas of pass^k are those of 1 - pass@k. #}
select
  histogram.run_id,
  histogram.suite,
  metrics.metric,
  histogram.n,
  histogram.tasks,
  histogram.loaded_at,
  case when metrics.metric = 'pass_hat_k' then histogram.c else histogram.n - histogram.c end as c
from histogram
cross join metrics
