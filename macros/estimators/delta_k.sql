{#- delta_k: what heterogeneous tasks add to pass^k beyond identical coins of the same mean. 0 <= delta_k <= m - m^k holds
    for a population (Jensen); an estimate may leave it. -#}

{% macro delta_k(pass_hat_k, pass_1, k) -%}
  {{- passk._check_share('delta_k', 'pass_hat_k', pass_hat_k) -}}
  {{- passk._check_share('delta_k', 'pass_1', pass_1) -}}
  {{- passk._check_count('delta_k', 'k', k, 1) -}}
  {{ return(adapter.dispatch('delta_k', 'passk')(pass_hat_k, pass_1, k)) }}
{%- endmacro %}

{% macro default__delta_k(pass_hat_k, pass_1, k) -%}
case
  when {{ passk._is_share(passk._as_double(pass_hat_k)) }}
    then {{ passk._as_double(pass_hat_k) }} - {{ passk.pass_hat_k_pooled(pass_1, k) }}
end
{%- endmacro %}


{% macro delta_k_max(pass_1, k) -%}
  {{- passk._check_share('delta_k_max', 'pass_1', pass_1) -}}
  {{- passk._check_count('delta_k_max', 'k', k, 1) -}}
  {{ return(adapter.dispatch('delta_k_max', 'passk')(pass_1, k)) }}
{%- endmacro %}

{% macro default__delta_k_max(pass_1, k) -%}
{%- set p, k_ = passk._as_double(pass_1), passk._as_double(k) -%}
{#- m (1 - m^(k - 1)): the plain difference cancels when m is close to 1. -#}
{%- set log_power = '((' ~ k_ ~ ' - 1) * ln(' ~ p ~ '))' -%}
case
  when {{ passk._is_rate(p, k_) }}
    then case
      when {{ p }} = 0 or {{ p }} = 1 or {{ k_ }} = 1 then cast(0 as {{ passk.type_double() }})
      else {{ p }} * ({{ passk._one_minus_exp(log_power) }})
    end
end
{%- endmacro %}


{% macro delta_k_unbiased(pass_hat_k, pass_1, var_pass_1, tasks, k) -%}
  {{- passk._check_share('delta_k_unbiased', 'pass_hat_k', pass_hat_k) -}}
  {{- passk._check_share('delta_k_unbiased', 'pass_1', pass_1) -}}
  {{- passk._check_share('delta_k_unbiased', 'var_pass_1', var_pass_1) -}}
  {{- passk._check_count('delta_k_unbiased', 'tasks', tasks, 0) -}}
  {{- passk._check_count('delta_k_unbiased', 'k', k, 1) -}}
  {{ return(adapter.dispatch('delta_k_unbiased', 'passk')(pass_hat_k, pass_1, var_pass_1, tasks, k)) }}
{%- endmacro %}

{#- m^k of an estimated m is too large by [k (k - 1) / 2] m^(k - 2) var / tasks, to first order; it is put back. -#}
{% macro default__delta_k_unbiased(pass_hat_k, pass_1, var_pass_1, tasks, k) -%}
{%- set p, k_ = passk._as_double(pass_1), passk._as_double(k) -%}
{%- set var_, tasks_ = passk._as_double(var_pass_1), passk._as_double(tasks) -%}
case
  when {{ passk._is_rate(p, k_) }} and {{ passk._is_share(passk._as_double(pass_hat_k)) }} and {{ k_ }} = 1
    then cast(0 as {{ passk.type_double() }})
  when {{ passk._is_count(tasks_, 2) }} and {{ passk._is_share(var_) }}
    then {{ passk.delta_k(pass_hat_k, pass_1, k) }}
      + {{ k_ }} * ({{ k_ }} - 1) / 2 * case when {{ k_ }} = 2 then 1 else power({{ p }}, {{ k_ }} - 2) end
      * {{ var_ }} / {{ tasks_ }}
end
{%- endmacro %}


{% macro heterogeneity(delta_k, pass_1, k) -%}
  {{- passk._check_share('heterogeneity', 'delta_k', delta_k, -1, 1) -}}
  {{- passk._check_share('heterogeneity', 'pass_1', pass_1) -}}
  {{- passk._check_count('heterogeneity', 'k', k, 1) -}}
  {{ return(adapter.dispatch('heterogeneity', 'passk')(delta_k, pass_1, k)) }}
{%- endmacro %}

{% macro default__heterogeneity(delta_k, pass_1, k) -%}
case
  when {{ passk.delta_k_max(pass_1, k) }} > 0 and {{ passk._is_finite(passk._as_double(delta_k)) }}
    then {{ passk._as_double(delta_k) }} / {{ passk.delta_k_max(pass_1, k) }}
end
{%- endmacro %}
