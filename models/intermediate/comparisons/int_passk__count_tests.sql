{%- set counts = ['baseline_n', 'baseline_c', 'candidate_n', 'candidate_c'] %}

with seen_counts as (
  select distinct
    {{ counts | join(',\n    ') }}
  from {{ ref('int_passk__pair_tasks') }}
  where
    baseline_n > 0 and baseline_n <= {{ passk._most_numbered() }}
    and candidate_n > 0 and candidate_n <= {{ passk._most_numbered() }}
),

{# The same test if the candidate had no pass. #}
states as (
  select distinct
    every.*,
    every.baseline_c + every.candidate_c as passes
  from (
    select
      {{ counts | join(',\n      ') }}
    from seen_counts
    union all
    select
      {{ counts[:-1] | join(',\n      ') }},
      0 as candidate_c
    from seen_counts
  ) as every
),

{# The most extreme counts: one run passes always and the other never. #}
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

{# Fisher's exact test. Outcomes that are as likely as the observed one may differ from it in their last digits. #}
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

{# With equally many attempts in both runs, the opposite outcome is as likely. #}
least_ps as (
  select
    baseline_n,
    candidate_n,
    {{ passk._p_value('case when baseline_n = candidate_n then 2 else 1 end * chance') }} as least_p
  from outcomes
  where passes = candidate_n and drawn = candidate_n
)

select
  {%- for count in counts %}
  tested.{{ count }},
  {%- endfor %}
  tested.p,
  least_ps.least_p,
  falls.p as least_p_of_fall
from tested
inner join least_ps
  on tested.baseline_n = least_ps.baseline_n and tested.candidate_n = least_ps.candidate_n
inner join tested as falls
  on tested.baseline_n = falls.baseline_n
  and tested.baseline_c = falls.baseline_c
  and tested.candidate_n = falls.candidate_n
  and falls.candidate_c = 0
