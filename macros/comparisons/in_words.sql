{#- Text of a number from -1 to 1, to three decimals, in functions that every engine has. -#}
{% macro _decimals(number) -%}
{%- set thousandths = 'floor(abs(' ~ number ~ ') * 1000 + 0.5e0)' -%}
case when {{ number }} < 0 and {{ thousandths }} > 0 then '-' else '' end
    || case when {{ thousandths }} >= 1000 then '1.' else '0.' end
    || substring(cast(cast(1000 + {{ thousandths }} as {{ dbt.type_bigint() }}) as {{ dbt.type_string() }}), 2, 3)
{%- endmacro %}
