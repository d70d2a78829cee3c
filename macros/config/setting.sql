{#- The value of a var, for the models. While dbt only parses, a wrong var must not stop it: `check_vars`, which runs first
    in every run, then says all that is wrong at once. -#}
{% macro _setting(name) -%}
  {%- if not execute and passk._var_mistakes() -%}
    {{ return({
      'passk_ks': [1],
      'passk_slices': [],
      'passk_attempts_columns': {},
      'passk_outcome_policy': {},
      'passk_score_threshold': 1.0,
      'passk_deployment_k': 1,
      'passk_ordered_metrics': true,
      'passk_on_short': 'null_suite',
      'passk_capable_threshold': 0.8,
      'passk_consistent_threshold': 0.95,
      'passk_consistent_rate': 1.0,
      'passk_incapable_rate': 0.0
    }.get(name)) }}
  {%- endif -%}
  {{ return(var(name)) }}
{%- endmacro %}
