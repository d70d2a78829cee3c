{%- set has_m = passk._gates() | selectattr('m') | list %}
{%- set bigint = dbt.type_bigint() %}
{%- set whole = passk._quoted(passk._judged_slice('all')) %}
{%- set keys = ['run_id', 'other_run_id', 'suite', 'slice_name', 'slice_value', 'metric', 'k'] %}

with gates as (
  select *
  from {{ ref('int_passk__gate_runs') }}
  where has_run
),

{# The runs whose excluded attempts could tip a gate: those that it judges, and both of a pair. #}
pairs as (
  select distinct
    pairs.suite,
    pairs.baseline_run_id,
    pairs.candidate_run_id,
    gates.metric,
    gates.k
  from gates
  inner join {{ ref('int_passk__pairs') }} as pairs
    on gates.run_id = pairs.candidate_run_id
    and gates.suite = pairs.suite
    and {{ passk._is_pair_of_gate('pairs') }}
  where gates.rule_type = 'drop'
),

judged as (
  select distinct
    run_id,
    '' as other_run_id,
    suite,
    coalesce(judged_slice, {{ whole }}) as slice_name,
    metric,
    k
  from gates
  where rule_type in ('threshold', 'rolling_drop')
  union all
  select
    candidate_run_id as run_id,
    baseline_run_id as other_run_id,
    suite,
    {{ whole }} as slice_name,
    metric,
    k
  from pairs
  union all
  select
    baseline_run_id as run_id,
    candidate_run_id as other_run_id,
    suite,
    {{ whole }} as slice_name,
    metric,
    k
  from pairs
),

counts as (
  select *
  from {{ ref('int_passk__task_counts') }}
  {%- if passk._quarantine() %}
  where slice_value <> 'in quarantine'
  {%- endif %}
),

{# The limits already allow any value for tasks with n < k, in either run of a pair. #}
histogram as {{ passk._made_once() }}(
  select
    judged.run_id,
    judged.other_run_id,
    judged.suite,
    counts.slice_name,
    counts.slice_value,
    judged.metric,
    judged.k,
    counts.n,
    counts.c,
    counts.excluded,
    count(*) as tasks
  from judged
  inner join counts
    on judged.run_id = counts.run_id
    and judged.suite = counts.suite
    and judged.slice_name = counts.slice_name
  left join counts as other_counts
    on judged.other_run_id = other_counts.run_id
    and judged.suite = other_counts.suite
    and judged.slice_name = other_counts.slice_name
    and counts.task_id = other_counts.task_id
  where
    counts.n >= judged.k
    and (judged.other_run_id = '' or other_counts.n >= judged.k)
    and counts.excluded > 0
  group by
    judged.run_id,
    judged.other_run_id,
    judged.suite,
    counts.slice_name,
    counts.slice_value,
    judged.metric,
    judged.k,
    counts.n,
    counts.c,
    counts.excluded
),

{# Counted as they are, as failures, as passes; each state once. `alike` are the passes for pass^k, and the
   failures for pass@k: an estimate is the share of draws of k attempts that are all of this kind, or 1 less it. #}
variants as (
  {%- for variant, attempts, passes, failures in [
    ('counted', 'n', 'c', 'n - c'),
    ('failed', 'n + excluded', 'c', 'n - c + excluded'),
    ('passed', 'n + excluded', 'c + excluded', 'n - c')
  ] %}
  select distinct
    metric,
    k,
    n,
    c,
    excluded,
    '{{ variant }}' as variant,
    {{ attempts }} as attempts,
    {{ passes }} as passes,
    case when metric = 'pass_hat_k' then {{ passes }} else {{ failures }} end as alike
  from histogram
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

logs as (
  {{ passk._with_log_choose_ratio(
    'variants', 'attempts', 'alike', 'k', 'log_share', 'alike >= k and alike < attempts'
  ) }}
),

valued as (
  select
    logs.*,
    case
      when logs.metric not in ('pass_at_k', 'pass_hat_k') then {{ 'chances.estimate' if has_m else 'null' }}
      when logs.alike < logs.k then case when logs.metric = 'pass_hat_k' then 0e0 else 1e0 end
      when logs.alike = logs.attempts then case when logs.metric = 'pass_hat_k' then 1e0 else 0e0 end
      when logs.metric = 'pass_hat_k' then {{ passk._exp('log_share') }}
      else {{ passk._one_minus_exp('log_share') }}
    end as estimate
  from logs
  {#- At least m of k is there already. #}
  {%- if has_m %}
  left join {{ ref('int_passk__m_of_k_states') }} as chances
    on logs.attempts = chances.n
    and logs.passes = chances.c
    and logs.k = chances.k
    and logs.metric = 'pass_' || {{ passk._whole('chances.m') }} || '_of_' || {{ passk._whole('chances.k') }}
    and chances.metric = 'pass_m_of_k'
  {%- endif %}
),

moves as (
  select
    metric,
    k,
    n,
    c,
    excluded,
    max(case when variant = 'counted' then estimate end) as counted,
    max(case when variant = 'failed' then estimate end) as failed,
    max(case when variant = 'passed' then estimate end) as passed
  from valued
  group by metric, k, n, c, excluded
)

select
  histogram.{{ keys | join(',\n  histogram.') }},
  cast(sum(histogram.tasks * histogram.excluded) as {{ bigint }}) as excluded,
  sum(histogram.tasks * (moves.failed - moves.counted)) as change_if_failed,
  sum(histogram.tasks * (moves.passed - moves.counted)) as change_if_passed
from histogram
inner join moves
  on histogram.metric = moves.metric
  and histogram.k = moves.k
  and histogram.n = moves.n
  and histogram.c = moves.c
  and histogram.excluded = moves.excluded
group by histogram.{{ keys | join(', histogram.') }}
