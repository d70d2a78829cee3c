{%- set k = passk._setting('passk_deployment_k') %}
{%- set consistent_rate = passk._setting('passk_consistent_rate') %}
{%- set incapable_rate = passk._setting('passk_incapable_rate') %}
{%- set target = passk._as_double(passk._setting('passk_consistent_threshold')) %}

with counts as (
  select *
  from {{ ref('int_passk__task_counts') }}
  where slice_name = 'all' and attempts > 0
),

runs as (
  select * from {{ ref('int_passk__runs') }}
),

states as (
  select *
  from {{ ref('int_passk__estimates_by_count') }}
  where k = {{ k }}
),

streaks as {{ passk._made_once() }}(
  select * from {{ ref('int_passk__task_streaks') }}
),

classified as (
  select
    counts.*,
    runs.agent,
    runs.agent_version,
    runs.model,
    states.pass_rate,
    states.pass_at_k,
    states.pass_hat_k,
    states.lost_reliability,
    streaks.longest_pass_streak,
    streaks.longest_fail_streak,
    losses.expected_loss,
    losses.run_lost_reliability,
    losses.run_tasks,
    {{ passk.task_class('counts.n', 'counts.c', consistent_rate, incapable_rate) }} as task_class
  from counts
  inner join runs
    on counts.run_id = runs.run_id and counts.suite = runs.suite
  inner join states
    on counts.n = states.n and counts.c = states.c
  inner join {{ ref('int_passk__expected_losses') }} as losses
    on counts.run_id = losses.run_id and counts.suite = losses.suite and counts.n = losses.n and counts.c = losses.c
  left join streaks
    on counts.run_id = streaks.run_id and counts.suite = streaks.suite and counts.task_id = streaks.task_id
),

{# Among losses that differ only by rounding, and then among equal counts, the name decides. #}
ranked as (
  select
    *,
    row_number() over (
      partition by run_id, suite
      order by
        case when n > 0 then 0 else 1 end asc,
        floor(expected_loss * 1e12 + 0.5e0) desc,
        pass_rate asc,
        n desc,
        {{ passk._by_bytes('task_id') }} asc
    ) as place
  from classified
)

select
  run_id,
  suite,
  agent,
  agent_version,
  model,
  task_id,
  family,
  attempts,
  n,
  c,
  excluded,
  pass_rate,
  task_class,
  case
    when task_class = 'flaky' then true
    when (task_class = 'consistent' and c = n) or (task_class = 'incapable' and c = 0)
      then power({{ target }}, cast(n as {{ passk.type_double() }}) / {{ k }}) <= 0.05e0
  end as confirmed,
  cast({{ k }} as {{ dbt.type_bigint() }}) as k,
  pass_at_k,
  pass_hat_k,
  lost_reliability,
  {#- Rounding takes none above 1. #}
  case
    when lost_reliability > run_lost_reliability and run_lost_reliability > 0 then 1e0
    else lost_reliability / nullif(run_lost_reliability, 0)
  end as lost_reliability_share,
  expected_loss / run_tasks as expected_gain,
  case when n > 0 then cast(place as {{ dbt.type_bigint() }}) end as mend_rank,
  first_pass_rank,
  first_fail_rank,
  longest_pass_streak,
  longest_fail_streak,
  started_at,
  last_started_at,
  duration_s,
  cost_usd,
  case when attempts_with_cost = attempts then cost_usd / nullif(c, 0) end as cost_per_success_usd,
  input_tokens,
  output_tokens,
  loaded_at
from ranked
