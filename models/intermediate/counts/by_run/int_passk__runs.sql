{%- set attributes = ['agent', 'agent_version', 'model'] %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__task_counts')) }}
),

runs as (
  select
    counts.run_id,
    counts.suite,
    changed_runs.log_version,
    max(counts.loaded_at) as loaded_at,
    cast(sum(counts.attempts + counts.duplicates) as {{ dbt.type_bigint() }}) as log_rows,
    cast(
      sum(case when counts.attempts > 0 then counts.attempts + counts.duplicates else 0 end) as {{ dbt.type_bigint() }}
    ) as task_rows
  from {{ ref('int_passk__task_counts') }} as counts
  inner join changed_runs
    on counts.run_id = changed_runs.run_id and counts.suite = changed_runs.suite
  where counts.slice_name = 'all'
  group by counts.run_id, counts.suite, changed_runs.log_version
),

{# Attempts of each run in the log. They are more than the counted ones where a partial build skipped the sort-based
   fallback. #}
scanned as (
  select
    scans.run_id,
    scans.suite,
    cast(sum(scans.attempts) as {{ dbt.type_bigint() }}) as attempts
  from {{ ref('int_passk__task_scans') }} as scans
  inner join changed_runs
    on scans.run_id = changed_runs.run_id and scans.suite = changed_runs.suite
  where scans.slice_name = 'all'
  group by scans.run_id, scans.suite
),

{# A run is one version of one agent, so its first attempts name the agent. They are a hundredth of the log, and
   comparing texts is expensive. #}
from_first_attempts as (
  select
    staged.run_id,
    staged.suite,
    {%- for attribute in attributes %}
    min({{ passk._by_bytes('staged.' ~ attribute) }}) as {{ attribute }},
    max({{ passk._by_bytes('staged.' ~ attribute) }}) as other_{{ attribute }}{%- if not loop.last %},{% endif %}
    {%- endfor %}
  from {{ ref('stg_passk__attempts') }} as staged
  where staged.reject_reason is null and staged.attempt = 1 and {{ passk._is_of_changed_runs('staged') }}
  group by staged.run_id, staged.suite
),

{# Runs of which no task has an attempt number 1. #}
without_first_attempts as (
  select
    runs.run_id,
    runs.suite
  from runs
  left join from_first_attempts
    on runs.run_id = from_first_attempts.run_id and runs.suite = from_first_attempts.suite
  where from_first_attempts.run_id is null
),

from_all_attempts as (
  select
    staged.run_id,
    staged.suite,
    {%- for attribute in attributes %}
    min({{ passk._by_bytes('staged.' ~ attribute) }}) as {{ attribute }},
    max({{ passk._by_bytes('staged.' ~ attribute) }}) as other_{{ attribute }}{%- if not loop.last %},{% endif %}
    {%- endfor %}
  from {{ ref('stg_passk__attempts') }} as staged
  inner join without_first_attempts
    on staged.run_id = without_first_attempts.run_id and staged.suite = without_first_attempts.suite
  where staged.reject_reason is null
  group by staged.run_id, staged.suite
),

described as (
  select * from from_first_attempts
  union all
  select * from from_all_attempts
)

select
  runs.run_id,
  runs.suite,
  {%- for attribute in attributes %}
  described.{{ attribute }},
  described.other_{{ attribute }},
  {%- endfor %}
  runs.loaded_at,
  runs.log_rows,
  runs.task_rows,
  case when scanned.attempts = runs.log_rows then runs.log_version end as log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from runs
inner join described
  on runs.run_id = described.run_id and runs.suite = described.suite
inner join scanned
  on runs.run_id = scanned.run_id and runs.suite = scanned.suite
