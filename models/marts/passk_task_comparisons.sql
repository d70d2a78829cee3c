{%- set bigint = dbt.type_bigint() %}
{%- set double = passk.type_double() %}
{%- set counts = ['baseline_n', 'baseline_c', 'candidate_n', 'candidate_c'] %}
{%- set error = passk._gate_error() %}

with common_tasks as (
  select * from {{ ref('int_passk__pair_tasks') }}
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

{# Each computed once, whatever the number of tasks; and what it would be if the candidate had no pass. #}
states as (
  select distinct
    every.*,
    every.baseline_c + every.candidate_c as passes
  from (
    select
      {{ counts | join(',\n      ') }}
    from histogram
    union all
    select
      {{ counts[:-1] | join(',\n      ') }},
      0 as candidate_c
    from histogram
  ) as every
),

{# With the counts that say most: as many passes as one run has attempts, all of them in it. #}
pooled as (
  select distinct
    every.baseline_n,
    every.candidate_n,
    every.passes
  from (
    select
      baseline_n,
      candidate_n,
      passes
    from states
    union all
    select
      baseline_n,
      candidate_n,
      candidate_n as passes
    from states
  ) as every
),

{{ passk._permuted_outcomes() }},

{# Fisher's exact test. Outcomes as likely as what was seen differ from it in their last digits. #}
tested_sums as (
  select
    {%- for count in counts %}
    states.{{ count }},
    {%- endfor %}
    sum(case when outcomes.chance <= seen.chance * (1 + 1e-7) then outcomes.chance else 0 end) as p_sum
  from states
  inner join outcomes as seen
    on states.baseline_n = seen.baseline_n
    and states.candidate_n = seen.candidate_n
    and states.passes = seen.passes
    and states.candidate_c = seen.drawn
  inner join outcomes
    on states.baseline_n = outcomes.baseline_n
    and states.candidate_n = outcomes.candidate_n
    and states.passes = outcomes.passes
  group by
    states.baseline_n,
    states.baseline_c,
    states.candidate_n,
    states.candidate_c
),

tested as (
  select
    {{ counts | join(',\n    ') }},
    {{ passk._p_value('least(p_sum, 1)') }} as p
  from tested_sums
),

{# With as many attempts in both runs, the opposite is as likely. #}
least_ps as (
  select
    baseline_n,
    candidate_n,
    {{ passk._p_value('case when baseline_n = candidate_n then 2 else 1 end * chance') }} as least_p
  from outcomes
  where passes = candidate_n and drawn = candidate_n
),

{# Benjamini and Hochberg 1995, over the distinct counts of a pair, each as often as it has tasks. #}
ranked as (
  select
    histogram.*,
    tested.p,
    sum(histogram.tasks) over (partition by histogram.pair_number) as tested_tasks,
    sum(histogram.tasks) over (partition by histogram.pair_number order by tested.p) as tasks_up_to_p
  from histogram
  inner join tested
    on histogram.baseline_n = tested.baseline_n
    {%- for count in counts[1:] %}
    and histogram.{{ count }} = tested.{{ count }}
    {%- endfor %}
),

{# The quotient first: it is at least 1, so that no rounding takes what is adjusted below p. #}
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
    common_tasks.task_id,
    {%- for count in counts %}
    common_tasks.{{ count }},
    {%- endfor %}
    cast(common_tasks.baseline_c as {{ double }}) / nullif(common_tasks.baseline_n, 0) as baseline_pass_rate,
    cast(common_tasks.candidate_c as {{ double }}) / nullif(common_tasks.candidate_n, 0) as candidate_pass_rate,
    common_tasks.candidate_c * common_tasks.baseline_n - common_tasks.baseline_c * common_tasks.candidate_n as balance,
    adjusted.p,
    adjusted.p_adjusted,
    least_ps.least_p,
    falls.p as least_p_of_fall
  from common_tasks
  left join adjusted
    on common_tasks.pair_number = adjusted.pair_number
    {%- for count in counts %}
    and common_tasks.{{ count }} = adjusted.{{ count }}
    {%- endfor %}
  left join least_ps
    on common_tasks.baseline_n = least_ps.baseline_n and common_tasks.candidate_n = least_ps.candidate_n
  left join tested as falls
    on common_tasks.baseline_n = falls.baseline_n
    and common_tasks.baseline_c = falls.baseline_c
    and common_tasks.candidate_n = falls.candidate_n
    and falls.candidate_c = 0
)

select
  suite,
  baseline_run_id,
  candidate_run_id,
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
