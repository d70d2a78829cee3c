{#- A variance of 0 after rounding. #}
{%- set nothing = '1e-12' %}
{%- set bigint = dbt.type_bigint() %}

with histogram as (
  select
    *,
    {{ passk._as_double('c') }} / nullif(n, 0) as rate
  from {{ ref('int_passk__plan_states') }}
  where metric = 'pass_hat_k'
),

{# A task with fewer than two attempts says nothing about chance within tasks. #}
totals as (
  select
    run_id,
    suite,
    cast(sum(tasks) as {{ bigint }}) as total_tasks,
    cast(sum(case when n >= 2 then tasks else 0 end) as {{ bigint }}) as used_tasks,
    min(case when n >= 2 then n end) as min_n,
    sum(case when n >= 2 then tasks * rate end) / sum(case when n >= 2 then tasks end) as pass_rate,
    max(loaded_at) as loaded_at
  from histogram
  group by run_id, suite
),

{# The first two moments of a beta distribution give its intraclass correlation. #}
spreads as (
  select
    histogram.run_id,
    histogram.suite,
    sum(histogram.tasks * (histogram.rate - totals.pass_rate) * (histogram.rate - totals.pass_rate))
    / nullif(max(totals.used_tasks) - 1, 0) / max(totals.used_tasks) as scatter,
    sum(histogram.tasks * histogram.rate * (histogram.c - 1) / (histogram.n - 1)) / max(totals.used_tasks) as second_moment
  from histogram
  inner join totals
    on histogram.run_id = totals.run_id and histogram.suite = totals.suite
  where histogram.n >= 2
  group by histogram.run_id, histogram.suite
),

{# Empty where the var passk_cluster is not set. A task whose family is not known is a family of its own. #}
families as (
  select
    counts.run_id,
    counts.suite,
    {{ passk._as_double('count(*)') }} as tasks,
    sum({{ passk._as_double('counts.c') }} / counts.n - totals.pass_rate) as surplus
  from {{ ref('int_passk__task_counts') }} as counts
  inner join totals
    on counts.run_id = totals.run_id and counts.suite = totals.suite
  where counts.slice_name = 'all' and counts.n >= 2 and {{ '1 = 1' if passk._family() else '1 = 0' }}
  group by counts.run_id, counts.suite, counts.family, case when counts.family is null then counts.task_id end
),

relations as (
  select
    run_id,
    suite,
    count(*) as families,
    sum(tasks * tasks) / sum(tasks) as family_size,
    {{ passk._variance_of_families('surplus', 'surplus') }} as variance
  from families
  group by run_id, suite
),

fits as (
  select
    totals.*,
    spreads.second_moment - totals.pass_rate * totals.pass_rate + spreads.scatter as spread,
    totals.pass_rate - spreads.second_moment as chance,
    relations.families,
    coalesce(relations.family_size, 1) as family_size,
    {#- By how much the variance of a mean over tasks is larger because their families are related. #}
    relations.variance - spreads.scatter * totals.used_tasks as excess
  from totals
  left join spreads
    on totals.run_id = spreads.run_id and totals.suite = spreads.suite
  left join relations
    on totals.run_id = relations.run_id and totals.suite = relations.suite
),

metrics as (
  select 'pass_at_k' as metric
  union all
  select 'pass_hat_k' as metric
)

select
  fits.run_id,
  fits.suite,
  metrics.metric,
  fits.total_tasks,
  fits.used_tasks,
  fits.min_n,
  case when metrics.metric = 'pass_hat_k' then fits.pass_rate else 1 - fits.pass_rate end as mean_rate,
  case when fits.chance > {{ nothing }} and fits.spread > {{ nothing }} then fits.spread / (fits.chance + fits.spread) end
    as heterogeneity,
  fits.family_size,
  case when fits.excess > 0 and fits.spread > {{ nothing }} then fits.excess / fits.spread else 0e0 end as family_excess,
  case
    when not {{ passk._has_enough_tasks('fits.used_tasks', 'fits.total_tasks') }}
      then {{ passk._short_tasks_reason('fits.used_tasks', 'fits.total_tasks', k=2) }}
    when fits.used_tasks < 2 and fits.used_tasks < fits.total_tasks then 'fewer than 2 tasks with n >= 2'
    when fits.used_tasks < 2 then 'fewer than 2 tasks'
    when fits.families = 1 then 'all tasks are of one family'
    when fits.used_tasks < 1.5e0 * fits.family_size then 'its families say hardly more than one would'
  end as no_pilot_reason,
  case
    when fits.chance > {{ nothing }} then 'tasks differ no more than by chance'
    else 'every task is perfect or hopeless'
  end as no_fit_reason,
  fits.loaded_at
from fits
cross join metrics
