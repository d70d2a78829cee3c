{%- set bigint = dbt.type_bigint() %}
{%- set keys = ['run_id', 'suite', 'slice_name', 'slice_value', 'metric', 'k'] %}

with gates as (
  select *
  from {{ ref('int_passk__gate_runs') }}
  where has_run
),

{# The runs whose excluded attempts could tip a gate: those that it judges, and their baselines. #}
judged as (
  select
    run_id,
    suite,
    slice_name,
    metric,
    k
  from gates
  where kind = 'threshold'
  union
  select
    run_id,
    suite,
    'all' as slice_name,
    metric,
    k
  from gates
  where kind = 'drop'
  union
  select
    pairs.baseline_run_id as run_id,
    gates.suite,
    'all' as slice_name,
    gates.metric,
    gates.k
  from gates
  inner join {{ ref('int_passk__pairs') }} as pairs
    on gates.run_id = pairs.candidate_run_id and gates.suite = pairs.suite
  where gates.kind = 'drop' and {{ passk._is_pair_of_gate('pairs') }}
),

histogram as (
  select
    counts.run_id,
    counts.suite,
    counts.slice_name,
    counts.slice_value,
    judged.metric,
    judged.k,
    counts.n,
    counts.c,
    counts.excluded,
    count(*) as tasks
  from judged
  inner join {{ ref('int_passk__task_counts') }} as counts
    on judged.run_id = counts.run_id
    and judged.suite = counts.suite
    and judged.slice_name = counts.slice_name
  where counts.excluded > 0 and counts.n >= judged.k
  group by
    counts.run_id,
    counts.suite,
    counts.slice_name,
    counts.slice_value,
    judged.metric,
    judged.k,
    counts.n,
    counts.c,
    counts.excluded
),

{# Counted as they are, as failures, as passes; each state once. #}
variants as (
  select distinct
    metric,
    k,
    n,
    c,
    excluded,
    'counted' as variant,
    n as variant_n,
    c as variant_c
  from histogram
  union
  select distinct
    metric,
    k,
    n,
    c,
    excluded,
    'failed' as variant,
    n + excluded as variant_n,
    c as variant_c
  from histogram
  union
  select distinct
    metric,
    k,
    n,
    c,
    excluded,
    'passed' as variant,
    n + excluded as variant_n,
    c + excluded as variant_c
  from histogram
),

valued as (
  select
    metric,
    k,
    n,
    c,
    excluded,
    variant,
    case
      when metric = 'pass_hat_k' then {{ passk.pass_hat_k('variant_n', 'variant_c', 'k') }}
      else {{ passk.pass_at_k('variant_n', 'variant_c', 'k') }}
    end as estimate
  from variants
),

moves as (
  select
    metric,
    k,
    n,
    c,
    excluded,
    max(case when variant = 'counted' then estimate end) - max(case when variant = 'failed' then estimate end) as loss,
    max(case when variant = 'passed' then estimate end) - max(case when variant = 'counted' then estimate end) as gain
  from valued
  group by metric, k, n, c, excluded
),

weighed as (
  select
    histogram.*,
    moves.loss,
    moves.gain
  from histogram
  inner join moves
    on histogram.metric = moves.metric
    and histogram.k = moves.k
    and histogram.n = moves.n
    and histogram.c = moves.c
    and histogram.excluded = moves.excluded
)

select
  {{ keys | join(',\n  ') }},
  cast(sum(tasks * excluded) as {{ bigint }}) as excluded,
  sum(tasks * loss) as loss,
  sum(tasks * gain) as gain
from weighed
group by {{ keys | join(', ') }}
