{#- Families of tasks: what their names begin with, before digits and the marks between; null where nothing is left. -#}
{% macro _name_of_family(name) -%}
nullif({{ passk._without_end(name, '0123456789-_./:# ') }}, '')
{%- endmacro %}
