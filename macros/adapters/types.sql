{#- Names of the types that engines spell differently. -#}

{% macro type_double() -%}
  {{ return(adapter.dispatch('type_double', 'passk')()) }}
{%- endmacro %}

{% macro default__type_double() -%} double precision {%- endmacro %}

{% macro duckdb__type_double() -%} double {%- endmacro %}

{% macro spark__type_double() -%} double {%- endmacro %}


{% macro type_tags() -%}
  {{ return(adapter.dispatch('type_tags', 'passk')()) }}
{%- endmacro %}

{% macro default__type_tags() -%} {{ dbt.type_string() }} {%- endmacro %}

{% macro duckdb__type_tags() -%} map(varchar, varchar) {%- endmacro %}

{% macro spark__type_tags() -%} map<string, string> {%- endmacro %}


{#- An integer wide enough for one bit an attempt, or none: then every task takes the road by a sort. -#}
{% macro type_mask() -%}
  {{ return(adapter.dispatch('type_mask', 'passk')()) }}
{%- endmacro %}

{% macro default__type_mask() -%} {{ dbt.type_bigint() }} {%- endmacro %}

{% macro duckdb__type_mask() -%} hugeint {%- endmacro %}
