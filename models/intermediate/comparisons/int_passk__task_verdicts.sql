{#- The tasks of pairs: those of passk_task_comparisons, and those that gates judge instead, without the ones in
    quarantine. -#}
{%- set bigint = dbt.type_bigint() %}
{%- set double = passk.type_double() %}
{%- set counts = ['baseline_n', 'baseline_c', 'candidate_n', 'candidate_c'] %}
{%- set error = passk._gate_error() %}

with common_tasks as (
  select *
  from {{ ref('int_passk__pair_tasks') }}
),

histogram as (
  select
    pair_number,
    {{ counts | join(',\n    ') }},
    cast(count(*) as {{ bigint }}) as tasks
  from common_tasks
  where
    baseline_n > 0 and baseline_n <= {{ passk._most_numbered() }}
    and candidate_n > 0 and candidate_n <= {{ passk._most_numbered() }}
  group by pair_number, {{ counts | join(', ') }}
),

{# Benjamini and Hochberg 1995, over the distinct counts of a pair, each as often as it has tasks. #}
ranked as (
  select
    histogram.*,
    tests.p,
    tests.least_p,
    tests.least_p_of_fall,
    sum(histogram.tasks) over (partition by histogram.pair_number) as tested_tasks,
    sum(histogram.tasks) over (partition by histogram.pair_number order by tests.p) as tasks_up_to_p
  from histogram
  inner join {{ ref('int_passk__count_tests') }} as tests
    on histogram.baseline_n = tests.baseline_n
    {%- for count in counts[1:] %}
    and histogram.{{ count }} = tests.{{ count }}
    {%- endfor %}
),

{# The quotient comes first: it is at least 1, so that rounding can't make the adjusted p smaller than p. #}
adjusted as (
  select
    *,
    least(
      min(p * (cast(tested_tasks as {{ double }}) / tasks_up_to_p)) over (partition by pair_number order by p desc),
      1
    ) as p_adjusted
  from ranked
),

joined as (
  select
    common_tasks.suite,
    common_tasks.baseline_run_id,
    common_tasks.candidate_run_id,
    common_tasks.slice_name <> 'all' as is_judged,
    common_tasks.task_id,
    {%- for count in counts %}
    common_tasks.{{ count }},
    {%- endfor %}
    cast(common_tasks.baseline_c as {{ double }}) / nullif(common_tasks.baseline_n, 0) as baseline_pass_rate,
    cast(common_tasks.candidate_c as {{ double }}) / nullif(common_tasks.candidate_n, 0) as candidate_pass_rate,
    common_tasks.candidate_c * common_tasks.baseline_n - common_tasks.baseline_c * common_tasks.candidate_n as balance,
    adjusted.p,
    adjusted.p_adjusted,
    adjusted.least_p,
    adjusted.least_p_of_fall
  from common_tasks
  left join adjusted
    on common_tasks.pair_number = adjusted.pair_number
    {%- for count in counts %}
    and common_tasks.{{ count }} = adjusted.{{ count }}
    {%- endfor %}
)

select
  suite,
  baseline_run_id,
  candidate_run_id,
  is_judged,
  task_id,
  baseline_n,
  baseline_c,
  candidate_n,
  candidate_c,
  baseline_pass_rate,
  candidate_pass_rate,
  case when p is not null then candidate_pass_rate - baseline_pass_rate end as difference,
  p,
  p_adjusted,
  least_p,
  least_p_of_fall,
  coalesce(p_adjusted <= {{ error }}, false) as moved,
  case
    when p is null then null
    when balance < 0 then 'fell'
    when balance > 0 then 'rose'
    else 'same'
  end as direction,
  case
    when p is not null then null
    when baseline_n = 0 and candidate_n = 0 then 'no counted attempt in either run'
    when baseline_n = 0 then 'no counted attempt in the baseline'
    when candidate_n = 0 then 'no counted attempt in the candidate'
    else 'n > {{ passk._most_numbered() }}'
  end as null_reason
from joined
