{#- After the `as` of a CTE that others use many times: made once. Postgres else writes its expressions into each place that names
    one, and where steps follow each other the text doubles with every step. -#}
{% macro _made_once() -%}
  {{ return(adapter.dispatch('_made_once', 'passk')()) }}
{%- endmacro %}

{% macro default___made_once() -%}
{%- endmacro %}

{#- The space is part of it, so that other engines get the text as it would be without. -#}
{% macro postgres___made_once() -%}
{{ return('materialized ') }}
{%- endmacro %}


{#- The same for the steps of a long chain, each made from the one before: DuckDB before 2.0 takes twice as long to plan each further
    one where it is not told. -#}
{% macro _link() -%}
  {{ return(adapter.dispatch('_link', 'passk')()) }}
{%- endmacro %}

{% macro default___link() -%}
{%- endmacro %}

{% macro duckdb___link() -%}
{{ return('materialized ') }}
{%- endmacro %}

{% macro postgres___link() -%}
{{ return('materialized ') }}
{%- endmacro %}
