{{ config(materialized='passk_incremental', full_refresh=false) }}

{#- The states that are known already, so that no task is read for them again. #}
{{ passk._state_table(
  passk._state_limits_formulas(), passk._distinct_states(ref('int_passk__states'), least_n=1)
) }}
