{#- Two sessions within a task: how many of its passes fall into the first. Exchangeable attempts make that hypergeometric;
    the moments are exact. -#}

{% macro session_variance(first, n, c) -%}
  {{- passk._check_count('session_variance', 'first', first, 0) -}}
  {{- passk._check_count('session_variance', 'n', n, 1) -}}
  {{- passk._check_count('session_variance', 'c', c, 0) -}}
  {{- passk._check_at_most('session_variance', 'first', first, 'n', n) -}}
  {{- passk._check_at_most('session_variance', 'c', c, 'n', n) -}}
  {{ return(adapter.dispatch('session_variance', 'passk')(first, n, c)) }}
{%- endmacro %}

{% macro default__session_variance(first, n, c) -%}
{%- set f, n_, c_ = passk._as_double(first), passk._as_double(n), passk._as_double(c) -%}
case
  when {{ passk._is_task(n_, c_) }} and {{ passk._is_count(f) }} and {{ f }} <= {{ n_ }}
    then {{ f }} * ({{ n_ }} - {{ f }}) * {{ c_ }} * ({{ n_ }} - {{ c_ }}) / ({{ n_ }} * {{ n_ }} * greatest({{ n_ }} - 1, 1))
end
{%- endmacro %}


{% macro session_square_variance(first, n, c) -%}
  {{- passk._check_count('session_square_variance', 'first', first, 0) -}}
  {{- passk._check_count('session_square_variance', 'n', n, 1) -}}
  {{- passk._check_count('session_square_variance', 'c', c, 0) -}}
  {{- passk._check_at_most('session_square_variance', 'first', first, 'n', n) -}}
  {{- passk._check_at_most('session_square_variance', 'c', c, 'n', n) -}}
  {{ return(adapter.dispatch('session_square_variance', 'passk')(first, n, c)) }}
{%- endmacro %}

{#- The fourth central moment less the square of the second. One attempt alone in its session, or with its verdict, is a coin
    of chance q: the formula of the other cases divides by 0 there. -#}
{% macro default__session_square_variance(first, n, c) -%}
{%- set f, n_, c_ = passk._as_double(first), passk._as_double(n), passk._as_double(c) -%}
{%- set failures, rest = '(' ~ n_ ~ ' - ' ~ c_ ~ ')', '(' ~ n_ ~ ' - ' ~ f ~ ')' -%}
{%- set variance = passk.session_variance(first, n, c) -%}
{%- set product = f ~ ' * ' ~ rest ~ ' * ' ~ c_ ~ ' * ' ~ failures -%}
{%- set excess -%}
(
        ({{ n_ }} - 1) * {{ n_ }} * {{ n_ }}
        * ({{ n_ }} * ({{ n_ }} + 1) - 6 * {{ c_ }} * {{ failures }} - 6 * {{ f }} * {{ rest }})
        + 6 * {{ product }} * (5 * {{ n_ }} - 6)
      )
{%- endset -%}
case
  when not ({{ passk._is_task(n_, c_) }} and {{ passk._is_count(f) }} and {{ f }} <= {{ n_ }}) then null
  when {{ product }} = 0 then {{ passk._as_double(0) }}
  when least({{ f }}, {{ rest }}) = 1
    then {{ c_ }} * {{ failures }} / ({{ n_ }} * {{ n_ }}) * (1 - 4 * {{ c_ }} * {{ failures }} / ({{ n_ }} * {{ n_ }}))
  when least({{ c_ }}, {{ failures }}) = 1
    then {{ f }} * {{ rest }} / ({{ n_ }} * {{ n_ }}) * (1 - 4 * {{ f }} * {{ rest }} / ({{ n_ }} * {{ n_ }}))
  else ({{ variance }}) * ({{ variance }})
    * (2 + {{ excess }} / ({{ product }} * ({{ n_ }} - 2) * ({{ n_ }} - 3)))
end
{%- endmacro %}
