{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}
{#- A chance equal to the allowed one may exceed it by rounding. #}
{%- set error = passk._gate_error() ~ ' * (1 + 1e-9)' %}

with gates as (
  select
    gate,
    run_id,
    suite,
    {#- The chance of a pass of a single attempt at which the metric of a task equals the threshold. #}
    case
      when metric = 'pass_hat_k' then power(threshold, 1e0 / k)
      else 1 - power(1 - threshold, 1e0 / k)
    end as p
  from {{ ref('int_passk__gate_runs') }}
  where rule_type = 'each_task' and has_run
),

tasks as (
  select
    gates.gate,
    gates.run_id,
    gates.suite,
    gates.p,
    counts.task_id,
    counts.n,
    counts.c,
    {#- Excluded attempts count as failures for tasks that meet the rule, and as passes for tasks that miss it. #}
    counts.n + counts.excluded as all_n,
    counts.c + counts.excluded as most_c
  from gates
  inner join {{ ref('int_passk__task_counts') }} as counts
    on gates.run_id = counts.run_id and gates.suite = counts.suite
  where {{ passk._is_judged_of_suite('counts') }} and counts.attempts > 0
),

{# Each computed once, whatever the number of tasks. #}
trials as (
  select distinct
    n,
    c,
    p
  from (
    select
      all_n as n,
      c,
      p
    from tasks
    union all
    select
      all_n as n,
      most_c as c,
      p
    from tasks
  ) as both_ways
),

{{ passk._binomial_tails() }},

{# A task without a counted attempt has both tails at 1, because nothing is known about it. #}
judged as (
  select
    tasks.gate,
    tasks.run_id,
    tasks.suite,
    tasks.task_id,
    tasks.n,
    tasks.c,
    {#- Those without a counted attempt come last. #}
    coalesce(cast(tasks.c as {{ double }}) / nullif(tasks.n, 0), 2) as pass_rate,
    coalesce(if_failed.at_least, 1) as at_least,
    coalesce(if_passed.at_most, 1) as at_most,
    count(*) over (partition by tasks.gate, tasks.run_id, tasks.suite) as tested_tasks
  from tasks
  left join tails as if_failed
    on tasks.all_n = if_failed.n and tasks.c = if_failed.c and tasks.p = if_failed.p
  left join tails as if_passed
    on tasks.all_n = if_passed.n and tasks.most_c = if_passed.c and tasks.p = if_passed.p
),

{# All tasks surely meet the rule if each one does (an intersection-union test). To say that one of many surely misses
   it, the chance is multiplied by the number of tasks (Bonferroni). #}
sorted as (
  select
    *,
    at_least <= {{ error }} as is_met,
    at_most * tested_tasks <= {{ error }} as is_missed,
    row_number() over (
      partition by gate, run_id, suite
      order by pass_rate asc, n desc, {{ passk._by_bytes('task_id') }} asc
    ) as place
  from judged
)

select
  gate,
  run_id,
  suite,
  cast(count(*) as {{ bigint }}) as tasks,
  cast(sum(case when is_met then 1 else 0 end) as {{ bigint }}) as met_tasks,
  cast(sum(case when is_missed then 1 else 0 end) as {{ bigint }}) as missed_tasks,
  max(n) as most_n,
  max(case when place = 1 then task_id end) as worst_task_id,
  max(case when place = 1 then n end) as worst_n,
  max(case when place = 1 then c end) as worst_c
from sorted
group by gate, run_id, suite
