{#- The expected number is compared with the attempts of the same build, so it is kept: a log that has landed since is in
    neither. -#}
{{ config(materialized='table') }}

select
  run_id,
  suite,
  task_id,
  expected_attempts,
  loaded_at,
  {{ passk._quoted(passk._built_with()) }} as built_with
from {{ ref('stg_passk__expected_attempts') }}
