{{ config(materialized='view') }}
{#- A harness says in its log how many attempts it was told to make, and anyone's own table may say it in each row. A landing
    schema that another program filled may not have the table. -#}
{%- if passk._lands_expectations() %}
select
  run_id,
  suite,
  task_id,
  {#- A run may lie in more than one file, each of which says it. #}
  max(expected_attempts) as expected_attempts,
  max(loaded_at) as loaded_at
from {{ source('passk_landing', 'expected_attempts') }}
group by run_id, suite, task_id
{%- elif passk._attempts_kind() in ['model', 'source', 'files'] %}
select
  run_id,
  suite,
  task_id,
  {#- Rows of a task that differ are not what they should be; the most says how many may be missing. #}
  max(expected_attempts) as expected_attempts,
  max(loaded_at) as loaded_at
from {{ ref('stg_passk__attempts') }}
where reject_reason is null and expected_attempts is not null
group by run_id, suite, task_id
{%- else %}
select
  cast(null as {{ dbt.type_string() }}) as run_id,
  cast(null as {{ dbt.type_string() }}) as suite,
  cast(null as {{ dbt.type_string() }}) as task_id,
  cast(null as {{ dbt.type_bigint() }}) as expected_attempts,
  cast(null as {{ dbt.type_timestamp() }}) as loaded_at
where 1 = 0
{%- endif %}
