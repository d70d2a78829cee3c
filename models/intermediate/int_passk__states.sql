{{
  config(
    materialized='passk_incremental',
    full_refresh=false,
    post_hook="{{ passk._after_states(sql) }}",
  )
}}

{#- Asking for the functions of the database, which share the formulas, or moving them, makes them anew too. #}
{{ passk._state_table(
  passk._states_formulas(passk._setting('passk_ks')),
  passk._likely_states(ref('int_passk__task_counts')),
  more_formulas=passk._setting('passk_create_sql_functions') ~ passk._functions_schema()
) }}
