{%- set keys = ['suite', 'measure', 'k'] %}

{#- Runs that have both: the reliability and the cost of an attempt. -#}
with placed as (
  select
    run_values.suite,
    run_values.run_id,
    run_values.agent,
    run_values.agent_version,
    run_values.model,
    costs.measure,
    run_values.k,
    run_values.estimate,
    run_values.lower,
    run_values.upper,
    run_values.to_rank_by,
    costs.mean as cost,
    costs.mean_lower as cost_lower,
    costs.mean_upper as cost_upper,
    run_values.loaded_at
  from {{ ref('int_passk__run_values') }} as run_values
  inner join {{ ref('passk_costs') }} as costs
    on run_values.run_id = costs.run_id and run_values.suite = costs.suite
  where run_values.metric = 'pass_hat_k' and run_values.estimate is not null and costs.mean is not null
),

tests as (
  select *
  from {{ ref('int_passk__rank_tests') }}
  where metric = 'pass_hat_k'
),

{#- Sums of the same costs in another order differ in their last digits. #}
beaten as (
  select
    {% for key in keys %}placed.{{ key }}, {% endfor %}
    placed.run_id,
    {{ passk._listed("replace(others.run_id, ',', ';')", passk._by_bytes('others.run_id')) }} as beaten_by,
    max(
      case
        when tests.p_adjusted <= {{ passk._gate_error() }} and others.to_rank_by > placed.to_rank_by and others.cost_upper < placed.cost_lower
          then 1
        else 0
      end
    ) as is_surely_beaten
  from placed
  inner join placed as others
    on {{ passk._same_keys(keys, 'placed', 'others') }} and placed.run_id <> others.run_id
  left join tests
    on placed.suite = tests.suite
    and placed.k = tests.k
    and placed.run_id = tests.run_id
    and others.run_id = tests.other_run_id
  where
    others.to_rank_by >= placed.to_rank_by
    and others.cost <= placed.cost * (1 + 1e-12)
    and (others.to_rank_by > placed.to_rank_by or others.cost < placed.cost * (1 - 1e-12))
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
  cast(
    count(*) over (partition by {% for key in keys %}placed.{{ key }}{{ ', ' if not loop.last }}{% endfor %}) as {{ dbt.type_bigint() }}
  ) as runs,
  placed.estimate as pass_hat_k,
  placed.lower as pass_hat_k_lower,
  placed.upper as pass_hat_k_upper,
  placed.cost,
  placed.cost_lower,
  placed.cost_upper,
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
