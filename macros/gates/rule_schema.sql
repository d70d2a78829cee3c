{#- The types of gate rules, their keys and the allowed values. Written by scripts/written_macros.py
    from passk_py/metrics/gates/rule_schema.yml. -#}
{% macro _rule_schema() -%}
  {{ return({
    'common': {
      'name': 'text',
      'type': 'type',
      'run': 'text',
      'suite': 'text',
      'agent': 'text',
      'severity': 'severity',
      'inconclusive': 'severity'
    },
    'types': {
      'threshold': {
        'metric': 'score',
        'm': 'count',
        'k': 'count',
        'min': 'chance',
        'each': 'slice',
        'slice_value': 'text',
        'scope': 'scope',
        'sequential': 'flag',
        'attempts': 'count'
      },
      'each_task': {'metric': 'rate', 'k': 'count', 'min': 'chance'},
      'drop': {'metric': 'rate', 'k': 'count', 'max_drop': 'fall', 'baseline': 'text', 'scope': 'scope'},
      'coverage': {'metric': 'coverage', 'max': 'share'},
      'cost': {'metric': 'measure', 'statistic': 'statistic', 'max': 'amount'},
      'cost_increase': {'metric': 'measure', 'max_increase': 'increase', 'baseline': 'text'},
      'regressed_tasks': {'max': 'tasks', 'baseline': 'text'},
      'diagnostics': {'diagnostics': 'diagnostics'}
    },
    'required': ['metric', 'min', 'max', 'max_drop', 'max_increase', 'diagnostics'],
    'quarantine': {'task': 'text', 'suite': 'text', 'until': 'day', 'reason': 'text'},
    'required_of_quarantine': ['task', 'until', 'reason'],
    'leave_out_quarantine': ['threshold', 'sequential', 'each_task', 'drop', 'rolling_drop', 'regressed_tasks'],
    'scopes': {'threshold': 'unseen', 'drop': 'suite', 'cost': 'unseen', 'cost_increase': 'unseen'},
    'allowed': {
      'text': {'is': 'text', 'must': 'a text'},
      'day': {'is': 'day', 'must': 'a day as 2026-12-31'},
      'severity': {'one_of': ['error', 'warn', 'ignore'], 'must': 'error, warn or ignore'},
      'scope': {'one_of': ['unseen', 'suite'], 'must': 'unseen (tasks like these) or suite (these tasks)'},
      'rate': {'one_of': ['pass_at_k', 'pass_hat_k'], 'must': 'one of pass_at_k, pass_hat_k'},
      'score': {
        'one_of': ['pass_at_k', 'pass_hat_k', 'pass_m_of_k'],
        'must': 'one of pass_at_k, pass_hat_k, pass_m_of_k'
      },
      'flag': {'one_of': [True, False], 'must': 'true or false'},
      'coverage': {
        'one_of': ['excluded_attempts', 'missing_attempts', 'rejected_attempts'],
        'must': 'one of excluded_attempts, missing_attempts, rejected_attempts'
      },
      'measure': {
        'one_of': ['cost_usd', 'duration_s', 'input_tokens', 'output_tokens', 'tokens'],
        'must': 'one of cost_usd, duration_s, input_tokens, output_tokens, tokens'
      },
      'statistic': {'one_of': ['mean', 'p95', 'per_success'], 'must': 'one of mean, p95, per_success'},
      'amount': {'is': 'number', 'above': 0, 'must': 'a number above 0'},
      'increase': {'is': 'number', 'least': 0, 'must': 'a share of the baseline, a number from 0'},
      'count': {'is': 'integer', 'least': 1, 'must': 'an integer of at least 1'},
      'tasks': {'is': 'integer', 'least': 0, 'must': 'a number of tasks, an integer of at least 0'},
      'chance': {
        'is': 'number',
        'above': 0,
        'below': 1,
        'must': 'a number between 0 and 1; no number of attempts shows that a chance is 1'
      },
      'fall': {'is': 'number', 'least': 0, 'below': 1, 'must': 'a number from 0 to less than 1'},
      'share': {'is': 'number', 'least': 0, 'most': 1, 'must': 'a share, from 0 to 1'}
    },
    'shares': {
      'excluded_attempts': {
        'part': 'excluded',
        'whole': ['attempts'],
        'said': 'attempts are excluded',
        'of': 'the attempts excluded'
      },
      'missing_attempts': {
        'part': 'missing_attempts',
        'whole': ['expected_attempts'],
        'said': 'expected attempts are missing',
        'of': 'the expected attempts missing'
      },
      'rejected_attempts': {
        'part': 'rejected',
        'whole': ['rejected', 'attempts'],
        'unsure': 'rejected_unnamed',
        'said': 'rows are rejected',
        'of': 'the rows that were read rejected'
      }
    },
    'measures': {
      'cost_usd': {'verb': 'costs', 'verbs': 'cost', 'unit': 'US dollars'},
      'duration_s': {'verb': 'takes', 'verbs': 'take', 'unit': 'seconds'},
      'input_tokens': {'verb': 'reads', 'verbs': 'read', 'unit': 'tokens'},
      'output_tokens': {'verb': 'writes', 'verbs': 'write', 'unit': 'tokens'},
      'tokens': {'verb': 'uses', 'verbs': 'use', 'unit': 'tokens'}
    },
    'demo': [
      {'name': 'finds-an-answer', 'type': 'threshold', 'metric': 'pass_at_k', 'k': 4, 'min': 0.9, 'agent': 'walker'},
      {
        'name': 'no-worse-than-before',
        'type': 'drop',
        'metric': 'pass_hat_k',
        'k': 4,
        'max_drop': 0.02,
        'agent': 'scout'
      },
      {'name': 'runs-unattended', 'type': 'threshold', 'metric': 'pass_hat_k', 'k': 4, 'min': 0.6, 'agent': 'tracer'}
    ]
  }) }}
{%- endmacro %}
