{#- The package's version. scripts/check_versions.py keeps it equal to the other places that name it. -#}
{% macro _version() -%}
  {{ return('0.2.0') }}
{%- endmacro %}
