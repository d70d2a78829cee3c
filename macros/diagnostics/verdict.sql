{#- From a test to its verdict. -#}

{#- How many tasks a test needs: with fewer the normal approximation of its statistic is none. -#}
{% macro _least_tasks() -%}
  {{ return(10) }}
{%- endmacro %}


{#- How many attempts of a run are read for seeds, outputs and times: enough for every diagnostic, whatever the size of the
    log. And how many tasks at least, however many attempts they have. -#}
{% macro _most_read_attempts() -%}
  {{ return(20000) }}
{%- endmacro %}

{% macro _least_read_tasks() -%}
  {{ return(50) }}
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


{#- Numbers within sentences. -#}
{% macro _whole(expression) -%}
cast({{ expression }} as {{ dbt.type_string() }})
{%- endmacro %}

{% macro _rounded(expression, digits=3) -%}
{{ passk._round_to_text(expression, digits) }}
{%- endmacro %}
