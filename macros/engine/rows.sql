{#- The columns of a row as one value, which can be counted. -#}
{% macro _row_of(columns) -%}
  {{ return(adapter.dispatch('_row_of', 'passk')(columns | join(', '))) }}
{%- endmacro %}

{% macro default___row_of(columns) -%} ({{ columns }}) {%- endmacro %}

{% macro snowflake___row_of(columns) -%} array_construct({{ columns }}) {%- endmacro %}

{#- Redshift and BigQuery count no rows, but texts. -#}
{% macro redshift___row_of(columns) -%} json_serialize(array({{ columns }})) {%- endmacro %}

{% macro bigquery___row_of(columns) -%} to_json_string(struct({{ columns }})) {%- endmacro %}
