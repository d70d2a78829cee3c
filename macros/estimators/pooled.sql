{#- pass@k and pass^k of a suite in which every task is the same coin with the suite's mean pass@1: Jensen's bounds. -#}

{% macro pass_hat_k_pooled(pass_1, k) -%}
  {{- passk._check_share('pass_hat_k_pooled', 'pass_1', pass_1) -}}
  {{- passk._check_count('pass_hat_k_pooled', 'k', k, 1) -}}
  {{ return(adapter.dispatch('pass_hat_k_pooled', 'passk')(pass_1, k)) }}
{%- endmacro %}

{% macro default__pass_hat_k_pooled(pass_1, k) -%}
{%- set p, k_ = passk._as_double(pass_1), passk._as_double(k) -%}
case when {{ passk._is_rate(p, k_) }} then power({{ p }}, {{ k_ }}) end
{%- endmacro %}


{% macro pass_at_k_pooled(pass_1, k) -%}
  {{- passk._check_share('pass_at_k_pooled', 'pass_1', pass_1) -}}
  {{- passk._check_count('pass_at_k_pooled', 'k', k, 1) -}}
  {{ return(adapter.dispatch('pass_at_k_pooled', 'passk')(pass_1, k)) }}
{%- endmacro %}

{% macro default__pass_at_k_pooled(pass_1, k) -%}
{%- set p, k_ = passk._as_double(pass_1), passk._as_double(k) -%}
{%- set log_all_fail = '(' ~ k_ ~ ' * (' ~ passk._log_of_rest(p, '1') ~ '))' -%}
case
  when {{ passk._is_rate(p, k_) }}
    then case
      when {{ k_ }} = 1 or {{ p }} = 1 or {{ p }} = 0 then {{ p }}
      else {{ passk._one_minus_exp(log_all_fail) }}
    end
end
{%- endmacro %}


{% macro _is_rate(p, k) -%}
{{ passk._is_share(p) }} and {{ passk._is_count(k, 1) }}
{%- endmacro %}
