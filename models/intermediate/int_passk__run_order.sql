with runs as (
  select *
  from {{ ref('int_passk__runs') }}
  where task_rows > 0
),

starts as (
  select
    run_id,
    suite,
    min(started_at) as started_at
  from {{ ref('int_passk__task_counts') }}
  where slice_name = 'all' and attempts > 0
  group by run_id, suite
),

{# Times of the log are an order only if every run has one. #}
dated as (
  select
    runs.suite,
    runs.run_id,
    runs.agent,
    runs.agent_version,
    runs.model,
    runs.loaded_at,
    case
      when
        count(starts.started_at) over (partition by runs.suite, runs.agent)
        = count(*) over (partition by runs.suite, runs.agent)
        then starts.started_at
      else runs.loaded_at
    end as ordered_at
  from runs
  inner join starts
    on runs.run_id = starts.run_id and runs.suite = starts.suite
)

select
  suite,
  run_id,
  agent,
  agent_version,
  model,
  loaded_at,
  ordered_at,
  lag(run_id) over (partition by suite, agent order by ordered_at, run_id) as previous_run_id,
  lead(run_id) over (partition by suite, agent order by ordered_at, run_id) is null as is_latest
from dated
