{{
  config(
    materialized='passk_incremental',
    full_refresh=false,
    post_hook="{{ passk._after_states(sql) }}",
  )
}}

{%- set formulas = passk._states_formulas(passk._setting('passk_ks')) %}

{#- Asking for the functions of the database, which share the formulas, makes them anew too. #}
{%- set plan = passk._state_plan(formulas ~ passk._setting('passk_create_sql_functions')) %}

{%- if plan.is_done %}
{{ passk._nothing_new() }}
{%- else %}
with states as (
  {{ plan.new_states }}
),

{{ formulas }}

select
  *,
  {{ passk._quoted(plan.built_with) }} as built_with
from results
{{ passk._more_rows() if plan.is_increment }}
{%- endif %}
