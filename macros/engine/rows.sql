{#- The columns of a row as one value, which can be counted. -#}
{% macro _row_of(columns) -%}
  {{ return(adapter.dispatch('_row_of', 'passk')(columns)) }}
{%- endmacro %}

{% macro default___row_of(columns) -%} ({{ columns | join(', ') }}) {%- endmacro %}

{#- Of texts, because what runs Snowflake's SQL elsewhere has arrays of one type only. -#}
{% macro snowflake___row_of(columns) -%}
array_construct({% for column in columns %}cast({{ column }} as {{ dbt.type_string() }}){{ ', ' if not loop.last }}{% endfor %})
{%- endmacro %}

{#- Redshift and BigQuery count no rows, but texts. -#}
{% macro redshift___row_of(columns) -%} json_serialize(array({{ columns | join(', ') }})) {%- endmacro %}

{% macro bigquery___row_of(columns) -%} to_json_string(struct({{ columns | join(', ') }})) {%- endmacro %}
