{#- From a test to its verdict. -#}

{#- How many tasks a test needs: with fewer the normal approximation of its statistic is none. -#}
{% macro _least_tasks() -%}
  {{ return(10) }}
{%- endmacro %}


{#- How many tasks of a run its copies and times are read of: enough for every diagnostic, whatever the size of the log. -#}
{% macro _most_read_tasks() -%}
  {{ return(1000) }}
{%- endmacro %}


{% macro diagnostic_verdict(p, tasks, alpha=none) -%}
  {{- passk._check_share('diagnostic_verdict', 'p', p) -}}
  {{- passk._check_count('diagnostic_verdict', 'tasks', tasks, 0) -}}
  {%- set level = (1 - passk._setting('passk_confidence')) | round(6) if alpha is none else alpha -%}
  {{- passk._check_share('diagnostic_verdict', 'alpha', level) -}}
  {{ return(adapter.dispatch('diagnostic_verdict', 'passk')(p, tasks, level)) }}
{%- endmacro %}

{% macro default__diagnostic_verdict(p, tasks, alpha) -%}
case
  when {{ tasks }} is null or {{ tasks }} < {{ passk._least_tasks() }} or ({{ p }}) is null then 'insufficient'
  when ({{ p }}) < {{ passk._as_double(alpha) }} then 'warning'
  else 'ok'
end
{%- endmacro %}


{#- The two-sided p of a standard normal statistic. -#}
{% macro _two_sided(z) -%}
2 * {{ passk.normal_tail('abs(' ~ z ~ ')') }}
{%- endmacro %}


{#- Numbers within sentences. -#}
{% macro _whole(expression) -%}
cast({{ expression }} as {{ dbt.type_string() }})
{%- endmacro %}

{% macro _rounded(expression, digits=3) -%}
cast(round({{ expression }}, {{ digits }}) as {{ dbt.type_string() }})
{%- endmacro %}
