{{ config(materialized='passk_incremental', unique_key=['run_id', 'suite']) }}

{%- set attributes = ['agent', 'agent_version', 'model'] %}

{%- set counted_runs %}
  select
    run_id,
    suite,
    max(loaded_at) as loaded_at,
    cast(sum(attempts + copies) as {{ dbt.type_bigint() }}) as log_rows,
    cast(sum(case when attempts > 0 then attempts + copies else 0 end) as {{ dbt.type_bigint() }}) as task_rows
  from {{ ref('int_passk__task_counts') }}
  where slice_name = 'all'
  group by run_id, suite
{%- endset %}
{%- set wanted = 'select run_id, suite, loaded_at, log_rows from (' ~ counted_runs ~ ') as counted_runs' %}
{%- set known = 'select run_id, suite, loaded_at, log_rows from ' ~ this %}
{%- set plan = passk._plan(['run_id', 'suite'], wanted, known) %}

{%- if plan.is_done %}
{{ passk._nothing_new() }}
{%- else %}
with counted_runs as (
  {{ counted_runs }}
),

{% if plan.changed -%}
changed_runs as (
  {{ plan.changed }}
),
{%- endif %}

runs as (
  select counted_runs.*
  from counted_runs
  {%- if plan.changed %}
  inner join changed_runs
    on counted_runs.run_id = changed_runs.run_id and counted_runs.suite = changed_runs.suite
  {%- endif %}
),

{# A run is one version of one agent, so its first attempts tell which: a hundredth of the log, and texts are what costs
    most to compare. #}
from_first_attempts as (
  select
    staged.run_id,
    staged.suite,
    {%- for attribute in attributes %}
    min({{ passk._by_bytes('staged.' ~ attribute) }}) as {{ attribute }},
    max({{ passk._by_bytes('staged.' ~ attribute) }}) as other_{{ attribute }}{%- if not loop.last %},{% endif %}
    {%- endfor %}
  from {{ ref('stg_passk__attempts') }} as staged
  {%- if plan.changed %}
  inner join changed_runs
    on staged.run_id = changed_runs.run_id and staged.suite = changed_runs.suite
  {%- endif %}
  where staged.reject_reason is null and staged.attempt = 1 and {{ passk._is_among(plan, 'staged.run_id') }}
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
  {{ passk._quoted(passk._built_with()) }} as built_with
from runs
inner join described
  on runs.run_id = described.run_id and runs.suite = described.suite
{{ passk._replaces(plan.changed) if plan.changed }}
{%- endif %}
