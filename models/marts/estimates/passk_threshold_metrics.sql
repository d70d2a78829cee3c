{%- set keys = ['run_id', 'suite', 'slice_name', 'slice_value', 'threshold'] %}
{%- set bigint = dbt.type_bigint() %}

with counts as (
  select
    {{ keys | join(', ') }},
    family_key as family,
    lone_task,
    n,
    c,
    tasks,
    counted
  from {{ ref('int_passk__score_counts') }}
),

coverage as (
  select
    {{ keys | join(', ') }},
    cast(sum(counted) as {{ bigint }}) as counted_attempts,
    cast(sum(tasks * n) as {{ bigint }}) as scored_attempts,
    cast(sum(tasks * c) as {{ bigint }}) as passes
  from counts
  group by {{ keys | join(', ') }}
),

scores as (
  {%- for metric in ['pass_at_k', 'pass_hat_k'] %}
  select
    states.n,
    states.c,
    '{{ metric }}' as metric,
    states.k,
    states.{{ metric }} as estimate,
    uncertainty.var_{{ metric }} as var_estimate
  from {{ ref('int_passk__estimates_by_count') }} as states
  left join {{ ref('int_passk__uncertainty_by_count') }} as uncertainty
    on states.n = uncertainty.n and states.c = uncertainty.c and states.k = uncertainty.k
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

{{ passk._score_means(keys, ['metric', 'k']) }},

joined_coverage as (
  select
    score_means.*,
    coverage.counted_attempts,
    coverage.scored_attempts,
    coverage.passes,
    {{ passk._coverage_said('coverage.scored_attempts', 'coverage.counted_attempts', "'a score'") }} as said,
    coverage.counted_attempts = 0
    or {{ passk._is_covered('coverage.scored_attempts', 'coverage.counted_attempts') }} as is_covered
  from score_means
  inner join coverage
    on {{ passk._same_keys(keys, 'score_means', 'coverage') }}
)

select
  runs.run_id,
  runs.suite,
  runs.agent,
  runs.agent_version,
  runs.model,
  told.slice_name,
  told.slice_value,
  told.threshold,
  told.metric,
  told.k,
  told.counted_attempts,
  told.scored_attempts,
  told.passes,
  {{ passk._as_double('told.scored_attempts') }} / nullif(told.counted_attempts, 0) as coverage,
  told.eligible_tasks,
  told.total_tasks,
  told.least_n,
  {%- for name in ['families', 'effective_families', 'estimate', 'lower', 'suite_lower', 'upper', 'suite_upper'] %}
  case when told.is_covered then told.{{ name }} end as {{ name }},
  {%- endfor %}
  case when told.is_covered then told.null_reason else 'only ' || told.said end as null_reason,
  case
    when not told.is_covered or told.null_reason is not null then null
    when told.scored_attempts = told.counted_attempts then told.caveat
    else told.said || ', and the others are left out' || coalesce('; ' || told.caveat, '')
  end as caveat,
  runs.loaded_at
from joined_coverage as told
inner join {{ ref('int_passk__runs') }} as runs
  on told.run_id = runs.run_id and told.suite = runs.suite
