{#- ln(1 - part / whole) for 0 <= part < whole, to the last digits where the part is small. Near the whole it is off by what the
    division rounds, which exp() of it makes small.

    ln(1 - x) = -2 atanh(x / (2 - x)). Where an engine has no atanh, Kahan's correction takes its place. -#}
{% macro _log_of_rest(part, whole) -%}
  {{ return(adapter.dispatch('_log_of_rest', 'passk')(part, whole)) }}
{%- endmacro %}

{% macro default___log_of_rest(part, whole) -%}
-2 * atanh({{ part }} / (2 * {{ whole }} - {{ part }}))
{%- endmacro %}

{% macro trino___log_of_rest(part, whole) -%}
{{ passk._log1p('0 - ' ~ part ~ ' / ' ~ whole) }}
{%- endmacro %}

{% macro redshift___log_of_rest(part, whole) -%} {{ return(passk.trino___log_of_rest(part, whole)) }} {%- endmacro %}
