{#- The largest whole number of `_numbers_up_to`, which has five digits: no task with more attempts has its tail summed, nor a
    comparison. -#}
{% macro _most_numbered() -%} {{ return(99999) }} {%- endmacro %}


{#- CTEs up to `numbers`: the whole numbers from 0 to the `most` of a relation of one row, at most `_most_numbered`. No engine
    needs to know how to make a series. -#}
{% macro _numbers_up_to(relation) -%}
digits as (
  select cast(0 as {{ dbt.type_bigint() }}) as digit
  {%- for digit in range(1, 10) %} union all select {{ digit }}{% endfor %}
),

{#- No more than are needed: few tasks have thousands of attempts. #}
numbers as (
  select
    ones.digit + 10 * tens.digit + 100 * hundreds.digit + 1000 * thousands.digit + 10000 * ten_thousands.digit as number
  from {{ relation }}
  inner join digits as ten_thousands
    on 10000 * ten_thousands.digit <= {{ relation }}.most
  inner join digits as thousands
    on 1000 * thousands.digit <= {{ relation }}.most
  inner join digits as hundreds
    on 100 * hundreds.digit <= {{ relation }}.most
  inner join digits as tens
    on 10 * tens.digit <= {{ relation }}.most
  inner join digits as ones
    on
      ones.digit + 10 * tens.digit + 100 * hundreds.digit + 1000 * thousands.digit + 10000 * ten_thousands.digit
      <= {{ relation }}.most
)
{%- endmacro %}
