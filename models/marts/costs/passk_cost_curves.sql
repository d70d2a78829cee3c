{%- set keys = ['run_id', 'suite', 'measure'] %}
{%- set bigint = dbt.type_bigint() %}
{%- set short = passk._short_tasks_reason(
  'answered.eligible_tasks', 'answered.total_tasks', k='answered.k', or_lacking='answered.lacking'
) %}

with eligible as (
  select
    {{ keys | join(', ') }},
    k,
    cast(count(*) as {{ bigint }}) as total_tasks,
    cast(sum(case when is_eligible then 1 else 0 end) as {{ bigint }}) as eligible_tasks,
    case
      when sum(case when n >= k and not is_eligible then 1 else 0 end) > 0 then ' or no ' || measure || ' of an outcome'
      else ''
    end as lacking
  from {{ ref('int_passk__retry_costs') }}
  group by {{ keys | join(', ') }}, k
),

ratios as (
  select
    {{ keys | join(', ') }},
    k,
    max(case when ratio = 'tries' then families end) as families,
    max(case when ratio = 'tries' then effective_families end) as effective_families,
    {%- for ratio, name in [
      ('tries', 'tries'), ('retry', 'retry_cost'), ('solved', 'cost_per_solved'), ('reliable', 'cost_per_reliable')
    ] %}
    max(case when ratio = '{{ ratio }}' then lower end) as {{ name }}_lower,
    max(case when ratio = '{{ ratio }}' then upper end) as {{ name }}_upper,
    max(case when ratio = '{{ ratio }}' then estimate end) as {{ name }},
    {%- endfor %}
    max(case when ratio = 'reliable' then mean_x end) as series_cost
  from {{ ref('int_passk__cost_ratios') }}
  where k > 0
  group by {{ keys | join(', ') }}, k
),

answered as (
  select
    eligible.*,
    covered.null_reason as no_coverage,
    covered.caveat as coverage_caveat,
    covered.null_reason is null
    and {{ passk._has_enough_tasks('eligible.eligible_tasks', 'eligible.total_tasks') }} as is_answered
  from eligible
  inner join {{ ref('int_passk__run_costs') }} as covered
    on {{ passk._same_keys(keys, 'eligible', 'covered') }}
)

select
  runs.run_id,
  runs.suite,
  runs.agent,
  runs.agent_version,
  runs.model,
  answered.measure,
  answered.k,
  answered.eligible_tasks,
  answered.total_tasks,
  {%- for column in [
    'families', 'effective_families', 'tries', 'tries_lower', 'tries_upper', 'retry_cost', 'retry_cost_lower', 'retry_cost_upper',
    'cost_per_solved', 'cost_per_solved_lower', 'cost_per_solved_upper', 'series_cost', 'cost_per_reliable',
    'cost_per_reliable_lower', 'cost_per_reliable_upper'
  ] %}
  case when answered.is_answered then ratios.{{ column }} end as {{ column }},
  {%- endfor %}
  case
    when answered.no_coverage is not null then answered.no_coverage
    when not answered.is_answered
      then {{ short }}
  end as null_reason,
  case
    when answered.is_answered and answered.eligible_tasks < answered.total_tasks
      then {{ short }} || ', which are left out'
    when answered.is_answered then answered.coverage_caveat
  end as caveat,
  runs.loaded_at
from answered
inner join {{ ref('int_passk__runs') }} as runs
  on answered.run_id = runs.run_id and answered.suite = runs.suite
left join ratios
  on {{ passk._same_keys(keys + ['k'], 'answered', 'ratios') }}
