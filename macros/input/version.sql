{#- The package's version. scripts/check_versions.py keeps it equal to dbt_project.yml and pyproject.toml. -#}
{% macro _version() -%}
  {{ return('0.1.0') }}
{%- endmacro %}
