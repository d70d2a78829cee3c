{{ config(enabled=(target.profile_name == 'passk')) }}

{%- set ks = [1, 2, 3, 5, 8] %}

-- The numbers that articles print, from the same macros that build the tables.
with examples as (
  select
    source || ': ' || name as example,
    task,
    outcomes,
    n,
    c,
    k,
    metric,
    cast(expected as {{ passk.type_double() }}) as expected,
    decimals
  from {{ ref('passk_golden_examples') }}
),

sequences as (
  select distinct
    example,
    task,
    outcomes
  from examples
  where outcomes is not null
),

attempts as (
  select
    sequences.example,
    sequences.task,
    places.k as attempt,
    case substring(sequences.outcomes, cast(places.k as integer), 1) when 'P' then 'passed' else 'failed' end as outcome
  from sequences
  inner join ({{ passk._ks_rows(range(1, 17)) }}) as places
    on places.k <= length(sequences.outcomes)
),

streaks as (
  {{ passk.streak_lengths('attempts', ['example', 'task']) }}
),

windows as (
  {{ passk.window_counts('streaks', ['example', 'task'], ks) }}
),

ranks as (
  select
    example,
    task,
    min(case when outcome = 'passed' then attempt end) as first_pass_rank,
    min(case when outcome = 'failed' then attempt end) as first_fail_rank
  from attempts
  group by example, task
),

estimated as (
  select
    examples.*,
    case examples.metric
      when 'pass_at_k' then {{ passk.pass_at_k('examples.n', 'examples.c', 'examples.k') }}
      when 'pass_hat_k' then {{ passk.pass_hat_k('examples.n', 'examples.c', 'examples.k') }}
      when 'pass_at_k_plugin' then {{ passk.pass_at_k_plugin('examples.n', 'examples.c', 'examples.k') }}
      when 'pass_hat_k_plugin' then {{ passk.pass_hat_k_plugin('examples.n', 'examples.c', 'examples.k') }}
      when 'delta_k_plugin' then {{ passk.pass_hat_k_plugin('examples.n', 'examples.c', 'examples.k') }}
      when 'pass_at_k_window' then {{ passk.pass_at_k_window('windows.fail_windows', 'windows.windows') }}
      when 'pass_hat_k_window' then {{ passk.pass_hat_k_window('windows.pass_windows', 'windows.windows') }}
      when 'pass_at_k_first_k' then {{ passk.pass_at_k_first_k('ranks.first_pass_rank', 'examples.n', 'examples.k') }}
      when 'pass_hat_k_first_k' then {{ passk.pass_hat_k_first_k('ranks.first_fail_rank', 'examples.n', 'examples.k') }}
    end as estimate,
    {{ passk.pass_hat_k_plugin('examples.n', 'examples.c', '1') }} as pass_rate
  from examples
  left join windows
    on examples.example = windows.example and examples.task = windows.task and examples.k = windows.k
  left join ranks
    on examples.example = ranks.example and examples.task = ranks.task
),

averaged as (
  select
    example,
    metric,
    k,
    max(expected) as expected,
    max(decimals) as decimals,
    count(*) as tasks,
    count(estimate) as estimated_tasks,
    avg(estimate) as mean_estimate,
    avg(pass_rate) as mean_pass_rate
  from estimated
  group by example, metric, k
),

answered as (
  select
    *,
    case
      when metric = 'delta_k_plugin' then {{ passk.delta_k('mean_estimate', 'mean_pass_rate', 'k') }}
      else mean_estimate
    end as answer
  from averaged
)

select *
from answered
where
  tasks <> estimated_tasks
  or coalesce(abs(answer - expected) > 0.5e0 * power(10e0, 0 - decimals) + 1e-12, true)
