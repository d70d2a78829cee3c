{#- A p-value as a column holds it: one that is too small for a double would be 0, which no test finds. 1e-300 stands for all below. -#}
{% macro _p_value(p) -%}
case when {{ p }} < 1e-300 then 1e-300 else {{ p }} end
{%- endmacro %}
