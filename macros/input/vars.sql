{#- Every var, in the order of dbt_project.yml: its default, what it takes, as `_fits` reads it, and whether it `rebuilds`, because an
    incremental model reads it, itself or by a macro: another value rebuilds all of its rows. Models of other projects don't see
    the defaults of dbt_project.yml, and the macros that they call ask here. -#}
{% macro _vars() -%}
  {%- set flag = {'kind': 'flag', 'must_be': 'true or false'} -%}
  {%- set share = {'kind': 'number', 'least': 0, 'most': 1, 'must_be': 'a number from 0 to 1'} -%}
  {%- set level = {'kind': 'choice', 'choices': [0.8, 0.9, 0.95, 0.99], 'must_be': '0.8, 0.9, 0.95 or 0.99'} -%}
  {%- set planned = {'kind': 'number', 'least': 0.001, 'below': 1, 'must_be': 'a number from 0.001 to less than 1'} -%}
  {%- set most = passk._most_numbered() -%}
  {{ return({
    'passk_attempts_model': {
      'default': none, 'takes': {'kind': 'name or pair', 'must_be': 'a model name or [project, model]'}, 'rebuilds': true
    },
    'passk_attempts_source': {'default': none, 'takes': {'kind': 'pair', 'must_be': '[source, table]'}, 'rebuilds': true},
    'passk_attempts_files': {'default': none, 'takes': {'kind': 'text', 'must_be': 'a path or a glob'}, 'rebuilds': true},
    'passk_attempts_columns': {
      'default': {},
      'takes': {
        'kind': 'mapping', 'maps': 'columns', 'must_be': 'a mapping of contract columns to SQL expressions',
        'value': {'kind': 'text', 'must_be': 'an SQL expression'}
      },
      'rebuilds': true
    },
    'passk_labels_model': {
      'default': none, 'takes': {'kind': 'name or pair', 'must_be': 'a model name or [project, model]'}
    },
    'passk_verdicts_model': {
      'default': none, 'takes': {'kind': 'name or pair', 'must_be': 'a model name or [project, model]'}
    },
    'passk_landing_schema': {'default': 'landing', 'takes': {'kind': 'text', 'must_be': 'a schema name'}, 'rebuilds': true},
    'passk_incremental_by_loaded_at': {'default': false, 'takes': flag},

    'passk_score_threshold': {'default': 1.0, 'takes': {'kind': 'number', 'must_be': 'a finite number'}, 'rebuilds': true},
    'passk_outcome_policy': {
      'default': {},
      'takes': {
        'kind': 'mapping', 'must_be': 'a mapping of outcome_reason to failed or excluded',
        'value': {'kind': 'choice', 'choices': ['failed', 'excluded'], 'must_be': 'failed or excluded'}
      },
      'rebuilds': true
    },

    'passk_ks': {
      'default': [1, 2, 3, 4, 5, 6, 8, 10, 16, 32, 64, 100],
      'takes': {
        'kind': 'list', 'at_least': 1, 'must_be': 'a list of integers of at least 1', 'once': 'k',
        'element': {'kind': 'integer', 'least': 1, 'must_be': 'integers of at least 1 only'}
      },
      'rebuilds': true
    },
    'passk_min_eligible_share': {'default': 0.95, 'takes': share, 'rebuilds': true},
    'passk_slices': {
      'default': [],
      'takes': {
        'kind': 'list', 'must_be': 'a list of tags or of {name: ..., expression: ...}',
        'element': {'kind': 'slice', 'must_be': 'tags or {name: ..., expression: ...}'}
      },
      'rebuilds': true
    },
    'passk_cluster': {
      'default': none,
      'takes': {'kind': 'slice', 'must_be': 'a tag, a column of the contract or {name: ..., expression: ...}'},
      'rebuilds': true
    },
    'passk_causes': {
      'default': {},
      'takes': {
        'kind': 'mapping', 'must_be': 'a mapping of patterns of outcome_reason to causes',
        'value': {'kind': 'text', 'must_be': 'the name of a cause'}
      },
      'rebuilds': true
    },
    'passk_difficulty': {
      'default': none,
      'takes': {'kind': 'slice', 'must_be': 'a tag, a column of the contract or {name: ..., expression: ...}'},
      'rebuilds': true
    },
    'passk_m_of_k': {
      'default': [],
      'takes': {
        'kind': 'list', 'must_be': 'a list of {m: ..., k: ...}', 'once': 'pair',
        'element': {'kind': 'm of k', 'must_be': '{m: ..., k: ...}, both integers, with m from 1 to k and k up to 32'}
      }
    },
    'passk_score_thresholds': {
      'default': [],
      'takes': {
        'kind': 'list', 'must_be': 'a list of numbers', 'once': 'threshold',
        'element': {'kind': 'number', 'must_be': 'finite numbers only'}
      },
      'rebuilds': true
    },
    'passk_costs': {
      'default': ['cost_usd'],
      'takes': {
        'kind': 'list', 'must_be': 'a list of measures, maybe empty', 'once': 'measure',
        'element': {
          'kind': 'choice', 'choices': passk._cost_measures().keys() | list,
          'must_be': passk._cost_measures().keys() | join(', ') ~ ' only'
        }
      },
      'rebuilds': true
    },
    'passk_extrapolated_ks': {
      'default': [],
      'takes': {
        'kind': 'list', 'must_be': 'a list of integers from 1 to ' ~ most, 'once': 'k',
        'element': {'kind': 'integer', 'least': 1, 'most': most, 'must_be': 'integers from 1 to ' ~ most ~ ' only'}
      }
    },
    'passk_ordered_metrics': {'default': true, 'takes': flag, 'rebuilds': true},
    'passk_diagnostics': {'default': true, 'takes': flag, 'rebuilds': true},

    'passk_confidence': {'default': 0.95, 'takes': level, 'rebuilds': true},
    'passk_bootstrap': {'default': 0, 'takes': {'kind': 'integer', 'least': 100, 'must_be': '0 or an integer from 100'}},
    'passk_bootstrap_seed': {'default': 0, 'takes': {'kind': 'integer', 'must_be': 'an integer'}},

    'passk_pairs': {
      'default': [],
      'takes': {
        'kind': 'list',
        'must_be': 'a list of {baseline: run_id, candidate: run_id}, each with a suite if it is for one only',
        'element': {
          'kind': 'texts', 'needs': ['baseline', 'candidate'], 'may_have': ['suite'],
          'must_be':
            '{baseline: run_id, candidate: run_id} or {baseline: run_id, candidate: run_id, suite: suite}, all texts'
        }
      }
    },
    'passk_baseline': {'default': none, 'takes': {'kind': 'text', 'must_be': 'a run_id'}},
    'passk_minimum_change': {
      'default': 0.0, 'takes': {'kind': 'number', 'least': 0, 'below': 1, 'must_be': 'a number from 0 to less than 1'}
    },

    'passk_ranked_runs': {
      'default': 40, 'takes': {'kind': 'integer', 'least': 2, 'most': 100, 'must_be': 'an integer from 2 to 100'}
    },

    'passk_trend_runs': {
      'default': 12, 'takes': {'kind': 'integer', 'least': 5, 'most': 100, 'must_be': 'an integer from 5 to 100'}
    },

    'passk_gates': {'default': [], 'takes': {'kind': 'gates'}},
    'passk_quarantine': {'default': [], 'takes': {'kind': 'quarantine'}, 'rebuilds': true},

    'passk_plan_attempts': {
      'default': [1, 2, 4, 8, 16, 32],
      'takes': {
        'kind': 'list', 'at_least': 1, 'must_be': 'a list of integers from 1 to 1000', 'once': 'number',
        'element': {'kind': 'integer', 'least': 1, 'most': 1000, 'must_be': 'integers from 1 to 1000 only'}
      }
    },
    'passk_plan_width': {'default': 0.1, 'takes': planned},
    'passk_plan_difference': {'default': 0.05, 'takes': planned},
    'passk_plan_power': {'default': 0.8, 'takes': level},

    'passk_private_suites': {
      'default': [],
      'takes': {
        'kind': 'list', 'must_be': 'a list of {public: suite, private: suite}',
        'element': {
          'kind': 'texts', 'needs': ['public', 'private'], 'must_be': '{public: suite, private: suite}, both texts'
        }
      }
    },

    'passk_deployment_k': {
      'default': 4, 'takes': {'kind': 'integer', 'least': 1, 'must_be': 'an integer of at least 1'}, 'rebuilds': true
    },
    'passk_capable_threshold': {'default': 0.8, 'takes': share, 'rebuilds': true},
    'passk_consistent_threshold': {'default': 0.95, 'takes': share, 'rebuilds': true},
    'passk_consistent_rate': {'default': 1.0, 'takes': share},
    'passk_incapable_rate': {'default': 0.0, 'takes': share},

    'passk_create_sql_functions': {'default': true, 'takes': flag, 'rebuilds': true}
  }) }}
{%- endmacro %}
