{#- Whether dbt runs models in Python on the engine. -#}
{% macro _runs_python_models() -%}
  {{ return(adapter.dispatch('_runs_python_models', 'passk')()) }}
{%- endmacro %}

{% macro default___runs_python_models() -%} {{ return(false) }} {%- endmacro %}

{% macro duckdb___runs_python_models() -%} {{ return(true) }} {%- endmacro %}


{#- The name of the engine. -#}
{% macro _engine() -%}
  {{ return(target.type) }}
{%- endmacro %}
