{#- The values of the runs of each trend, over the tasks that every one of them has tried k times. -#}
{%- set bigint = dbt.type_bigint() %}
{%- set line = ['suite', 'last_run_id', 'k'] %}

{#- Most k have the same runs, so the tasks are read once for each set of runs, not for each k. -#}
with trend_runs as (
  select
    *,
    dense_rank() over (order by suite, last_run_id, run_set) as set_number
  from {{ ref('int_passk__trend_runs') }}
),

members as (
  select distinct
    set_number,
    suite,
    last_run_id,
    run_id,
    place,
    runs
  from trend_runs
),

tried as (
  select
    members.set_number,
    members.place,
    members.runs,
    counts.n,
    counts.c,
    case when members.run_id = members.last_run_id then 1 else 0 end as is_last,
    min(counts.n) over (partition by members.set_number, counts.task_id) as least_n,
    count(*) over (partition by members.set_number, counts.task_id) as tried_in
  from members
  inner join {{ ref('int_passk__task_counts') }} as counts
    on members.run_id = counts.run_id and members.suite = counts.suite
  where counts.slice_name = 'all' and counts.attempts > 0
),

tasks_by_count as (
  select
    set_number,
    place,
    is_last,
    case when tried_in = runs then 1 else 0 end as is_common,
    least_n,
    n,
    c,
    {{ passk._as_double('count(*)') }} as tasks
  from tried
  group by set_number, place, is_last, case when tried_in = runs then 1 else 0 end, least_n, n, c
),

lines as (
  select
    {{ line | join(', ') }},
    set_number,
    max(case when place = 1 then run_id end) as first_run_id,
    max(runs) as runs,
    max(all_runs) as all_runs,
    max(last_eligible_tasks) as last_eligible_tasks
  from trend_runs
  group by {{ line | join(', ') }}, set_number
),

{# The tasks that all runs have are among those of the last one. #}
sizes as (
  select
    lines.suite,
    lines.last_run_id,
    lines.k,
    cast(sum(counts.tasks) as {{ bigint }}) as last_tasks,
    cast(sum(counts.is_common * counts.tasks) as {{ bigint }}) as common_tasks,
    cast(
      sum(case when counts.least_n >= lines.k then counts.is_common * counts.tasks else 0 end) as {{ bigint }}
    ) as tasks,
    min(case when counts.is_common = 1 and counts.least_n >= lines.k then counts.least_n end) as least_n
  from lines
  inner join tasks_by_count as counts
    on lines.set_number = counts.set_number
  where counts.is_last = 1
  group by lines.suite, lines.last_run_id, lines.k
),

run_values as (
  select
    lines.suite,
    lines.last_run_id,
    lines.k,
    counts.place,
    sum(counts.tasks * states.pass_at_k) / sum(counts.tasks) as pass_at_k,
    sum(counts.tasks * states.pass_hat_k) / sum(counts.tasks) as pass_hat_k
  from lines
  inner join tasks_by_count as counts
    on lines.set_number = counts.set_number
  inner join {{ ref('int_passk__estimates_by_count') }} as states
    on counts.n = states.n and counts.c = states.c and lines.k = states.k
  where counts.is_common = 1 and counts.least_n >= lines.k
  group by lines.suite, lines.last_run_id, lines.k, counts.place
)

select
  lines.suite,
  lines.last_run_id,
  lines.k,
  lines.first_run_id,
  lines.runs,
  sizes.last_tasks,
  lines.last_eligible_tasks,
  sizes.common_tasks,
  sizes.tasks,
  sizes.least_n,
  run_values.place,
  run_values.pass_at_k,
  run_values.pass_hat_k,
  lines.all_runs - lines.runs as left_out_runs
from lines
inner join sizes
  on {{ passk._same_keys(line, 'lines', 'sizes') }}
left join run_values
  on {{ passk._same_keys(line, 'lines', 'run_values') }}
