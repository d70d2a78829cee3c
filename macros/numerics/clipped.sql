{#- A value, not below `low` and not above `high`. Null where it is null: greatest and least pass over nulls in some engines. -#}
{% macro _clipped(value, low, high) -%}
case when {{ value }} < {{ low }}e0 then {{ low }}e0 when {{ value }} > {{ high }}e0 then {{ high }}e0 else {{ value }} end
{%- endmacro %}
