{#- The runs of each trend: the latest ones of an agent on a suite, at each k those that have tried nearly all tasks of the
    last one k times. -#}
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

tried as (
  select
    latest.suite,
    latest.last_run_id,
    latest.run_id,
    latest.place,
    counts.task_id,
    counts.n
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
    tried.suite,
    tried.last_run_id,
    tried.run_id,
    tried.place,
    case when tried.n < last_tried.n then tried.n else last_tried.n end as both_n,
    count(*) as tasks
  from tried
  inner join tried as last_tried
    on {{ passk._same_keys(['suite', 'last_run_id', 'task_id'], 'tried', 'last_tried') }}
  where last_tried.run_id = last_tried.last_run_id
  group by
    tried.suite,
    tried.last_run_id,
    tried.run_id,
    tried.place,
    case when tried.n < last_tried.n then tried.n else last_tried.n end
),

shared as (
  select
    histogram.suite,
    histogram.last_run_id,
    grid.k,
    histogram.run_id,
    histogram.place,
    cast(
      sum(case when histogram.both_n >= grid.k then histogram.tasks else 0 end) as {{ dbt.type_bigint() }}
    ) as shared_tasks
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
    *,
    row_number() over (partition by {{ line | join(', ') }} order by place) as place_in_line
  from alike
  where runs_back <= {{ most }}
),

sets as (
  select
    {{ line | join(', ') }},
    count(*) as runs,
    max(place) - min(place) + 1 as all_runs,
    {{ passk._listed('cast(place as ' ~ dbt.type_string() ~ ')', 'place') }} as run_set
  from chosen
  group by {{ line | join(', ') }}
)

select
  chosen.suite,
  chosen.last_run_id,
  chosen.k,
  chosen.run_id,
  chosen.place_in_line as place,
  sets.runs,
  sets.all_runs,
  sets.run_set,
  chosen.last_eligible_tasks
from chosen
inner join sets
  on {{ passk._same_keys(line, 'chosen', 'sets') }}
