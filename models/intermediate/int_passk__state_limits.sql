{{ config(materialized='passk_incremental', full_refresh=false) }}

{%- set formulas = passk._state_limits_formulas() %}
{%- set plan = passk._state_plan(formulas, least_n=1) %}

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
