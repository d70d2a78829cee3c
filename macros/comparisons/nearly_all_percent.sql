{#- The percentage of the tasks of a run that another must share at least. Written by scripts/written_macros.py
    from passk_py/metrics/nearly_all.py. -#}
{% macro _nearly_all_percent() -%}
  {{ return(90) }}
{%- endmacro %}
