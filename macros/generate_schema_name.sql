{#- In this project a custom schema is the schema's whole name, so that the public tables are plain names and everything
    else is in `passk_internal`. dbt asks the root project only: a project that installs the package keeps its own way. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
  {{ custom_schema_name | trim if custom_schema_name else target.schema }}
{%- endmacro %}
