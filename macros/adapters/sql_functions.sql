{#- The estimators as functions of the database, for people who ask in SQL: `select pass_hat_k(16, 14, 4)`. -#}
{% macro create_sql_functions() -%}
  {{ return(adapter.dispatch('create_sql_functions', 'passk')()) }}
{%- endmacro %}

{% macro default__create_sql_functions() -%}
{%- endmacro %}

{% macro duckdb__create_sql_functions() -%}
  {%- if execute and var('passk_create_sql_functions', true) -%}
    {%- set functions = {
      'pass_at_k(n, c, k)': passk.pass_at_k('n', 'c', 'k'),
      'pass_hat_k(n, c, k)': passk.pass_hat_k('n', 'c', 'k'),
      'log_choose(n, k)': passk.log_choose('n', 'k'),
      'pass_at_k_plugin(n, c, k)': passk.pass_at_k_plugin('n', 'c', 'k'),
      'pass_hat_k_plugin(n, c, k)': passk.pass_hat_k_plugin('n', 'c', 'k'),
      'pass_at_k_pooled(pass_1, k)': passk.pass_at_k_pooled('pass_1', 'k'),
      'pass_hat_k_pooled(pass_1, k)': passk.pass_hat_k_pooled('pass_1', 'k'),
      'delta_k_max(pass_1, k)': passk.delta_k_max('pass_1', 'k')
    } -%}
    {#- Binding these takes a tenth of a second, so only what is not there yet is made. -#}
    {%- set version = passk._version() ~ '/' ~ local_md5(functions | tojson) -%}
    {%- set known = run_query(
      "select 1 from duckdb_functions() where function_name = 'passk_functions_version' and database_name = '"
      ~ target.database ~ "' and schema_name = '" ~ target.schema ~ "' and macro_definition like '%" ~ version ~ "%'"
    ) -%}
    {%- if known.rows | length == 0 -%}
      {%- do functions.update({'passk_functions_version()': passk._quoted(version)}) -%}
      {%- for signature, body in functions.items() %}
    create or replace macro "{{ target.database }}"."{{ target.schema }}".{{ signature }} as (
      {{ body }}
    );
      {%- endfor -%}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}
