{#- The latest runs of an agent on a suite, over the tasks that every one of them has tried k times. -#}
{%- set bigint = dbt.type_bigint() %}
{%- set line = ['suite', 'last_run_id'] %}
{%- set most = passk._setting('passk_trend_runs') %}

with placed as (
  select
    suite,
    agent,
    run_id,
    place,
    max(place) over (partition by suite, agent) as places
  from {{ ref('int_passk__run_order') }}
),

latest as (
  select
    suite,
    run_id,
    place,
    max(case when place = places then run_id end) over (partition by suite, agent) as last_run_id
  from placed
  where places > 1 and place > places - 2 * {{ most }}
),

counts as (
  select
    latest.suite,
    latest.last_run_id,
    latest.run_id,
    latest.place,
    counts.task_id,
    counts.n,
    counts.c,
    max(case when latest.run_id = latest.last_run_id then counts.n end)
      over (partition by latest.suite, latest.last_run_id, counts.task_id) as last_n
  from latest
  inner join {{ ref('int_passk__task_counts') }} as counts
    on latest.run_id = counts.run_id and latest.suite = counts.suite
  where counts.slice_name = 'all' and counts.attempts > 0
),

shared as (
  select
    {{ line | join(', ') }},
    run_id,
    place,
    sum(case when n > 0 and last_n > 0 then 1 else 0 end) as shared_tasks
  from counts
  group by {{ line | join(', ') }}, run_id, place
),

with_last as (
  select
    *,
    max(case when run_id = last_run_id then shared_tasks end) over (partition by {{ line | join(', ') }}) as last_tasks
  from shared
),

{# A run that has tried less than 90 % of the last run's tasks, such as one that was lost, is left out. #}
alike as (
  select
    *,
    row_number() over (partition by {{ line | join(', ') }} order by place desc) as runs_back
  from with_last
  where run_id = last_run_id or (last_tasks > 0 and {{ passk._are_nearly_all('shared_tasks', 'last_tasks') }})
),

chosen as (
  select
    {{ line | join(', ') }},
    run_id,
    row_number() over (partition by {{ line | join(', ') }} order by place) as place,
    count(*) over (partition by {{ line | join(', ') }}) as runs
  from alike
  where runs_back <= {{ most }}
),

scored as (
  select
    {% for key in line %}chosen.{{ key }}, {% endfor %}
    chosen.place,
    chosen.runs,
    counts.run_id,
    counts.task_id,
    counts.n,
    counts.c
  from chosen
  inner join counts
    on {{ passk._same_keys(line + ['run_id'], 'chosen', 'counts') }}
),

tasks as (
  select
    {{ line | join(', ') }},
    task_id,
    max(case when place = 1 then run_id end) as first_run_id,
    max(runs) as runs,
    count(*) as tried_in,
    min(n) as least_n,
    max(case when run_id = last_run_id then 1 else 0 end) as is_in_last
  from scored
  group by {{ line | join(', ') }}, task_id
),

grid as (
  {{ passk._ks_rows(passk._setting('passk_ks')) }}
),

sizes as (
  select
    {% for key in line %}tasks.{{ key }}, {% endfor %}
    grid.k,
    max(tasks.first_run_id) as first_run_id,
    max(tasks.runs) as runs,
    cast(sum(tasks.is_in_last) as {{ bigint }}) as last_tasks,
    cast(sum(case when tasks.tried_in = tasks.runs then 1 else 0 end) as {{ bigint }}) as common_tasks,
    cast(sum(case when tasks.tried_in = tasks.runs and tasks.least_n >= grid.k then 1 else 0 end) as {{ bigint }}) as tasks,
    min(case when tasks.tried_in = tasks.runs and tasks.least_n >= grid.k then tasks.least_n end) as least_n
  from tasks
  cross join grid
  group by {% for key in line %}tasks.{{ key }}, {% endfor %}grid.k
),

run_values as (
  select
    {% for key in line %}scored.{{ key }}, {% endfor %}
    scored.place,
    states.k,
    avg(states.pass_at_k) as pass_at_k,
    avg(states.pass_hat_k) as pass_hat_k
  from scored
  inner join tasks
    on {{ passk._same_keys(line + ['task_id'], 'scored', 'tasks') }}
  inner join {{ ref('int_passk__states') }} as states
    on scored.n = states.n and scored.c = states.c and states.k <= tasks.least_n
  where tasks.tried_in = tasks.runs
  group by {% for key in line %}scored.{{ key }}, {% endfor %}scored.place, states.k
)

select
  {% for key in line %}sizes.{{ key }}, {% endfor %}
  sizes.k,
  sizes.first_run_id,
  sizes.runs,
  sizes.last_tasks,
  sizes.common_tasks,
  sizes.tasks,
  sizes.least_n,
  run_values.place,
  run_values.pass_at_k,
  run_values.pass_hat_k
from sizes
left join run_values
  on {{ passk._same_keys(line + ['k'], 'sizes', 'run_values') }}
