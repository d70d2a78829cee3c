{#- A power of a base above 0 that may be too small for a number: an error on some engines, and 0 here. -#}
{% macro _small_power(base, exponent) -%}
case when {{ exponent }} * ln({{ base }}) < -600 then 0e0 else exp({{ exponent }} * ln({{ base }})) end
{%- endmacro %}
