{%- set k = passk._setting('passk_deployment_k') %}
{%- set consistent_rate = passk._setting('passk_consistent_rate') %}
{%- set incapable_rate = passk._setting('passk_incapable_rate') %}
{%- set double = passk.type_double() %}
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
  from {{ ref('int_passk__states') }}
  where k = {{ k }}
),

streaks as {{ passk._made_once(of_tasks=true) }}(
  select * from {{ ref('int_passk__task_streaks') }}
),

{# By (n, c), which are few: a sum over a million tasks would lose digits. #}
histogram as (
  select
    run_id,
    suite,
    n,
    c,
    cast(count(*) as {{ dbt.type_bigint() }}) as tasks
  from counts
  group by run_id, suite, n, c
),

losses as (
  select
    histogram.run_id,
    histogram.suite,
    cast(sum(histogram.tasks) as {{ double }}) as tasks,
    {{ passk._exact_sum('histogram.tasks * states.lost_reliability') }} as lost_reliability
  from histogram
  inner join states
    on histogram.n = states.n and histogram.c = states.c
  group by histogram.run_id, histogram.suite
),

{# The beta distribution with the mean and spread of the tasks' chances, both without bias: of tasks with two attempts. #}
fitted_means as (
  select
    run_id,
    suite,
    sum(tasks) as fitted_tasks,
    {{ passk._exact_sum('cast(tasks * c as ' ~ double ~ ') / n') }} / sum(tasks) as mean_rate,
    {{ passk._exact_sum('cast(tasks * c as ' ~ double ~ ') / n * (c - 1) / (n - 1)') }} / sum(tasks) as pair_rate
  from histogram
  where n > 1
  group by run_id, suite
),

fitted_spreads as (
  select
    fitted_means.run_id,
    fitted_means.suite,
    {{ passk._exact_sum(
      'histogram.tasks * power(cast(histogram.c as ' ~ double ~ ') / histogram.n - fitted_means.mean_rate, 2)'
    ) }} / nullif(max(fitted_means.fitted_tasks) - 1, 0) / max(fitted_means.fitted_tasks) as mean_variance
  from fitted_means
  inner join histogram
    on fitted_means.run_id = histogram.run_id and fitted_means.suite = histogram.suite
  where histogram.n > 1
  group by fitted_means.run_id, fitted_means.suite
),

{# The intraclass correlation: 0 where tasks are alike, 1 where each passes always or never; no distribution at either. #}
correlated as (
  select
    fitted_means.run_id,
    fitted_means.suite,
    fitted_means.mean_rate,
    (fitted_means.pair_rate - fitted_means.mean_rate * fitted_means.mean_rate + fitted_spreads.mean_variance)
    / nullif(
      fitted_means.mean_rate * (1 - fitted_means.mean_rate) + fitted_spreads.mean_variance, 0
    ) as likeness
  from fitted_means
  inner join fitted_spreads
    on fitted_means.run_id = fitted_spreads.run_id and fitted_means.suite = fitted_spreads.suite
),

priors as (
  select
    losses.run_id,
    losses.suite,
    case
      when correlated.likeness > 1e-9 and correlated.likeness < 1 - 1e-9
        then correlated.mean_rate * (1 - correlated.likeness) / correlated.likeness
      else 0.5e0
    end as prior_passes,
    case
      when correlated.likeness > 1e-9 and correlated.likeness < 1 - 1e-9
        then (1 - correlated.mean_rate) * (1 - correlated.likeness) / correlated.likeness
      else 0.5e0
    end as prior_failures
  from losses
  left join correlated
    on losses.run_id = correlated.run_id and losses.suite = correlated.suite
),

{# E[p^k] of the posterior is the moment that pass^k is of other counts. #}
posteriors as (
  select
    histogram.run_id,
    histogram.suite,
    histogram.n,
    histogram.c,
    histogram.c + priors.prior_passes + {{ k - 1 }} as passes,
    histogram.n + priors.prior_passes + priors.prior_failures + {{ k - 1 }} as trials
  from histogram
  inner join priors
    on histogram.run_id = priors.run_id and histogram.suite = priors.suite
  where histogram.n > 0
),

logs as (
  select
    *,
    {{ passk._log_choose_ratio('trials', 'passes', k) }} as log_all_pass
  from posteriors
),

gains as (
  select
    run_id,
    suite,
    n,
    c,
    {{ passk._one_minus_exp('log_all_pass') }} as expected_loss
  from logs
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
    losses.lost_reliability as run_lost_reliability,
    gains.expected_loss,
    losses.tasks as run_tasks,
    {{ passk.task_class('counts.n', 'counts.c', consistent_rate, incapable_rate) }} as task_class
  from counts
  inner join runs
    on counts.run_id = runs.run_id and counts.suite = runs.suite
  inner join states
    on counts.n = states.n and counts.c = states.c
  inner join losses
    on counts.run_id = losses.run_id and counts.suite = losses.suite
  left join gains
    on counts.run_id = gains.run_id and counts.suite = gains.suite and counts.n = gains.n and counts.c = gains.c
  left join streaks
    on counts.run_id = streaks.run_id and counts.suite = streaks.suite and counts.task_id = streaks.task_id
),

{# Of a loss that is equal but for its rounding, and then of equal counts, the name decides. #}
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
  lost_reliability / nullif(run_lost_reliability, 0) as lost_reliability_share,
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
  cost_usd / nullif(c, 0) as cost_per_success_usd,
  input_tokens,
  output_tokens,
  loaded_at
from ranked
