{#- The rules of the var `passk_gates`, with what they leave out filled in: a list of mappings with the keys

    gate, rule_type, metric, k, m, first_attempts, last_runs, threshold, scope, slice_name, slice_value, judged_slice, judged_value, diagnostics, run,
    suite, agent, baseline, severity, inconclusive_severity, rule.

    rule_type is one of `threshold` (a suite's metric is at least so high), `sequential` (the same, looked at often), `each_task` (every
    task's is), `drop` (it is not so much lower than a baseline's), `rolling_drop` (than the mean of the runs before), `coverage` (a share
    of the attempts), `cost`, `cost_increase`, `regressed_tasks` and `diagnostics`. -#}
{% macro _gates() -%}
  {%- set rules = [] -%}
  {%- for gate in (passk._rule_schema().demo if passk._has_demo_gates() else passk._setting('passk_gates') or []) -%}
    {%- set rule_type = 'sequential' if gate.get('sequential') else gate.type -%}
    {%- set last_runs = gate.baseline.last if gate.get('baseline') is mapping else none -%}
    {%- if last_runs is not none -%}
      {%- set rule_type = 'rolling_drop' -%}
    {%- endif -%}
    {%- set k = gate.get('k', passk._setting('passk_deployment_k')) if 'k' in passk._keys_of_gate(gate.type) else none -%}
    {%- set threshold = gate.get('min', gate.get('max', gate.get('max_drop', gate.get('max_increase')))) -%}
    {%- set rule = {
      'gate': gate.name,
      'rule_type': rule_type,
      'metric': passk._gate_metric(gate),
      'k': k,
      'm': gate.get('m'),
      'first_attempts': gate.get('attempts', k) if rule_type == 'sequential' else none,
      'last_runs': last_runs,
      'threshold': threshold | int if threshold is number and threshold == threshold | int else threshold,
      'scope': gate.get('scope', passk._rule_schema().scopes.get(gate.type)),
      'slice_name': none if gate.type != 'threshold' else gate.get('each', 'all'),
      'slice_value': none if gate.type != 'threshold' else (gate.get('slice_value') if 'each' in gate else 'all'),
      'diagnostics': passk._gate_diagnostics(gate),
      'run': gate.get('run', 'latest'),
      'suite': gate.get('suite'),
      'agent': gate.get('agent'),
      'baseline': gate.get('baseline') if last_runs is none else none,
      'severity': gate.get('severity', 'error'),
      'inconclusive_severity': gate.get('inconclusive', 'warn'),
    } -%}
    {%- do rule.update({
      'judged_slice': passk._judged_slice(rule.slice_name),
      'judged_value': 'not in quarantine' if rule.slice_name == 'all' and passk._quarantine() else rule.slice_value
    }) -%}
    {%- do rule.update({'rule': passk._gate_rule_text(rule, gate.get('diagnostics'))}) -%}
    {%- do rules.append(rule) -%}
  {%- endfor -%}
  {{ return(rules) }}
{%- endmacro %}


{% macro _has_demo_gates() -%}
  {%- set given = passk._setting('passk_gates') or [] -%}
  {{ return(given == 'demo' or (not given and passk._is_demo())) }}
{%- endmacro %}


{% macro _gate_diagnostics(gate) -%}
  {%- if 'diagnostics' not in gate -%}
    {{ return([]) }}
  {%- elif passk._means_all_diagnostics(gate.diagnostics) -%}
    {#- Tasks that are related are no fault of the log. #}
    {{ return(passk._diagnostic_words().keys() | reject('equalto', 'related_tasks') | list) }}
  {%- endif -%}
  {{ return([gate.diagnostics] if gate.diagnostics is string else gate.diagnostics) }}
{%- endmacro %}


{#- Whether a rule is on all diagnostics, of which a log need not know every one. -#}
{% macro _means_all_diagnostics(given) -%}
  {{ return(given == 'all' or given == ['all']) }}
{%- endmacro %}


{#- The metric of a rule; at least m of k has its numbers in its name, such as `pass_3_of_4`, and a cost its statistic, such as
    `mean_cost_usd`. -#}
{% macro _gate_metric(gate) -%}
  {%- if gate.get('metric') == 'pass_m_of_k' -%}
    {{ return('pass_' ~ gate.m ~ '_of_' ~ gate.k) }}
  {%- endif -%}
  {%- if gate.type in ['cost', 'cost_increase'] -%}
    {{ return(gate.get('statistic', 'mean') ~ '_' ~ gate.metric) }}
  {%- endif -%}
  {{ return(gate.get('metric', gate.type)) }}
{%- endmacro %}


{#- A rule as a person reads it. -#}
{% macro _gate_rule_text(rule, given_diagnostics) -%}
  {%- set metric = {'pass_hat_k': 'pass^' ~ rule.k, 'pass_at_k': 'pass@' ~ rule.k}.get(
    rule.metric, rule.metric | replace('pass_', '') | replace('_', '-') ~ ' pass rate'
  ) -%}
  {%- set threshold = rule.threshold | string -%}
  {%- set tasks = 'these tasks' if rule.scope == 'suite' else 'tasks like these' -%}
  {%- if rule.rule_type == 'each_task' -%}
    {{ return(metric ~ ' of each task at least ' ~ threshold) }}
  {%- elif rule.rule_type == 'threshold' -%}
    {%- set where = '' if rule.slice_name == 'all' else (
      ', in each ' ~ rule.slice_name if rule.slice_value is none else ', in ' ~ rule.slice_name ~ ' ' ~ rule.slice_value
    ) -%}
    {{ return(metric ~ ' at least ' ~ threshold ~ ' on ' ~ tasks ~ where) }}
  {%- elif rule.rule_type == 'sequential' -%}
    {{ return(metric ~ ' at least ' ~ threshold ~ ' on ' ~ tasks ~ ', at every look') }}
  {%- elif rule.rule_type == 'drop' -%}
    {{ return(metric ~ ' at most ' ~ threshold ~ ' below the baseline, on ' ~ tasks) }}
  {%- elif rule.rule_type == 'rolling_drop' -%}
    {{ return(metric ~ ' at most ' ~ threshold ~ ' below the ' ~ rule.last_runs ~ ' runs before, on ' ~ tasks) }}
  {%- elif rule.rule_type == 'coverage' -%}
    {{ return('at most ' ~ threshold ~ ' of ' ~ passk._rule_schema().shares[rule.metric].of) }}
  {%- elif rule.rule_type == 'cost' -%}
    {%- set before, after = passk._cost_figure(rule.metric) -%}
    {{ return((before ~ ('' if before.endswith('at most ') else 'at most ')) ~ threshold ~ after ~ ', for tasks like these') }}
  {%- elif rule.rule_type == 'cost_increase' -%}
    {%- set before, after = passk._cost_figure(rule.metric) -%}
    {%- set more = (rule.threshold * 100) | round(4) -%}
    {%- set share = (more | int if more == more | int else more) ~ ' % more' ~ (' tokens' if after.startswith(' tokens') else '') -%}
    {{ return(before ~ 'at most ' ~ share ~ ' than in the baseline, for tasks like these') }}
  {%- elif rule.rule_type == 'regressed_tasks' -%}
    {{ return('at most ' ~ threshold ~ (' task' if rule.threshold == 1 else ' tasks') ~ ' worse than in the baseline') }}
  {%- endif -%}
  {{ return('no warning of ' ~ ('any diagnostic' if passk._means_all_diagnostics(given_diagnostics) else rule.diagnostics | join(', '))) }}
{%- endmacro %}


{#- A rule's columns as a row of literals. -#}
{% macro _gate_row(rule) -%}
  {%- set text = dbt.type_string() -%}
  select
    {%- for name in [
      'gate', 'rule_type', 'metric', 'scope', 'slice_name', 'slice_value', 'judged_slice', 'judged_value', 'run', 'suite', 'agent',
      'baseline', 'severity', 'inconclusive_severity', 'rule'
    ] %}
    cast({{ passk._quoted(rule[name]) if rule[name] is not none else 'null' }} as {{ text }}) as {{ name }},
    {%- endfor %}
    cast({{ rule.k if rule.k is not none else 'null' }} as {{ dbt.type_bigint() }}) as k,
    cast({{ rule.first_attempts if rule.first_attempts is not none else 'null' }} as {{ dbt.type_bigint() }}) as first_attempts,
    cast({{ rule.last_runs if rule.last_runs is not none else 'null' }} as {{ dbt.type_bigint() }}) as last_runs,
    cast({{ rule.threshold if rule.threshold is not none else 'null' }} as {{ passk.type_double() }}) as threshold,
    cast({{ passk._quoted(rule.threshold | string) }} as {{ text }}) as threshold_text,
    {%- set least = passk._least_tasks_of(rule) %}
    cast({{ least if least is not none else 'null' }} as {{ dbt.type_bigint() }}) as least_tasks
{%- endmacro %}


{#- A rule that says nothing, for the types of the columns where no gate is declared. -#}
{% macro _no_gate() -%}
  {{ return({
    'gate': '', 'rule_type': '', 'metric': none, 'k': none, 'm': none, 'first_attempts': none, 'last_runs': none,
    'threshold': none, 'scope': none, 'slice_name': none,
    'slice_value': none, 'judged_slice': none, 'judged_value': none, 'diagnostics': [], 'run': '', 'suite': none, 'agent': none, 'baseline': none, 'severity': '',
    'inconclusive_severity': '', 'rule': ''
  }) }}
{%- endmacro %}


{#- Whether a gate is about a pair of runs: the pair has the baseline that the gate names or, if it names none, is not in the
    table only for another gate or the ranking. -#}
{% macro _is_pair_of_gate(pairs) -%}
(gates.baseline = {{ pairs }}.baseline_run_id or (gates.baseline is null and {{ pairs }}.pair_source not in ('gate', 'ranking')))
{%- endmacro %}
