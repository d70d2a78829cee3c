{#- Pieces of what diagnostics find. -#}

{% macro _too_few_inform(tasks) -%}
{{ passk._whole(tasks) }} || ' tasks inform it, and {{ passk._least_tasks() }} are needed.'
{%- endmacro %}


{% macro _no_order() -%}
'The order of the attempts was not computed: the var passk_ordered_metrics is false.'
{%- endmacro %}


{#- The end of a finding on a run of which only some tasks were read; from columns `read_tasks` and `tasks`. -#}
{% macro _some_read() -%}
case
      when read_tasks < tasks
        then ' Read of ' || {{ passk._whole('read_tasks') }} || ' of ' || {{ passk._whole('tasks') }} || ' tasks.'
      else ''
    end
{%- endmacro %}
