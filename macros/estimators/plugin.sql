{#- The formula of a known p with c / n in its place. Biased for pass^k (upwards) and pass@k (downwards) from k = 2 on. -#}

{% macro pass_hat_k_plugin(n, c, k) -%}
  {{- passk._check_counts('pass_hat_k_plugin', n, c, k) -}}
  {{ return(adapter.dispatch('pass_hat_k_plugin', 'passk')(n, c, k)) }}
{%- endmacro %}

{% macro default__pass_hat_k_plugin(n, c, k) -%}
{%- set n_, c_, k_ = passk._as_double(n), passk._as_double(c), passk._as_double(k) -%}
case
  when {{ passk._is_pluggable(n_, c_, k_) }}
    then {{ passk._power_of_ratio(n_, c_, k_) }}
end
{%- endmacro %}


{% macro pass_at_k_plugin(n, c, k) -%}
  {{- passk._check_counts('pass_at_k_plugin', n, c, k) -}}
  {{ return(adapter.dispatch('pass_at_k_plugin', 'passk')(n, c, k)) }}
{%- endmacro %}

{% macro default__pass_at_k_plugin(n, c, k) -%}
{%- set n_, c_, k_ = passk._as_double(n), passk._as_double(c), passk._as_double(k) -%}
{%- set log_all_fail = '(' ~ k_ ~ ' * (' ~ passk._log_of_rest(c_, n_) ~ '))' -%}
case
  when {{ passk._is_pluggable(n_, c_, k_) }}
    then case
      when {{ c_ }} = {{ n_ }} then cast(1 as {{ passk.type_double() }})
      when {{ k_ }} = 1 or {{ c_ }} = 0 then {{ c_ }} / {{ n_ }}
      else {{ passk._one_minus_exp(log_all_fail) }}
    end
end
{%- endmacro %}


{#- (c / n)^k. The power of a rounded ratio is off by k roundings; its logarithm is not, but 1/2 squared is to be 1/4. -#}
{% macro _power_of_ratio(n, c, k) -%}
case
  when {{ k }} <= 64 or {{ c }} = 0 or {{ c }} = {{ n }} then power({{ c }} / {{ n }}, {{ k }})
  else {{ passk._exp('(' ~ k ~ ' * (' ~ passk._log_ratio(c, n, '(' ~ c ~ ') - (' ~ n ~ ')') ~ '))') }}
end
{%- endmacro %}


{#- Counts that a plug-in can be made of: k may be larger than n. -#}
{% macro _is_pluggable(n, c, k) -%}
{{ passk._is_count(n, 1) }} and {{ passk._is_count(c) }} and {{ passk._is_count(k, 1) }} and {{ c }} <= {{ n }}
{%- endmacro %}
