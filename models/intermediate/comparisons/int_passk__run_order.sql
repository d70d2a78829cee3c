{#- A run of unknown time comes first on every engine, although engines sort nulls differently. -#}
{%- set in_order = 'partition by suite, agent order by is_timed, ordered_at, ' ~ passk._by_bytes('run_id') -%}

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

started as (
  select
    runs.suite,
    runs.run_id,
    runs.agent,
    runs.agent_version,
    runs.model,
    runs.loaded_at,
    starts.started_at
  from runs
  inner join starts
    on runs.run_id = starts.run_id and runs.suite = starts.suite
),

dated as (
  select
    *,
    {{ passk._ordered_at('suite, agent') }} as ordered_at
  from started
),

timed as (
  select
    *,
    case when ordered_at is null then 0 else 1 end as is_timed
  from dated
)

select
  suite,
  run_id,
  agent,
  agent_version,
  model,
  loaded_at,
  started_at,
  ordered_at,
  row_number() over ({{ in_order }}) as place,
  lag(run_id) over ({{ in_order }}) as previous_run_id,
  lead(run_id) over ({{ in_order }}) is null as is_latest
from timed
