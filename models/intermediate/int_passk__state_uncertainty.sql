{{ config(materialized='passk_incremental', full_refresh=false) }}

{#- The states that are known already, so that no task is read for them again. #}
{{ passk._state_table(
  passk._state_uncertainty_formulas(passk._setting('passk_ks')),
  passk._distinct_states(ref('int_passk__states'), least_n=1),
  results='results_by_state',
  more_formulas=passk._state_limits_formulas()
) }}
