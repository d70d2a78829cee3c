{#- Only the first k counted attempts of a task: any passed, or all passed. Unbiased, but two to five times the variance
    of the estimates that use all attempts; they show whether order matters. -#}

{% macro pass_at_k_first_k(first_pass_rank, n, k) -%}
  {{- passk._check_count('pass_at_k_first_k', 'first_pass_rank', first_pass_rank, 1) -}}
  {{- passk._check_count('pass_at_k_first_k', 'n', n, 0) -}}
  {{- passk._check_count('pass_at_k_first_k', 'k', k, 1) -}}
  {{- passk._check_at_most('pass_at_k_first_k', 'first_pass_rank', first_pass_rank, 'n', n) -}}
  {{ return(adapter.dispatch('pass_at_k_first_k', 'passk')(first_pass_rank, n, k)) }}
{%- endmacro %}

{% macro default__pass_at_k_first_k(first_pass_rank, n, k) -%}
{%- set rank, n_, k_ = passk._as_double(first_pass_rank), passk._as_double(n), passk._as_double(k) -%}
case
  when {{ passk._is_ranked(rank, n_, k_) }}
    then cast(case when {{ rank }} <= {{ k_ }} then 1 else 0 end as {{ passk.type_double() }})
end
{%- endmacro %}


{% macro pass_hat_k_first_k(first_fail_rank, n, k) -%}
  {{- passk._check_count('pass_hat_k_first_k', 'first_fail_rank', first_fail_rank, 1) -}}
  {{- passk._check_count('pass_hat_k_first_k', 'n', n, 0) -}}
  {{- passk._check_count('pass_hat_k_first_k', 'k', k, 1) -}}
  {{- passk._check_at_most('pass_hat_k_first_k', 'first_fail_rank', first_fail_rank, 'n', n) -}}
  {{ return(adapter.dispatch('pass_hat_k_first_k', 'passk')(first_fail_rank, n, k)) }}
{%- endmacro %}

{% macro default__pass_hat_k_first_k(first_fail_rank, n, k) -%}
{%- set rank, n_, k_ = passk._as_double(first_fail_rank), passk._as_double(n), passk._as_double(k) -%}
case
  when {{ passk._is_ranked(rank, n_, k_) }}
    then cast(case when {{ rank }} <= {{ k_ }} then 0 else 1 end as {{ passk.type_double() }})
end
{%- endmacro %}


{#- Counts that an estimate from the first k of n attempts can be made of; a rank is null where no attempt has it. -#}
{% macro _is_ranked(rank, n, k) -%}
{{ passk._is_count(n) }} and {{ passk._is_count(k, 1) }} and {{ k }} <= {{ n }}
    and ({{ rank }} is null or ({{ passk._is_count(rank, 1) }} and {{ rank }} <= {{ n }}))
{%- endmacro %}
