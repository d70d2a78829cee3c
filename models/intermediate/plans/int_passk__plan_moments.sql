{#- Two estimates of k attempts each have up to 2k between them. #}
{%- set ks = passk._setting('passk_ks') | select('le', passk._setting('passk_plan_attempts') | max) | list %}
{%- set most = 2 * (ks | max if ks else 1) %}

with pilots as (
  select * from {{ ref('int_passk__plan_pilots') }}
),

states as (
  select * from {{ ref('int_passk__plan_states') }}
),

most_draws as (
  select {{ most }} as most
),

{{ passk._numbers_up_to('most_draws') }},

draws as {{ passk._made_once() }}(
  select number as draws
  from numbers
  where number between 1 and {{ most }}
),

{# pass^m of each distinct n and c, for the m that it is not 0 for: the product of (c - i) / (n - i). #}
distinct_states as (
  select distinct
    n,
    c
  from states
  where n >= 2
),

state_moments as {{ passk._made_once() }}(
  select
    distinct_states.n,
    distinct_states.c,
    draws.draws,
    {{ passk._exp(
      'sum(ln(' ~ passk._as_double('distinct_states.c - draws.draws + 1') ~ ' / (distinct_states.n - draws.draws + 1)))'
      ~ ' over (partition by distinct_states.n, distinct_states.c order by draws.draws)'
    ) }} as moment
  from distinct_states
  inner join draws
    on distinct_states.c >= draws.draws
),

{# And its mean over the tasks, an unbiased estimate of the mean of p^m while all tasks have m attempts. #}
run_moments as (
  select
    states.run_id,
    states.suite,
    states.metric,
    state_moments.draws,
    sum(states.tasks * state_moments.moment) / max(pilots.used_tasks) as moment,
    sum(states.tasks * state_moments.moment * state_moments.moment) as squares
  from states
  inner join pilots
    on states.run_id = pilots.run_id and states.suite = pilots.suite and states.metric = pilots.metric
  inner join state_moments
    on states.n = state_moments.n and states.c = state_moments.c
  where state_moments.draws <= pilots.min_n
  group by states.run_id, states.suite, states.metric, state_moments.draws
),

{# Only where the run has too few attempts for unbiased moments. #}
fitted_moments as (
  select
    pilots.run_id,
    pilots.suite,
    pilots.metric,
    draws.draws,
    {{ passk._exp(
      'sum(case when draws.draws = 1 then ln(pilots.mean_rate)'
      ~ ' else ln((pilots.mean_rate * (1 - pilots.heterogeneity) + (draws.draws - 1) * pilots.heterogeneity)'
      ~ ' / (1 - pilots.heterogeneity + (draws.draws - 1) * pilots.heterogeneity)) end)'
      ~ ' over (partition by pilots.run_id, pilots.suite, pilots.metric order by draws.draws)'
    ) }} as moment
  from pilots
  cross join draws
  where pilots.heterogeneity is not null and pilots.min_n < {{ most }}
)

select
  run_id,
  suite,
  metric,
  'moments' as basis,
  draws,
  moment,
  squares
from run_moments
union all
select
  run_id,
  suite,
  metric,
  'beta_binomial' as basis,
  draws,
  moment,
  null as squares
from fitted_moments
