{{
  config(
    materialized='passk_incremental',
    full_refresh=false,
    post_hook="{{ passk._after_states(sql) }}",
  )
}}

{%- set formulas = passk._states_formulas(passk._setting('passk_ks')) %}

{#- A state never changes: an increment adds those that are new, and a full refresh has nothing to refresh. Other formulas,
    or another grid of k, make all of them anew, and so does asking for the functions of the database, made with them. #}
{%- set built_with = passk._version() ~ '/' ~ local_md5(formulas ~ passk._setting('passk_create_sql_functions')) %}
{%- set is_increment = passk._is_increment()
  and not passk._any_row('select 1 from ' ~ this ~ ' where built_with <> ' ~ passk._quoted(built_with)) %}

{%- set new_states = 'select distinct n, c from ' ~ ref('int_passk__task_counts') %}
{%- if is_increment %}
  {%- set new_states = new_states ~ ' ' ~ dbt.except() ~ ' select n, c from ' ~ this %}
{%- endif %}

{%- if is_increment and not passk._any_row(new_states) %}
{#- The formulas cost more to plan than to compute, and most increments bring no new state. #}
{{ passk._nothing_new() }}
{%- else %}
with states as (
  {{ new_states }}
),

{{ formulas }}

select
  *,
  {{ passk._quoted(built_with) }} as built_with
from results
{{ passk._more_rows() if is_increment }}
{%- endif %}
