{% macro student_quantile(degrees, confidence=none) -%}
  {{- passk._check_count('student_quantile', 'degrees', degrees, 1) -}}
  {{ return(adapter.dispatch('student_quantile', 'passk')(degrees, confidence)) }}
{%- endmacro %}

{#- A table up to 30 degrees of freedom; from there on the series of Cornish and Fisher in 1 / degrees, around the normal
    quantile (Abramowitz and Stegun 26.7.5 and its next term), whose error is largest at 31. -#}
{% macro default__student_quantile(degrees, confidence) -%}
{%- set known = passk._quantiles_of('student_quantile', confidence) -%}
{%- set degrees_ = passk._as_double(degrees) -%}
{%- set z = known.normal[:-2] | float -%}
{%- set terms = passk._student_terms(z) -%}
{%- set series = namespace(sql='0e0') -%}
{%- for term in terms | reverse -%}
  {%- set series.sql = '(' ~ series.sql ~ ' + ' ~ passk._as_double(term) ~ ') / ' ~ degrees_ -%}
{%- endfor -%}
case {{ degrees_ }}
  {%- for critical in known.student %}
  when {{ loop.index }} then {{ critical }}
  {%- endfor %}
  else case when {{ passk._is_count(degrees_, 31) }} then {{ known.normal }} + {{ series.sql }} end
end
{%- endmacro %}


{#- The coefficients of 1 / degrees, 1 / degrees^2, ... of that series. -#}
{% macro _student_terms(z) -%}
  {{ return([
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92160,
    (27 * z ** 11 + 339 * z ** 9 + 930 * z ** 7 - 1782 * z ** 5 - 765 * z ** 3 + 17955 * z) / 368640
  ]) }}
{%- endmacro %}
