with runs as (
  select * from {{ ref('int_passk__runs') }}
),

{# For a run with only rejected rows, nothing but its name is known. #}
rejected as (
  select
    run_id,
    coalesce(suite, 'default') as suite,
    max(loaded_at) as loaded_at
  from {{ ref('int_passk__rejected_attempts') }}
  where run_id <> ''
  group by run_id, coalesce(suite, 'default')
)

select
  run_id,
  suite,
  agent,
  agent_version,
  model,
  loaded_at
from runs
where task_rows = 0
union all
select
  rejected.run_id,
  rejected.suite,
  runs.agent,
  runs.agent_version,
  runs.model,
  rejected.loaded_at
from rejected
left join runs
  on rejected.run_id = runs.run_id and rejected.suite = runs.suite
where runs.run_id is null
