{{ config(materialized='passk_incremental', full_refresh=false) }}

{{ passk._state_table(
  passk._state_uncertainty_formulas(passk._setting('passk_ks')),
  results='results_by_state',
  more_formulas=passk._state_limits_formulas(),
  least_n=1
) }}
