{{ config(materialized='ephemeral') }}
{%- set k = passk._setting('passk_deployment_k') %}
{%- set double = passk.type_double() %}

with states as (
  select *
  from {{ ref('int_passk__estimates_by_count') }}
  where k = {{ k }}
),

{# By (n, c), which are few: a sum over a million tasks would lose digits. #}
histogram as (
  select
    run_id,
    suite,
    n,
    c,
    cast(count(*) as {{ dbt.type_bigint() }}) as tasks
  from {{ ref('int_passk__task_counts') }}
  where slice_name = 'all' and attempts > 0
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
  {{ passk._with_log_choose_ratio('posteriors', 'trials', 'passes', k, 'log_all_pass') }}
)

select
  histogram.run_id,
  histogram.suite,
  histogram.n,
  histogram.c,
  case when histogram.n > 0 then {{ passk._one_minus_exp('logs.log_all_pass') }} end as expected_loss,
  losses.lost_reliability as run_lost_reliability,
  losses.tasks as run_tasks
from histogram
inner join losses
  on histogram.run_id = losses.run_id and histogram.suite = losses.suite
left join logs
  on histogram.run_id = logs.run_id and histogram.suite = logs.suite and histogram.n = logs.n and histogram.c = logs.c
