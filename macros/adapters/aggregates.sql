{#- A text that is the same in all rows of a group. Cheaper than min() where the engine has something for it; a run that
    breaks the contract by having two agents gets one of them, and a warning in passk_runs. -#}
{% macro _constant_text(column) -%}
  {{ return(adapter.dispatch('_constant_text', 'passk')(column)) }}
{%- endmacro %}

{% macro default___constant_text(column) -%}
min({{ column }})
{%- endmacro %}

{% macro duckdb___constant_text(column) -%}
any_value({{ column }})
{%- endmacro %}
