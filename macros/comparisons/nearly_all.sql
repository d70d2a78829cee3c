{#- The condition that so many tasks are enough of the whole for what holds of them to hold of the suite. -#}
{% macro _are_nearly_all(part, whole) -%}
{{ part }} * 100 >= {{ whole }} * {{ passk._nearly_all_percent() }}
{%- endmacro %}
