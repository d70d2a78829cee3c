{#- The estimators as functions of the database, for people who ask in SQL: `select pass_hat_k(16, 14, 4)`.

    Binding them takes a tenth of a second, so they are made where int_passk__estimates_by_count, with which they share the
    formulas, has no row of this version and these vars. -#}
{% macro _make_outdated_functions() -%}
  {%- if not is_incremental() or not run_query(
    'select 1 from ' ~ this ~ ' where built_with = ' ~ passk._quoted(passk._built_with()) ~ ' limit 1'
  ).rows | length -%}
    {{ passk.create_sql_functions(this.database) }}
  {%- endif -%}
{%- endmacro %}


{#- `database` is that of the models, by default that of the target: a transaction writes to one only. -#}
{% macro create_sql_functions(database=none) -%}
  {%- if execute and var('passk_create_sql_functions', true) -%}
    {{ return(adapter.dispatch('create_sql_functions', 'passk')(database or target.database)) }}
  {%- endif -%}
{%- endmacro %}


{#- Where the functions lie: beside the public tables, where those look who ask in SQL. A unit test has no nodes to ask. -#}
{% macro _functions_schema() -%}
  {%- set schemas = [] -%}
  {%- if execute -%}
    {%- for name, node in graph.get('nodes', {}) | dictsort if node.package_name == 'passk' and 'marts' in node.fqn -%}
      {%- if node.resource_type == 'model' -%}
        {%- do schemas.append(node.schema) -%}
      {%- endif -%}
      {%- if name == 'model.passk.passk_suite_metrics' -%}
        {%- do schemas.insert(0, node.schema) -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {{ return(schemas[0] if schemas else target.schema) }}
{%- endmacro %}


{#- Makes that schema where it is not there yet: a run of some models has not made those of the others. Within the transaction,
    which dbt's own way would end. -#}
{% macro _functions_schema_made(database, schema, place) -%}
  {%- if not adapter.check_schema_exists(database, schema) -%}
  create schema if not exists {{ place }};
  {%- endif -%}
{%- endmacro %}


{% macro default__create_sql_functions(database) -%}
{%- endmacro %}

{#- Name, arguments and body of each; a body may call those before it in their `place`. -#}
{% macro _sql_functions(place) -%}
  {{ return([
    ['pass_at_k', ['n', 'c', 'k'], passk.pass_at_k('n', 'c', 'k')],
    ['pass_hat_k', ['n', 'c', 'k'], passk.pass_hat_k('n', 'c', 'k')],
    ['log_choose', ['n', 'k'], passk.log_choose('n', 'k')],
    ['pass_at_k_plugin', ['n', 'c', 'k'], passk.pass_at_k_plugin('n', 'c', 'k')],
    ['pass_hat_k_plugin', ['n', 'c', 'k'], passk.pass_hat_k_plugin('n', 'c', 'k')],
    ['pass_at_k_pooled', ['pass_1', 'k'], passk.pass_at_k_pooled('pass_1', 'k')],
    ['pass_hat_k_pooled', ['pass_1', 'k'], passk.pass_hat_k_pooled('pass_1', 'k')],
    ['delta_k_max', ['pass_1', 'k'], passk.delta_k_max('pass_1', 'k')],
    ['pass_m_of_k', ['n', 'c', 'm', 'k'], passk._pass_m_of_k_by_functions(place)]
  ]) }}
{%- endmacro %}

{% macro duckdb__create_sql_functions(database) -%}
  {%- set schema = passk._functions_schema() -%}
  {%- set place = '"' ~ database ~ '"."' ~ schema ~ '"' -%}
  {{ passk._functions_schema_made(database, schema, place) }}
  {%- for name, arguments, body in passk._sql_functions(place) %}
  create or replace macro {{ place }}.{{ name }}({{ arguments | join(', ') }}) as (
    {{ body }}
  );
  {%- endfor %}
{%- endmacro %}

{#- All arguments are doubles, which integers become by themselves. -#}
{% macro postgres__create_sql_functions(database) -%}
  {%- set schema = passk._functions_schema() -%}
  {%- set place = '"' ~ schema ~ '"' -%}
  {{ passk._functions_schema_made(database, schema, place) }}
  {%- for name, arguments, body in passk._sql_functions(place) %}
  create or replace function {{ place }}.{{ name }}({{ arguments | join(' double precision, ') }} double precision)
  returns double precision language sql immutable parallel safe as $passk$
    select {{ body }}
  $passk$;
  {%- endfor %}
{%- endmacro %}


{#- The sum of an expression in the whole number j, from one column to another. -#}
{% macro _sum_over_j(start, end, expression) -%}
  {{ return(adapter.dispatch('_sum_over_j', 'passk')(start, end, expression)) }}
{%- endmacro %}

{% macro duckdb___sum_over_j(start, end, expression) -%}
list_sum(list_transform(range(cast({{ start }} as bigint), cast({{ end }} as bigint) + 1), lambda j: {{ expression }}))
{%- endmacro %}

{% macro default___sum_over_j(start, end, expression) -%}
(select sum({{ expression }}) from generate_series(cast({{ start }} as bigint), cast({{ end }} as bigint)) as numbers (j))
{%- endmacro %}
