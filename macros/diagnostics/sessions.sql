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
    then {{ f }} * ({{ n_ }} - {{ f }}) * {{ c_ }} * ({{ n_ }} - {{ c_ }})
      / ({{ n_ }} * {{ n_ }} * greatest({{ n_ }} - 1, 1))
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

{% macro default__session_square_variance(first, n, c) -%}
{%- set f, n_, c_ = passk._as_double(first), passk._as_double(n), passk._as_double(c) -%}
case
  when {{ passk._is_task(n_, c_) }} and {{ passk._is_count(f) }} and {{ f }} <= {{ n_ }}
    then {{ passk._session_square_variance(f, n_, c_, '(' ~ passk.session_variance(first, n, c) ~ ')') }}
end
{%- endmacro %}


{#- The same of doubles that are right, where the variance is known. The fourth central moment less the square of the second.
    One attempt alone in its session, or with its verdict, is a coin: the formula of the other cases divides by 0 there. -#}
{% macro _session_square_variance(first, n, c, variance) -%}
{%- set rest, failures = '(' ~ n ~ ' - ' ~ first ~ ')', '(' ~ n ~ ' - ' ~ c ~ ')' -%}
{%- set sides, verdicts = '(' ~ first ~ ' * ' ~ rest ~ ')', '(' ~ c ~ ' * ' ~ failures ~ ')' -%}
case
      when {{ sides }} * {{ verdicts }} = 0 then 0e0
      when least({{ first }}, {{ rest }}) = 1
        then {{ verdicts }} / ({{ n }} * {{ n }}) * (1 - 4 * {{ verdicts }} / ({{ n }} * {{ n }}))
      when least({{ c }}, {{ failures }}) = 1
        then {{ sides }} / ({{ n }} * {{ n }}) * (1 - 4 * {{ sides }} / ({{ n }} * {{ n }}))
      else {{ variance }} * {{ variance }} * (
        2 + (
          ({{ n }} - 1) * {{ n }} * {{ n }} * ({{ n }} * ({{ n }} + 1) - 6 * {{ verdicts }} - 6 * {{ sides }})
          + 6 * {{ sides }} * {{ verdicts }} * (5 * {{ n }} - 6)
        ) / ({{ sides }} * {{ verdicts }} * ({{ n }} - 2) * ({{ n }} - 3))
      )
    end
{%- endmacro %}
