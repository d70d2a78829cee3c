{{ config(materialized='passk_incremental', full_refresh=false) }}

{{ passk._state_table(passk._state_limits_formulas(), least_n=1) }}
