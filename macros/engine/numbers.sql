{#- A double within a sentence, with so many decimals at most; 2 is `2.0`. -#}
{% macro _round_to_text(expression, digits) -%}
  {{ return(adapter.dispatch('_round_to_text', 'passk')(expression, digits)) }}
{%- endmacro %}

{#- Postgres rounds decimals only, and a decimal made from a double has lost digits by which it may round; Spark rounds what it
    would print. -#}
{% macro default___round_to_text(expression, digits) -%}
{%- set scale = '1' ~ '0' * digits ~ 'e0' -%}
{{ passk._as_text(
  'sign(' ~ expression ~ ') * floor(abs(' ~ expression ~ ') * ' ~ scale ~ ' + 0.5e0) / ' ~ scale
) }}
{%- endmacro %}

{% macro duckdb___round_to_text(expression, digits) -%}
cast(round({{ expression }}, {{ digits }}) as {{ dbt.type_string() }})
{%- endmacro %}


{#- The time between two times, as a double. -#}
{% macro _microseconds(start, end) -%}
  {{ return(adapter.dispatch('_microseconds', 'passk')(start, end)) }}
{%- endmacro %}

{% macro default___microseconds(start, end) -%}
cast(
      {{ dbt.datediff(start, end, 'microsecond') | trim }}
      as {{ passk.type_double() }}
    )
{%- endmacro %}

{#- dbt's own takes no microseconds there. -#}
{% macro trino___microseconds(start, end) -%}
((to_unixtime({{ end }}) - to_unixtime({{ start }})) * 1e6)
{%- endmacro %}

{#- dbt's own takes whole seconds there. -#}
{% macro spark___microseconds(start, end) -%}
cast(unix_micros({{ end }}) - unix_micros({{ start }}) as double)
{%- endmacro %}


{#- The sum of doubles of a moderate size, the same to the last digit in whatever order an engine adds them up. -#}
{% macro _exact_sum(expression) -%}
  {{ return(adapter.dispatch('_exact_sum', 'passk')(expression)) }}
{%- endmacro %}

{% macro default___exact_sum(expression) -%}
cast(sum(cast({{ expression }} as decimal(38, 18))) as {{ passk.type_double() }})
{%- endmacro %}

{% macro bigquery___exact_sum(expression) -%}
cast(sum(cast({{ expression }} as bignumeric)) as {{ passk.type_double() }})
{%- endmacro %}
