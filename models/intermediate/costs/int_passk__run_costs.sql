{%- set keys = ['run_id', 'suite', 'measure'] %}
{%- set bigint = dbt.type_bigint() %}
{%- set said = passk._coverage_said('joined.measured', 'joined.n') %}

with totals as (
  select
    {{ keys | join(', ') }},
    cast(count(*) as {{ bigint }}) as total_tasks,
    cast(sum(n) as {{ bigint }}) as n,
    cast(sum(c) as {{ bigint }}) as c,
    cast(sum(excluded) as {{ bigint }}) as excluded,
    cast(sum(measured_passes + measured_failures) as {{ bigint }}) as measured,
    cast(sum(measured_excluded) as {{ bigint }}) as measured_excluded,
    sum(spent_on_passes) as spent_on_passes,
    sum(spent_on_failures) as spent_on_failures,
    sum(spent_on_excluded) as spent_on_excluded
  from {{ ref('int_passk__spending') }}
  group by {{ keys | join(', ') }}
),

ratios as (
  select *
  from {{ ref('int_passk__cost_ratios') }}
  where k = 0
),

joined as (
  select
    totals.*,
    spread.tasks,
    spread.families,
    spread.effective_families,
    spread.estimate as mean,
    spread.lower as mean_lower,
    spread.upper as mean_upper,
    tails.p95,
    tails.p95_lower,
    tails.p95_upper,
    success.estimate as per_success,
    success.lower as per_success_lower,
    success.upper as per_success_upper,
    totals.spent_on_passes + totals.spent_on_failures + totals.spent_on_excluded as spent,
    {{ passk._is_covered('totals.measured', 'totals.n') }} as is_covered
  from totals
  left join ratios as spread
    on {{ passk._same_keys(keys, 'totals', 'spread') }} and spread.ratio = 'attempt'
  left join ratios as success
    on {{ passk._same_keys(keys, 'totals', 'success') }} and success.ratio = 'success'
  left join {{ ref('int_passk__cost_tails') }} as tails
    on {{ passk._same_keys(keys, 'totals', 'tails') }}
)

select
  joined.run_id,
  joined.suite,
  joined.measure,
  joined.n,
  joined.c,
  joined.excluded,
  joined.measured,
  joined.measured_excluded,
  {{ passk._as_double('joined.measured') }} / nullif(joined.n, 0) as coverage,
  coalesce(joined.tasks, 0) as measured_tasks,
  joined.total_tasks,
  joined.families,
  joined.effective_families,
  {%- for figure in ['mean', 'p95', 'per_success'] %}
  {%- for end in ['', '_lower', '_upper'] %}
  case when joined.is_covered then joined.{{ figure ~ end }} end as {{ figure ~ end }},
  {%- endfor %}
  {%- endfor %}
  joined.spent,
  joined.spent_on_failures,
  joined.spent_on_excluded,
  joined.spent_on_failures / nullif(joined.spent, 0) as share_on_failures,
  case when not joined.is_covered then 'only ' || {{ said }} end as null_reason,
  case
    when joined.is_covered and (joined.measured < joined.n or joined.measured_excluded < joined.excluded)
      then {{ said }}
        || case
          when joined.excluded > 0
            then ', and ' || {{ passk._whole('joined.measured_excluded') }}
              || ' of ' || {{ passk._whole('joined.excluded') }} || ' excluded ones'
          else ''
        end
  end as caveat
from joined
