{%- set run = 'run_id, suite' %}
{%- set k = passk._setting('passk_deployment_k') %}
{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__tasks_by_count'), is_wanted=passk._setting('passk_diagnostics')) }}
),

by_count as (
  select by_count.*
  from {{ ref('int_passk__tasks_by_count') }} as by_count
  inner join changed_runs
    on by_count.run_id = changed_runs.run_id and by_count.suite = changed_runs.suite
  where by_count.slice_name = 'all'
),

estimated as {{ passk._made_once() }}(
  select
    by_count.*,
    cast(by_count.c as {{ double }}) / nullif(by_count.n, 0) as pass_rate,
    states.pass_hat_k
  from by_count
  inner join {{ ref('int_passk__estimates_by_count') }} as states
    on by_count.n = states.n and by_count.c = states.c and states.k = {{ k }}
),

totals as {{ passk._made_once() }}(
  select
    {{ run }},
    cast(sum(tasks) as {{ bigint }}) as tasks,
    cast(sum(case when n > 0 then tasks else 0 end) as {{ bigint }}) as counted_tasks,
    cast(sum(case when c > 0 and c < n then tasks else 0 end) as {{ bigint }}) as informative_tasks,
    min(case when n > 0 then n end) as min_n,
    max(n) as max_n,
    cast(sum(case when n > 2 then tasks else 0 end) as {{ bigint }}) as repeated_tasks,
    cast(sum(case when n > 2 and c = n then tasks else 0 end) as {{ bigint }}) as passed_tasks,
    cast(sum(case when n > 2 and c = 0 then tasks else 0 end) as {{ bigint }}) as failed_tasks,
    cast(sum(case when n >= {{ k }} then tasks else 0 end) as {{ bigint }}) as eligible_tasks,
    cast(sum(case when n >= {{ k }} and c > 0 and c < n then tasks else 0 end) as {{ bigint }})
      as eligible_informative_tasks,
    sum(case when n >= {{ k }} then tasks * pass_rate end) / nullif(sum(case when n >= {{ k }} then tasks end), 0)
      as mean_pass_rate,
    sum(tasks * pass_hat_k) / nullif(sum(case when n >= {{ k }} then tasks end), 0) as pass_hat_k,
    cast(sum(tasks * c) as {{ double }}) / nullif(sum(tasks * n), 0) as attempt_pass_rate
  from estimated
  group by {{ run }}
),

{# Tasks with fewer attempts than the longest one. In a run that retries until it passes, they end in their only pass.
   #}
short_tasks as (
  select
    by_count.run_id,
    by_count.suite,
    cast(sum(by_count.tasks) as {{ bigint }}) as ragged_tasks,
    cast(sum(by_count.ended_by_pass) as {{ bigint }}) as ended_by_pass,
    {#- The largest share by chance: 1/n (1 - 1/n)^(n - 1); for one attempt, the share that passes. #}
    {%- set chance -%}
    case
      when by_count.n = 1 then totals.attempt_pass_rate
      else power(1 - {{ passk._as_double(1) }} / by_count.n, by_count.n - 1) / by_count.n
    end
    {%- endset %}
    sum(by_count.tasks * {{ chance }}) as ended_by_pass_expected,
    sum(by_count.tasks * {{ chance }} * (1 - {{ chance }})) as ended_by_pass_variance
  from by_count
  inner join totals
    on by_count.run_id = totals.run_id and by_count.suite = totals.suite
  where by_count.n > 0 and by_count.n < totals.max_n
  group by by_count.run_id, by_count.suite
),

{# The variances are summed around the means, because a difference of sums of squares loses digits. #}
spreads as (
  select
    estimated.run_id,
    estimated.suite,
    sum(
      estimated.tasks * (estimated.pass_rate - totals.mean_pass_rate) * (estimated.pass_rate - totals.mean_pass_rate)
    ) / nullif(max(totals.eligible_tasks) - 1, 0) as var_pass_rate,
    sum(estimated.tasks * {{ passk._alike_variance('estimated.n', 'totals.mean_pass_rate', k) }}) as sum_alike_variance
  from estimated
  inner join totals
    on estimated.run_id = totals.run_id and estimated.suite = totals.suite
  where estimated.n >= {{ k }}
  group by estimated.run_id, estimated.suite
),

bounds as (
  select
    totals.run_id,
    totals.suite,
    {{ passk.delta_k_unbiased(
      'totals.pass_hat_k', 'totals.mean_pass_rate', 'spreads.var_pass_rate', 'totals.eligible_tasks', k
    ) }} as delta_k,
    sqrt(spreads.sum_alike_variance) / totals.eligible_tasks as alike_error
  from totals
  inner join spreads
    on totals.run_id = spreads.run_id and totals.suite = spreads.suite
)

select
  totals.run_id,
  totals.suite,
  cast({{ k }} as {{ bigint }}) as k,
  totals.tasks,
  totals.counted_tasks,
  totals.informative_tasks,
  totals.min_n,
  totals.max_n,
  coalesce(short_tasks.ragged_tasks, 0) as ragged_tasks,
  coalesce(short_tasks.ended_by_pass, 0) as ended_by_pass,
  coalesce(short_tasks.ended_by_pass_expected, 0) as ended_by_pass_expected,
  coalesce(short_tasks.ended_by_pass_variance, 0) as ended_by_pass_variance,
  totals.eligible_tasks,
  totals.eligible_informative_tasks,
  bounds.delta_k,
  bounds.delta_k / nullif(bounds.alike_error, 0) as z_alike,
  totals.repeated_tasks,
  totals.passed_tasks,
  totals.failed_tasks,
  runs.loaded_at,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from totals
inner join changed_runs
  on totals.run_id = changed_runs.run_id and totals.suite = changed_runs.suite
inner join {{ ref('int_passk__runs') }} as runs
  on totals.run_id = runs.run_id and totals.suite = runs.suite
left join short_tasks
  on totals.run_id = short_tasks.run_id and totals.suite = short_tasks.suite
left join bounds
  on totals.run_id = bounds.run_id and totals.suite = bounds.suite
