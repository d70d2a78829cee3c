{#- The value of a var, for the models. While dbt only parses, a wrong var must not stop it: `check_vars`, which runs first
    in every run, then says all that is wrong at once. -#}
{% macro _setting(name) -%}
  {%- if not execute and passk._var_mistakes() -%}
    {{ return({
      'passk_ks': [1],
      'passk_slices': [],
      'passk_extrapolated_ks': [],
      'passk_attempts_columns': {},
      'passk_outcome_policy': {},
      'passk_score_threshold': 1.0,
      'passk_confidence': 0.95,
      'passk_pairs': [],
      'passk_minimum_change': 0.0,
      'passk_gates': [],
      'passk_plan_attempts': [1],
      'passk_plan_width': 0.1,
      'passk_plan_difference': 0.05,
      'passk_plan_power': 0.8,
      'passk_private_suites': [],
      'passk_deployment_k': 1,
      'passk_ordered_metrics': true,
      'passk_diagnostics': true,
      'passk_on_short': 'null_suite',
      'passk_capable_threshold': 0.8,
      'passk_consistent_threshold': 0.95,
      'passk_consistent_rate': 1.0,
      'passk_incapable_rate': 0.0
    }.get(name)) }}
  {%- endif -%}
  {{ return(var(name)) }}
{%- endmacro %}


{#- The names of all vars, as dbt_project.yml has them. -#}
{% macro _setting_names() -%}
  {{ return([
    'passk_attempts_model', 'passk_attempts_source', 'passk_attempts_files', 'passk_attempts_columns',
    'passk_landing_schema', 'passk_incremental_by_loaded_at', 'passk_score_threshold', 'passk_outcome_policy', 'passk_ks',
    'passk_on_short', 'passk_slices', 'passk_extrapolated_ks', 'passk_ordered_metrics', 'passk_diagnostics',
    'passk_confidence', 'passk_pairs',
    'passk_bootstrap', 'passk_bootstrap_seed', 'passk_baseline', 'passk_minimum_change', 'passk_gates',
    'passk_plan_attempts', 'passk_plan_width', 'passk_plan_difference', 'passk_plan_power', 'passk_private_suites',
    'passk_deployment_k', 'passk_capable_threshold',
    'passk_consistent_threshold', 'passk_consistent_rate', 'passk_incapable_rate', 'passk_create_sql_functions',
    'passk_semantic_layer'
  ]) }}
{%- endmacro %}
