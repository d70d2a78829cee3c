{#- The statements, in a hook of a model, that let the engine plan its query as it is. Postgres expects hardly a row of a join over several
    columns, so it would join by looping over all pairs of rows, and it would compile long queries for longer than they run. `local`: until
    the model is made. -#}
{% macro _plan_for_many_rows() -%}
  {{ return(adapter.dispatch('_plan_for_many_rows', 'passk')()) }}
{%- endmacro %}

{% macro default___plan_for_many_rows() -%}
{%- endmacro %}

{% macro postgres___plan_for_many_rows() -%}
set local enable_nestloop = off;
set local jit = off
{%- endmacro %}


{#- The same for a query of many steps, each of which reads the one before it: Spark gives up planning it after 100 rounds. Sail, whose
    tables are of another format, knows no such setting. -#}
{% macro _plan_many_steps() -%}
  {{ return(adapter.dispatch('_plan_many_steps', 'passk')()) }}
{%- endmacro %}

{% macro default___plan_many_steps() -%}
{%- endmacro %}

{% macro spark___plan_many_steps() -%}
{%- if target.type == 'spark' and env_var('PASSK_SPARK_FORMAT', 'parquet') == 'parquet' -%}
set spark.sql.analyzer.maxIterations = 1000
{%- endif -%}
{%- endmacro %}
