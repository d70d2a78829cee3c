{{ config(materialized='view') }}
{#- The log of a harness gives the expected number of attempts, and a user's own table may give it in each row. A
    landing schema that another program filled may lack the table. -#}
{%- if passk._lands_expectations() %}
select
  run_id,
  suite,
  task_id,
  {#- A run may be in several files, each of which gives the number. #}
  max(expected_attempts) as expected_attempts,
  max(loaded_at) as loaded_at
from {{ source('passk_landing', 'expected_attempts') }}
group by run_id, suite, task_id
{%- elif passk._attempts_kind() in ['model', 'source', 'files'] %}
select
  run_id,
  suite,
  task_id,
  {#- Rows of a task that differ are a mistake; the largest number shows how many may be missing. #}
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
