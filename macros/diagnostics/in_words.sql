{#- Pieces of what diagnostics find. -#}

{% macro _too_few_inform(tasks) -%}
{{ passk._whole(tasks) }} || ' tasks inform it, and {{ passk._least_tasks() }} are needed.'
{%- endmacro %}


{% macro _no_order() -%}
'The order of the attempts was not computed: the var passk_ordered_metrics is false.'
{%- endmacro %}
