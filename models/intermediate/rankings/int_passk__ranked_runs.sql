{#- Each is tested against each other, so their number is limited. #}
with runs as (
  select * from {{ ref('int_passk__run_order') }}
),

dated as (
  select
    suite,
    run_id,
    agent,
    agent_version,
    model,
    loaded_at,
    {{ passk._ordered_at('suite') }} as came_at
  from runs
),

{# A run of unknown time is the oldest on every engine. #}
placed as (
  select
    suite,
    run_id,
    agent,
    agent_version,
    model,
    loaded_at,
    row_number() over (
      partition by suite
      order by case when came_at is null then 1 else 0 end, came_at desc, {{ passk._by_bytes('run_id') }} desc
    ) as age
  from dated
)

select *
from placed
where age <= {{ passk._setting('passk_ranked_runs') }}
