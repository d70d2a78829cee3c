{#- The estimators as functions of the database, for people who ask in SQL: `select pass_hat_k(16, 14, 4)`.

    Made with int_passk__states, whose formulas they share: when all of that is made. Binding them takes a tenth of a second,
    so other builds leave them as they are. -#}
{% macro _after_states(sql) -%}
  {%- if execute and not passk._told(sql, 'nothing new') and not passk._told(sql, 'more rows') -%}
    {{ passk.create_sql_functions(this.database) }}
  {%- endif -%}
{%- endmacro %}


{#- `database` is that of the models, by default that of the target: a transaction writes to one only. -#}
{% macro create_sql_functions(database=none) -%}
  {%- if execute and var('passk_create_sql_functions', true) -%}
    {#- A project may put all of its models elsewhere, and then nobody has made the schema, nor wants it. -#}
    {%- if adapter.check_schema_exists(database or target.database, target.schema) -%}
      {{ return(adapter.dispatch('create_sql_functions', 'passk')(database or target.database)) }}
    {%- endif -%}
    {%- do log('passk makes no SQL functions, because there is no schema ' ~ target.schema ~ '.', info=true) -%}
  {%- endif -%}
{%- endmacro %}

{% macro default__create_sql_functions(database) -%}
{%- endmacro %}

{#- Name, arguments and body of each. -#}
{% macro _sql_functions() -%}
  {{ return([
    ['pass_at_k', ['n', 'c', 'k'], passk.pass_at_k('n', 'c', 'k')],
    ['pass_hat_k', ['n', 'c', 'k'], passk.pass_hat_k('n', 'c', 'k')],
    ['log_choose', ['n', 'k'], passk.log_choose('n', 'k')],
    ['pass_at_k_plugin', ['n', 'c', 'k'], passk.pass_at_k_plugin('n', 'c', 'k')],
    ['pass_hat_k_plugin', ['n', 'c', 'k'], passk.pass_hat_k_plugin('n', 'c', 'k')],
    ['pass_at_k_pooled', ['pass_1', 'k'], passk.pass_at_k_pooled('pass_1', 'k')],
    ['pass_hat_k_pooled', ['pass_1', 'k'], passk.pass_hat_k_pooled('pass_1', 'k')],
    ['delta_k_max', ['pass_1', 'k'], passk.delta_k_max('pass_1', 'k')]
  ]) }}
{%- endmacro %}

{% macro duckdb__create_sql_functions(database) -%}
  {%- for name, arguments, body in passk._sql_functions() %}
  create or replace macro "{{ database }}"."{{ target.schema }}".{{ name }}({{ arguments | join(', ') }}) as (
    {{ body }}
  );
  {%- endfor %}
{%- endmacro %}

{#- All arguments are doubles, which integers become by themselves. -#}
{% macro postgres__create_sql_functions(database) -%}
  {%- for name, arguments, body in passk._sql_functions() %}
  create or replace function "{{ target.schema }}".{{ name }}({{ arguments | join(' double precision, ') }} double precision)
  returns double precision language sql immutable parallel safe as $passk$
    select {{ body }}
  $passk$;
  {%- endfor %}
{%- endmacro %}
