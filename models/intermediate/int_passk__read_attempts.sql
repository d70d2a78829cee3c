{{
  config(
    materialized='passk_incremental',
    unique_key=['run_id', 'suite', 'task_id'],
    meta={'shaped_by': ['passk_diagnostics']},
  )
}}
{{ passk._depends_on_changes() }}
-- depends_on: {{ ref('int_passk__attempts') }}
{%- if passk._attempts_kind() == 'landing' %}
-- depends_on: {{ source('passk_landing', 'removed_tasks') }}
{%- endif %}

{%- set keys = ['run_id', 'suite'] %}
{%- set task = ['run_id', 'suite', 'task_id'] %}
{%- set columns = task + ['seed', 'output_hash', 'started_at', 'tried_again', 'passed', 'loaded_at'] %}
{%- set bigint = dbt.type_bigint() %}

{#- Most logs have none of these, and then no attempt is read. Engines see that a column holds nothing without a scan. #}
{%- set is_wanted = passk._setting('passk_diagnostics') and (
  passk._may_have_rows(ref('stg_passk__attempts'), 'started_at is not null')
  or passk._may_have_rows(ref('stg_passk__attempts'), 'seed is not null')
  or passk._may_have_rows(ref('stg_passk__attempts'), 'output_hash is not null')
  or passk._may_have_rows(ref('stg_passk__attempts'), 'tags is not null')
) %}
{%- set wanted = passk._wanted_runs(is_wanted) ~ ' and task_rows > ' ~ passk._most_reread_rows() %}
{%- set known = 'select run_id, suite, loaded_at, log_rows from ' ~ this ~ " where task_id = ''" %}
{%- set plan = passk._plan(keys, wanted, known) %}

{%- if plan.is_done %}
{{ passk._nothing_new() }}
{%- else %}

{#- Kept attempts are added to, like what task_scans knows. What they lack, because their task was not read before, lost
    attempts or holds copies, is read from the log; what they have of tasks that are read no more is dropped. -#}
{%- set adds_up = plan.changed is not none and passk._attempts_kind() == 'landing' %}
{%- set since = plan.since if adds_up %}
{%- set has_removed = adds_up and passk._any_row(passk._removed(task, since)) %}

{%- set replaced_runs = passk._tasks_of_runs(this, plan.changed) %}

{#- Asked for first: engines look through the log for no task at all, and few rows are replaced in place of many. #}
{%- set few = {'selects': none, 'literals': none} %}
{%- if adds_up %}
  {%- set few = passk._few_rows(task + ['kind'], passk._replaced_tasks(keys, wanted, plan, since, has_removed)) %}
{%- endif %}
{%- set has_few = few.selects is not none %}
{%- set has_lacking = not has_few or passk._quoted('lacking') in few.literals.kind %}

with {{ passk._chosen_tasks(keys, wanted, plan) }},

{% if adds_up -%}
{{ passk._known_attempts(since, has_removed) }},

{% endif -%}

read_counts as (
  select
    run_id,
    suite,
    cast(count(*) as {{ bigint }}) as read_tasks
  from read_tasks
  group by run_id, suite
),

attempts as (
  {%- if has_lacking %}
  select
    {{ passk._read_columns('attempts') }},
    attempts.loaded_at
  {{ passk._from_log('lacking_tasks' if adds_up else 'read_tasks', plan) }}
    and {{ passk._is_among(few, 'attempts.task_id', ['task_id']) }}
  {%- endif %}
  {%- for relation in (['arrived'] if has_few else ['kept', 'arrived']) if adds_up %}
  {{ 'union all' if has_lacking or not loop.first }}
  select {{ relation }}.*
  from {{ relation }}
  {%- if has_lacking %}
  inner join whole_tasks
    on {{ passk._same_keys(task, relation, 'whole_tasks') }}
  {%- endif %}
  {%- endfor %}
)

select
  {{ columns[:-1] | join(',\n  ') }},
  cast(null as {{ bigint }}) as read_tasks,
  loaded_at,
  cast(null as {{ bigint }}) as log_rows,
  {{ passk._quoted(passk._built_with()) }} as built_with
from attempts
union all
{#- One row of each run that can be found without a look at the others. No task has an empty name. #}
select
  runs.run_id,
  runs.suite,
  '' as task_id,
  cast(null as {{ bigint }}) as seed,
  cast(null as {{ dbt.type_string() }}) as output_hash,
  cast(null as {{ dbt.type_timestamp() }}) as started_at,
  cast(null as {{ bigint }}) as tried_again,
  cast(null as {{ bigint }}) as passed,
  read_counts.read_tasks,
  runs.loaded_at,
  runs.log_rows,
  {{ passk._quoted(passk._built_with()) }} as built_with
from runs
inner join read_counts
  on runs.run_id = read_counts.run_id and runs.suite = read_counts.suite
{%- if has_few %}
  {%- set replaced = ['select run_id, suite, \'\' as task_id from (' ~ plan.changed ~ ') as changed'] %}
  {%- for select in few.selects %}
    {%- do replaced.append('select run_id, suite, task_id from (' ~ select ~ ') as few') %}
  {%- endfor %}
{{ passk._replaces(replaced | join(' union all ')) }}
{%- elif plan.changed %}
{{ passk._replaces(replaced_runs) }}
{%- endif %}
{%- endif %}
