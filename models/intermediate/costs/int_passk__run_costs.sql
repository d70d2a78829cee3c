{%- set keys = ['run_id', 'suite', 'measure'] %}
{%- set bigint = dbt.type_bigint() %}
{%- set said = passk._coverage_said('covered.measured', 'covered.n') %}
{#- In how many tasks attempts of an outcome that they have lack the measure, as a reason for a null or beside a value. #}
{%- set untold %}
    'no passed, or no failed, attempt has ' || covered.measure || ' in '
      || {{ passk._whole('covered.counted_tasks - covered.measured_tasks') }}
      || ' of ' || {{ passk._whole('covered.counted_tasks') }} || ' tasks'
{%- endset %}

with totals as (
  select
    {{ keys | join(', ') }},
    cast(count(*) as {{ bigint }}) as total_tasks,
    cast(sum(case when n > 0 then 1 else 0 end) as {{ bigint }}) as counted_tasks,
    cast(sum(n) as {{ bigint }}) as n,
    cast(sum(c) as {{ bigint }}) as c,
    cast(sum(excluded) as {{ bigint }}) as excluded,
    cast(sum(measured_passes + measured_failures) as {{ bigint }}) as measured,
    cast(sum(measured_excluded) as {{ bigint }}) as measured_excluded,
    sum(spent_on_passes) as spent_on_passes,
    sum(spent_on_failures) as spent_on_failures,
    sum(spent_on_excluded) as spent_on_excluded
  from {{ ref('int_passk__task_spending') }}
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
    coalesce(spread.tasks, 0) as measured_tasks,
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
    {{ passk._is_covered('totals.measured', 'totals.n') }} as has_attempts,
    {{ passk._is_covered('(totals.measured + totals.measured_excluded)', '(totals.n + totals.excluded)') }} as has_excluded,
    {{ passk._is_covered('coalesce(spread.tasks, 0)', 'totals.counted_tasks') }} as has_tasks
  from totals
  left join ratios as spread
    on {{ passk._same_keys(keys, 'totals', 'spread') }} and spread.ratio = 'attempt'
  left join ratios as success
    on {{ passk._same_keys(keys, 'totals', 'success') }} and success.ratio = 'success'
  left join {{ ref('int_passk__cost_tails') }} as tails
    on {{ passk._same_keys(keys, 'totals', 'tails') }}
),

{# Tasks of which an outcome is never measured are left out: they must be few, or the others would stand for them. #}
covered as (
  select
    *,
    has_attempts and has_tasks as is_covered
  from joined
)

select
  covered.run_id,
  covered.suite,
  covered.measure,
  covered.n,
  covered.c,
  covered.excluded,
  covered.measured,
  covered.measured_excluded,
  {{ passk._as_double('covered.measured') }} / nullif(covered.n, 0) as coverage,
  covered.measured_tasks,
  covered.total_tasks,
  covered.families,
  covered.effective_families,
  {%- for figure, condition in [('mean', ''), ('p95', ''), ('per_success', ' and covered.has_excluded')] %}
  {%- for end in ['', '_lower', '_upper'] %}
  case when covered.is_covered{{ condition }} then covered.{{ figure ~ end }} end as {{ figure ~ end }},
  {%- endfor %}
  {%- endfor %}
  covered.spent,
  covered.spent_on_failures,
  covered.spent_on_excluded,
  covered.spent_on_failures / nullif(covered.spent, 0) as share_on_failures,
  case
    when not covered.has_attempts then 'only ' || {{ said }}
    when not covered.has_tasks then {{ untold }}
  end as null_reason,
  case
    when covered.is_covered and (covered.measured < covered.n or covered.measured_excluded < covered.excluded)
      then {{ said }}
        || case
          when covered.excluded > 0
            then ', and ' || case when covered.has_excluded then '' else 'only ' end
              || {{ passk._whole('covered.measured_excluded') }} || ' of ' || {{ passk._whole('covered.excluded') }}
              || ' excluded ones' || case when covered.has_excluded then '' else ', too few to know what a success costs' end
          else ''
        end
        || case
          when covered.measured_tasks < covered.counted_tasks then '; ' || {{ untold }} || ', which are left out'
          else ''
        end
  end as caveat
from covered
