{#- The latest runs of an agent on a suite, over the tasks that every one of them has tried k times. A run may be one of
    them at a small k only. -#}
{%- set bigint = dbt.type_bigint() %}
{%- set line = ['suite', 'last_run_id', 'k'] %}
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

grid as (
  {{ passk._ks_rows(passk._setting('passk_ks')) }}
),

histogram as (
  select
    suite,
    last_run_id,
    run_id,
    place,
    case when n < last_n then n else last_n end as both_n,
    count(*) as tasks
  from counts
  group by suite, last_run_id, run_id, place, case when n < last_n then n else last_n end
),

shared as (
  select
    histogram.suite,
    histogram.last_run_id,
    grid.k,
    histogram.run_id,
    histogram.place,
    sum(case when histogram.both_n >= grid.k then histogram.tasks else 0 end) as shared_tasks
  from histogram
  cross join grid
  group by histogram.suite, histogram.last_run_id, grid.k, histogram.run_id, histogram.place
),

with_last as (
  select
    *,
    max(case when run_id = last_run_id then shared_tasks end)
      over (partition by {{ line | join(', ') }}) as last_eligible_tasks
  from shared
),

{# A run that has tried less than 90 % of the last run's tasks k times, such as one that was cut short, is left out. #}
alike as (
  select
    *,
    row_number() over (partition by {{ line | join(', ') }} order by place desc) as runs_back
  from with_last
  where
    run_id = last_run_id
    or (last_eligible_tasks > 0 and {{ passk._are_nearly_all('shared_tasks', 'last_eligible_tasks') }})
),

chosen as (
  select
    {{ line | join(', ') }},
    run_id,
    last_eligible_tasks,
    row_number() over (partition by {{ line | join(', ') }} order by place) as place,
    count(*) over (partition by {{ line | join(', ') }}) as runs,
    max(place) over (partition by {{ line | join(', ') }})
    - min(place) over (partition by {{ line | join(', ') }}) + 1 as all_runs
  from alike
  where runs_back <= {{ most }}
),

scored as (
  select
    {% for key in line %}chosen.{{ key }}, {% endfor %}
    chosen.place,
    chosen.runs,
    chosen.all_runs,
    chosen.last_eligible_tasks,
    counts.run_id,
    counts.task_id,
    counts.n,
    counts.c
  from chosen
  inner join counts
    on {{ passk._same_keys(['suite', 'last_run_id', 'run_id'], 'chosen', 'counts') }}
),

tasks as (
  select
    {{ line | join(', ') }},
    task_id,
    max(case when place = 1 then run_id end) as first_run_id,
    max(runs) as runs,
    max(all_runs) as all_runs,
    max(last_eligible_tasks) as last_eligible_tasks,
    count(*) as tried_in,
    min(n) as least_n,
    max(case when run_id = last_run_id then 1 else 0 end) as is_in_last
  from scored
  group by {{ line | join(', ') }}, task_id
),

sizes as (
  select
    {{ line | join(', ') }},
    max(first_run_id) as first_run_id,
    max(runs) as runs,
    max(all_runs) as all_runs,
    cast(sum(is_in_last) as {{ bigint }}) as last_tasks,
    max(last_eligible_tasks) as last_eligible_tasks,
    cast(sum(case when tried_in = runs then 1 else 0 end) as {{ bigint }}) as common_tasks,
    cast(sum(case when tried_in = runs and least_n >= k then 1 else 0 end) as {{ bigint }}) as tasks,
    min(case when tried_in = runs and least_n >= k then least_n end) as least_n
  from tasks
  group by {{ line | join(', ') }}
),

run_values as (
  select
    {% for key in line %}scored.{{ key }}, {% endfor %}
    scored.place,
    avg(states.pass_at_k) as pass_at_k,
    avg(states.pass_hat_k) as pass_hat_k
  from scored
  inner join tasks
    on {{ passk._same_keys(line + ['task_id'], 'scored', 'tasks') }}
  inner join {{ ref('int_passk__states') }} as states
    on scored.n = states.n and scored.c = states.c and scored.k = states.k
  where tasks.tried_in = tasks.runs and tasks.least_n >= tasks.k
  group by {% for key in line %}scored.{{ key }}, {% endfor %}scored.place
)

select
  {% for key in line %}sizes.{{ key }}, {% endfor %}
  sizes.first_run_id,
  sizes.runs,
  sizes.all_runs - sizes.runs as left_out_runs,
  sizes.last_tasks,
  sizes.last_eligible_tasks,
  sizes.common_tasks,
  sizes.tasks,
  sizes.least_n,
  run_values.place,
  run_values.pass_at_k,
  run_values.pass_hat_k
from sizes
left join run_values
  on {{ passk._same_keys(line, 'sizes', 'run_values') }}
