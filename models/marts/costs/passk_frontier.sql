{%- set keys = ['suite', 'measure', 'k'] %}

{# Runs that have both: the reliability and the cost of an attempt. -#}
with placed as (
  select
    run_values.suite,
    run_values.run_id,
    run_values.agent,
    run_values.agent_version,
    run_values.model,
    run_costs.measure,
    run_values.k,
    run_values.estimate,
    run_values.lower,
    run_values.upper,
    run_values.to_rank_by,
    run_costs.mean as mean_cost,
    run_costs.mean_lower as mean_cost_lower,
    run_costs.mean_upper as mean_cost_upper,
    run_values.loaded_at
  from {{ ref('int_passk__run_values') }} as run_values
  inner join {{ ref('int_passk__run_costs') }} as run_costs
    on run_values.run_id = run_costs.run_id and run_values.suite = run_costs.suite
  where run_values.metric = 'pass_hat_k' and run_values.estimate is not null and run_costs.mean is not null
),

tests as (
  select *
  from {{ ref('int_passk__rank_tests') }}
  where metric = 'pass_hat_k'
),

{# Sums of the same costs in another order differ in their last digits. #}
beaten as (
  select
    {% for key in keys %}placed.{{ key }}, {% endfor %}
    placed.run_id,
    {{ passk._listed("replace(rivals.run_id, ',', ';')", passk._by_bytes('rivals.run_id')) }} as beaten_by,
    max(
      case
        when
          tests.p_adjusted <= {{ passk._gate_error() }}
          and rivals.to_rank_by > placed.to_rank_by
          and rivals.mean_cost_upper < placed.mean_cost_lower * (1 - 1e-9)
          then 1
        else 0
      end
    ) as is_surely_beaten
  from placed
  inner join placed as rivals
    on {{ passk._same_keys(keys, 'placed', 'rivals') }} and placed.run_id <> rivals.run_id
  left join tests
    on placed.suite = tests.suite
    and placed.k = tests.k
    and placed.run_id = tests.run_id
    and rivals.run_id = tests.other_run_id
  where
    rivals.to_rank_by >= placed.to_rank_by
    and rivals.mean_cost <= placed.mean_cost * (1 + 1e-12)
    and (rivals.to_rank_by > placed.to_rank_by or rivals.mean_cost < placed.mean_cost * (1 - 1e-12))
  group by {% for key in keys %}placed.{{ key }}, {% endfor %}placed.run_id
)

select
  placed.suite,
  placed.run_id,
  placed.agent,
  placed.agent_version,
  placed.model,
  placed.measure,
  placed.k,
  cast(count(*) over (partition by placed.{{ keys | join(', placed.') }}) as {{ dbt.type_bigint() }}) as runs,
  placed.estimate as pass_hat_k,
  placed.lower as pass_hat_k_lower,
  placed.upper as pass_hat_k_upper,
  placed.mean_cost,
  placed.mean_cost_lower,
  placed.mean_cost_upper,
  beaten.run_id is null as is_on_frontier,
  coalesce(beaten.is_surely_beaten, 0) = 1 as is_surely_beaten,
  beaten.beaten_by,
  case
    when beaten.run_id is null then 'No other run is as good on both and better on one.'
    when beaten.is_surely_beaten = 1 then 'Beaten beyond chance: another run is more reliable and costs less.'
    else 'Beaten by the estimates, which chance alone can explain.'
  end as meaning,
  placed.loaded_at
from placed
left join beaten
  on {{ passk._same_keys(keys + ['run_id'], 'placed', 'beaten') }}
