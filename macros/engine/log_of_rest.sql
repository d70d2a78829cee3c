{#- ln(1 - part / whole) for 0 <= part < whole, to the last digits where the part is small. Near the whole it is off by what the
    division rounds, which exp() of it makes small.

    -2 atanh(x / (2 - x)) of x = part / whole is as accurate and shorter, where an engine is known to have a good atanh. -#}
{% macro _log_of_rest(part, whole) -%}
  {{ return(adapter.dispatch('_log_of_rest', 'passk')(part, whole)) }}
{%- endmacro %}

{% macro default___log_of_rest(part, whole) -%}
{{ passk._log1p('0 - ' ~ part ~ ' / ' ~ whole) }}
{%- endmacro %}

{% macro duckdb___log_of_rest(part, whole) -%}
-2 * atanh({{ part }} / (2 * {{ whole }} - {{ part }}))
{%- endmacro %}

{% macro postgres___log_of_rest(part, whole) -%} {{ return(passk.duckdb___log_of_rest(part, whole)) }} {%- endmacro %}

{% macro spark___log_of_rest(part, whole) -%} {{ return(passk.duckdb___log_of_rest(part, whole)) }} {%- endmacro %}
