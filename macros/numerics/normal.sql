{% macro normal_tail(z) -%}
  {{- passk._check_expression('normal_tail', 'z', z, 'a column, an SQL expression or a number') -}}
  {{ return(adapter.dispatch('normal_tail', 'passk')(z)) }}
{%- endmacro %}

{#- Hart's rational approximation, which West 2005 takes up to 5 sqrt(2), and a continued fraction beyond. The approximation is
    made for absolute accuracy: from 4 on it loses digits of the tail, 3e-9 of it at 7, so that the fraction begins at 4.1. Its
    rest after 12 terms is near the root t of t = x + 12.75 / t; cut off there it would be right to 1e-9 only. The other side
    is the difference of the tail from 1: abs() takes the tail from 0 or 1, so that it is written once. -#}
{% macro default__normal_tail(z) -%}
{%- set z_ = passk._as_double(z) -%}
{%- set x = 'abs(' ~ z_ ~ ')' -%}
{%- set above, below = [], [] -%}
{%- for numbers, terms in [
  (above, ['3.52624965998911e-2', '0.700383064443688e0', '6.37396220353165e0', '33.912866078383e0', '112.079291497871e0',
           '221.213596169931e0', '220.206867912376e0']),
  (below, ['8.83883476483184e-2', '1.75566716318264e0', '16.064177579207e0', '86.7807322029461e0', '296.564248779674e0',
           '637.333633378831e0', '793.826512519948e0', '440.413735824752e0'])
] -%}
  {%- set sum_ = namespace(sql=terms[0]) -%}
  {%- for term in terms[1:] -%}
    {%- set sum_.sql = '(' ~ sum_.sql ~ ' * ' ~ x ~ ' + ' ~ term ~ ')' -%}
  {%- endfor -%}
  {%- do numbers.append(sum_.sql) -%}
{%- endfor -%}
{%- set bell = 'exp(0 - ' ~ x ~ ' * ' ~ x ~ ' / 2)' -%}
{%- set fraction = namespace(sql='(' ~ x ~ ' + 24 / (' ~ x ~ ' + sqrt(' ~ x ~ ' * ' ~ x ~ ' + 51)))') -%}
{%- for i in range(11, 0, -1) -%}
  {%- set fraction.sql = '(' ~ x ~ ' + ' ~ i ~ ' / ' ~ fraction.sql ~ ')' -%}
{%- endfor -%}
{%- set tail -%}
case
    when {{ x }} > 37.5e0 then 0e0
    when {{ x }} < 4.1e0 then {{ bell }} * {{ above[0] }} / {{ below[0] }}
    else {{ bell }} / {{ fraction.sql }} / 2.5066282746310002e0
  end
{%- endset -%}
abs(case when {{ z_ }} < 0 then 1 else 0 end - {{ tail }})
{%- endmacro %}


{#- How many standard deviations an interval of the confidence level reaches to either side. -#}
{% macro normal_quantile(confidence=none) -%}
  {{ return(passk._quantiles_of('normal_quantile', confidence).normal) }}
{%- endmacro %}


{#- The median of the highest of so many independent standard normal variables, the quantile of 0.5 ^ (1 / count), by
    Abramowitz and Stegun 1964, 26.2.23, which is off by less than 4.5e-4. 0 for one of them. -#}
{% macro _median_of_highest(count) -%}
{%- set t = 'sqrt(-2 * ln(1 - power(0.5e0, 1 / ' ~ passk._as_double(count) ~ ')))' -%}
case
    when {{ count }} > 1
      then {{ t }} - (2.515517e0 + {{ t }} * (0.802853e0 + {{ t }} * 0.010328e0))
        / (1 + {{ t }} * (1.432788e0 + {{ t }} * (0.189269e0 + {{ t }} * 0.001308e0)))
    when {{ count }} = 1 then 0e0
  end
{%- endmacro %}
