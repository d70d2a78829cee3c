{%- set text = dbt.type_string() %}
{%- set bigint = dbt.type_bigint() %}
{%- set error = passk._gate_error() %}

with run_values as (
  select
    *,
    count(estimate) over (partition by suite, metric, k) as ranked_runs,
    rank() over (
      partition by suite, metric, k
      order by case when estimate is null then 1 else 0 end, to_rank_by desc
    ) as estimated_rank
  from {{ ref('int_passk__run_values') }}
),

tests as (
  select
    tests.*,
    other_values.estimated_rank as other_rank,
    tests.p_adjusted <= {{ error }} as is_told_apart
  from {{ ref('int_passk__rank_tests') }} as tests
  inner join run_values as other_values
    on tests.other_run_id = other_values.run_id
    and tests.suite = other_values.suite
    and tests.metric = other_values.metric
    and tests.k = other_values.k
),

tallies as (
  select
    suite,
    run_id,
    metric,
    k,
    cast(sum(case when is_told_apart and difference < 0 then 1 else 0 end) as {{ bigint }}) as better_runs,
    cast(sum(case when is_told_apart and difference > 0 then 1 else 0 end) as {{ bigint }}) as worse_runs,
    cast(sum(case when not is_told_apart then 1 else 0 end) as {{ bigint }}) as near_runs,
    {#- Of two runs, each has half of the variance of their difference. #}
    avg(case when not is_told_apart then difference_error * difference_error / 2 end) as variance,
    {{ passk._listed("case when not is_told_apart then replace(other_run_id, ',', ';') end", 'other_rank') }}
      as not_told_apart_from
  from tests
  group by suite, run_id, metric, k
),

{# A run that is alone has no test. #}
ranked as (
  select
    run_values.*,
    coalesce(tallies.better_runs, 0) as better_runs,
    coalesce(tallies.worse_runs, 0) as worse_runs,
    1 + coalesce(tallies.better_runs, 0) as rank_lower,
    run_values.ranked_runs - coalesce(tallies.worse_runs, 0) as rank_upper,
    case
      when run_values.estimate is null or run_values.estimated_rank > 1 then null
      when coalesce(tallies.near_runs, 0) = 0 then run_values.estimate
      when tallies.variance is not null
        then greatest(
            run_values.estimate - {{ passk._median_of_highest('tallies.near_runs + 1') }} * sqrt(tallies.variance), 0
          )
    end as estimate_of_top,
    tallies.not_told_apart_from
  from run_values
  left join tallies
    on run_values.suite = tallies.suite
    and run_values.run_id = tallies.run_id
    and run_values.metric = tallies.metric
    and run_values.k = tallies.k
)

select
  suite,
  run_id,
  agent,
  agent_version,
  model,
  metric,
  k,
  cast(ranked_runs as {{ bigint }}) as ranked_runs,
  estimate,
  lower,
  upper,
  estimate_of_top,
  {%- for column in ['estimated_rank', 'rank_lower', 'rank_upper', 'better_runs', 'worse_runs'] %}
  cast(case when estimate is not null then {{ column }} end as {{ bigint }}) as {{ column }},
  {%- endfor %}
  case when estimate is not null then better_runs = 0 end as may_be_best,
  not_told_apart_from,
  null_reason,
  case
    when estimate is null then 'Not ranked: ' || null_reason || '.'
    when ranked_runs = 1 then 'The only run with a value.'
    when rank_upper = 1 then 'The best of ' || cast(ranked_runs as {{ text }}) || ' runs.'
    else
      case when better_runs = 0 then 'May be the best' else 'Not the best' end
      || ' of ' || cast(ranked_runs as {{ text }}) || ' runs: rank ' || cast(rank_lower as {{ text }})
      || case when rank_upper > rank_lower then ' to ' || cast(rank_upper as {{ text }}) else '' end
      || '.'
  end as meaning,
  loaded_at
from ranked
