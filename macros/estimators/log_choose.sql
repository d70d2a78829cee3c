{% macro log_choose(n, k) -%}
  {{- passk._check_count('log_choose', 'n', n, 0) -}}
  {{- passk._check_count('log_choose', 'k', k, 0) -}}
  {{ return(adapter.dispatch('log_choose', 'passk')(n, k)) }}
{%- endmacro %}

{#- C(n, k) = 1 / (ratio of C(k, k) to C(n, k)): the same log moment, so the same accuracy. Its points are those of
    `_stirling_half` for c = k. -#}
{% macro default__log_choose(n, k) -%}
{%- set n_, k_ = passk._as_double(n), passk._as_double(k) -%}
case
  when {{ passk._is_count(n_) }} and {{ passk._is_count(k_) }} and {{ k_ }} <= {{ n_ }}
    then case
      when {{ k_ }} = 0 or {{ k_ }} = {{ n_ }} then cast(0 as {{ passk.type_double() }})
      else 0 - {{ passk._log_moment(
        x='(' ~ n_ ~ ' + 11.5e0)',
        a='(' ~ k_ ~ ' + 11.5e0)',
        b='(' ~ n_ ~ ' - ' ~ k_ ~ ' + 11.5e0)',
        d='11.5e0',
        n=n_,
        c=k_,
        k=k_
      ) }}
    end
end
{%- endmacro %}
