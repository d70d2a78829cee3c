{{ config(materialized='passk_incremental', unique_key=['run_id', 'suite']) }}
{{ passk._depends_on_changes() }}

{%- set since = passk._increment_since() %}
{%- set attributes = ['agent', 'agent_version', 'model'] %}

{%- if since and not passk._any_row(passk._changed(['run_id', 'suite'], since)) %}
{{ passk._nothing_new() }}
{%- else %}
with counted_runs as (
  select
    run_id,
    suite,
    max(loaded_at) as loaded_at
  from {{ ref('int_passk__task_counts') }}
  where slice_name = 'all'
  group by run_id, suite
),

{% if since -%}
changed_runs as (
  {{ passk._changed(['run_id', 'suite'], since) }}
),
{%- endif %}

runs as (
  select counted_runs.*
  from counted_runs
  {%- if since %}
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
    min(staged.{{ attribute }}) as {{ attribute }},
    max(staged.{{ attribute }}) as other_{{ attribute }}{%- if not loop.last %},{% endif %}
    {%- endfor %}
  from {{ ref('stg_passk__attempts') }} as staged
  {%- if since %}
  inner join changed_runs
    on staged.run_id = changed_runs.run_id and staged.suite = changed_runs.suite
  {%- endif %}
  where staged.reject_reason is null and staged.attempt = 1
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
    min(staged.{{ attribute }}) as {{ attribute }},
    max(staged.{{ attribute }}) as other_{{ attribute }}{%- if not loop.last %},{% endif %}
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
  {{ passk._quoted(passk._built_with()) }} as built_with
from runs
inner join described
  on runs.run_id = described.run_id and runs.suite = described.suite
{{ passk._replaces(passk._changed(['run_id', 'suite'], since)) if since }}
{%- endif %}
