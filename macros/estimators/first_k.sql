{#- Only the first k counted attempts of a task: any passed, or all passed. Unbiased, but two to five times the variance
    of the estimates that use all attempts; they show whether order matters. -#}

{% macro pass_at_k_first_k(first_pass_rank, n, k) -%}
  {{- passk._check_count('pass_at_k_first_k', 'n', n, 0) -}}
  {{- passk._check_count('pass_at_k_first_k', 'k', k, 1) -}}
  {{ return(adapter.dispatch('pass_at_k_first_k', 'passk')(first_pass_rank, n, k)) }}
{%- endmacro %}

{% macro default__pass_at_k_first_k(first_pass_rank, n, k) -%}
case
  when ({{ n }}) >= ({{ k }}) and ({{ k }}) >= 1
    then cast(case when ({{ first_pass_rank }}) <= ({{ k }}) then 1 else 0 end as {{ passk.type_double() }})
end
{%- endmacro %}


{% macro pass_hat_k_first_k(first_fail_rank, n, k) -%}
  {{- passk._check_count('pass_hat_k_first_k', 'n', n, 0) -}}
  {{- passk._check_count('pass_hat_k_first_k', 'k', k, 1) -}}
  {{ return(adapter.dispatch('pass_hat_k_first_k', 'passk')(first_fail_rank, n, k)) }}
{%- endmacro %}

{% macro default__pass_hat_k_first_k(first_fail_rank, n, k) -%}
case
  when ({{ n }}) >= ({{ k }}) and ({{ k }}) >= 1
    then cast(case when ({{ first_fail_rank }}) <= ({{ k }}) then 0 else 1 end as {{ passk.type_double() }})
end
{%- endmacro %}
