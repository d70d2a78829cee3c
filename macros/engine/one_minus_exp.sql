{#- 1 - exp(x) for x <= 0 without cancellation.

    x is a long expression, so its copies matter: DuckDB's sinh is accurate near 0 and needs two. Far from 0 the product
    may round to the number after 1. Where an engine's sinh is not known to be accurate, Kahan's correction of ln(exp(x))
    needs six. -#}
{% macro _one_minus_exp(x) -%}
  {{ return(adapter.dispatch('_one_minus_exp', 'passk')(x)) }}
{%- endmacro %}

{% macro default___one_minus_exp(x) -%}
case
  when ({{ x }}) < -0.7e0 then 1 - {{ passk._exp(x) }}
  when exp({{ x }}) = 1 then 0 - ({{ x }})
  else (1 - exp({{ x }})) * (({{ x }}) / ln(exp({{ x }})))
end
{%- endmacro %}

{% macro duckdb___one_minus_exp(x) -%}
least(-2 * exp(greatest({{ x }}, -700) / 2) * sinh(greatest({{ x }}, -700) / 2), 1)
{%- endmacro %}

{% macro spark___one_minus_exp(x) -%}
(0 - expm1({{ x }}))
{%- endmacro %}


{#- exp(x), 0 where the result would underflow: Postgres, for one, raises an error there. -#}
{% macro _exp(x) -%}
  {{ return(adapter.dispatch('_exp', 'passk')(x)) }}
{%- endmacro %}

{% macro default___exp(x) -%}
case when ({{ x }}) < -744 then cast(0 as {{ passk.type_double() }}) else exp({{ x }}) end
{%- endmacro %}

{% macro duckdb___exp(x) -%}
exp({{ x }})
{%- endmacro %}

{% macro spark___exp(x) -%}
exp({{ x }})
{%- endmacro %}
