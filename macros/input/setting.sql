{#- The value of a var, for the models. While dbt only parses, a wrong var must not stop it: `check_vars`, which runs first
    in every run, then says all that is wrong at once. -#}
{% macro _setting(name) -%}
  {%- if not execute and passk._has_var_mistakes() -%}
    {#- Where the attempts come from is what dbt has to know by then. -#}
    {%- set told = var(name, none) if name in ['passk_attempts_model', 'passk_attempts_source'] else none -%}
    {%- if passk._is_pair_of_texts(told) or (told is string and name == 'passk_attempts_model') -%}
      {{ return(told) }}
    {%- endif -%}
    {{ return(passk._default_settings()[name]) }}
  {%- endif -%}
  {%- if model is mapping and model.package_name == 'passk' -%}
    {{ return(var(name)) }}
  {%- endif -%}
  {{ return(var(name, passk._default_settings()[name])) }}
{%- endmacro %}


{#- What dbt_project.yml says of each var. Models of other projects don't see that, and the macros that they call ask here. -#}
{% macro _default_settings() -%}
  {{ return({
    'passk_attempts_model': none,
    'passk_attempts_source': none,
    'passk_attempts_files': none,
    'passk_attempts_columns': {},
    'passk_landing_schema': 'landing',
    'passk_incremental_by_loaded_at': false,
    'passk_score_threshold': 1.0,
    'passk_outcome_policy': {},
    'passk_ks': [1, 2, 3, 4, 5, 6, 8, 10, 16, 32, 64, 100],
    'passk_min_eligible_share': 0.95,
    'passk_slices': [],
    'passk_extrapolated_ks': [],
    'passk_ordered_metrics': true,
    'passk_diagnostics': true,
    'passk_confidence': 0.95,
    'passk_bootstrap': 0,
    'passk_bootstrap_seed': 0,
    'passk_pairs': [],
    'passk_baseline': none,
    'passk_minimum_change': 0.0,
    'passk_gates': [],
    'passk_plan_attempts': [1, 2, 4, 8, 16, 32],
    'passk_plan_width': 0.1,
    'passk_plan_difference': 0.05,
    'passk_plan_power': 0.8,
    'passk_private_suites': [],
    'passk_deployment_k': 4,
    'passk_capable_threshold': 0.8,
    'passk_consistent_threshold': 0.95,
    'passk_consistent_rate': 1.0,
    'passk_incapable_rate': 0.0,
    'passk_create_sql_functions': true,
    'passk_semantic_layer': false
  }) }}
{%- endmacro %}


{#- The names of all vars. -#}
{% macro _setting_names() -%}
  {{ return(passk._default_settings().keys() | list) }}
{%- endmacro %}


{#- Whether a var is wrong. -#}
{% macro _has_var_mistakes() -%}
  {{ return(passk._var_mistakes() | length > 0) }}
{%- endmacro %}
