{#- A double within a sentence, with so many decimals at most; 2 is `2.0`. -#}
{% macro _round_to_text(expression, digits) -%}
  {{ return(adapter.dispatch('_round_to_text', 'passk')(expression, digits)) }}
{%- endmacro %}

{% macro default___round_to_text(expression, digits) -%}
cast(round({{ expression }}, {{ digits }}) as {{ dbt.type_string() }})
{%- endmacro %}

{#- Postgres rounds decimals only, and a decimal made from a double has lost digits by which it may round. -#}
{% macro postgres___round_to_text(expression, digits) -%}
{%- set scale = '1' ~ '0' * digits ~ 'e0' -%}
{{ passk._as_text(
  'sign(' ~ expression ~ ') * floor(abs(' ~ expression ~ ') * ' ~ scale ~ ' + 0.5e0) / ' ~ scale
) }}
{%- endmacro %}


{#- After the `as` of a CTE whose columns others use many times: made once. Postgres else writes its expressions into each
    place that names one, and where steps follow each other the text doubles with every step. -#}
{% macro _made_once() -%}
  {{ return(adapter.dispatch('_made_once', 'passk')()) }}
{%- endmacro %}

{% macro default___made_once() -%}
{%- endmacro %}

{#- The space is part of it, so that other engines get the text as it would be without. -#}
{% macro postgres___made_once() -%}
{{ return('materialized ') }}
{%- endmacro %}
