{#- What is wrong with the var `passk_gates`, as sentences. -#}
{% macro _gate_mistakes(good_ks) -%}
  {%- set mistakes = [] -%}
  {%- set gates = var('passk_gates', []) -%}
  {%- if gates is none or gates == 'demo' -%}
    {{ return([]) }}
  {%- endif -%}
  {%- if not passk._is_list(gates) -%}
    {{ return([passk._var_mistake('passk_gates', gates, 'a list of rules, each a mapping with a name')]) }}
  {%- endif -%}
  {%- set names = [] -%}
  {%- for gate in gates -%}
    {%- if gate is not mapping or gate.get('name') is not string or not gate.get('name') -%}
      {%- set quotes = '; write it in quotes' if gate is mapping and passk._is_date(gate.get('name')) else '' -%}
      {%- do mistakes.append(
        'passk_gates holds ' ~ passk._shown(gate) ~ ', but must hold mappings, each with a name that is a text' ~ quotes ~ '.'
      ) -%}
    {%- else -%}
      {%- if gate.name in names -%}
        {%- do mistakes.append('passk_gates has two gates of the name ' ~ passk._shown(gate.name) ~ '.') -%}
      {%- endif -%}
      {%- do names.append(gate.name) -%}
      {%- for mistake in passk._mistakes_of_gate(gate, good_ks) -%}
        {%- do mistakes.append('passk_gates, ' ~ passk._shown(gate.name) ~ ': ' ~ mistake) -%}
      {%- endfor -%}
    {%- endif -%}
  {%- endfor -%}
  {{ return(mistakes) }}
{%- endmacro %}


{% macro _mistakes_of_gate(gate, good_ks) -%}
  {%- set mistakes = [] -%}
  {%- set asked = [] -%}
  {%- for name in ['min', 'max', 'max_drop', 'diagnostics'] if name in gate -%}{%- do asked.append(name) -%}{%- endfor -%}
  {%- if asked | length != 1 -%}
    {{ return([
      ('nothing is asked for' if not asked else (asked | join(' and ')) ~ ' stand together')
      ~ '; a gate has one of min, max, max_drop and diagnostics.'
    ]) }}
  {%- endif -%}
  {%- set kind = passk._gate_kind(gate) -%}
  {%- set common = ['name', 'run', 'suite', 'agent', 'severity', 'inconclusive'] -%}
  {%- set allowed = common + {
    'threshold': ['metric', 'k', 'min', 'each', 'slice_value', 'scope'],
    'each_task': ['metric', 'k', 'min', 'each'],
    'drop': ['metric', 'k', 'max_drop', 'baseline', 'scope'],
    'coverage': ['metric', 'max'],
    'regressed_tasks': ['metric', 'max', 'baseline'],
    'diagnostics': ['diagnostics']
  }[kind] -%}
  {%- for name in gate if name not in allowed -%}
    {%- do mistakes.append(
      (name | string) ~ ' has no meaning in a rule with ' ~ asked[0] ~ ', which takes ' ~ allowed | join(', ') ~ '.'
    ) -%}
  {%- endfor -%}

  {%- set metrics = {
    'threshold': ['pass_at_k', 'pass_hat_k'], 'each_task': ['pass_at_k', 'pass_hat_k'], 'drop': ['pass_at_k', 'pass_hat_k'],
    'coverage': passk._gate_shares().keys() | list + ['regressed_tasks'], 'regressed_tasks': ['regressed_tasks']
  }.get(kind, []) -%}
  {%- if metrics and gate.get('metric') not in metrics -%}
    {%- do mistakes.append(passk._var_mistake('metric', gate.get('metric'), 'one of ' ~ metrics | join(', '))) -%}
  {%- endif -%}

  {%- set k = gate.get('k', 1) -%}
  {%- if k is boolean or k is not integer or k < 1 -%}
    {%- do mistakes.append(passk._var_mistake('k', k, 'an integer of at least 1')) -%}
  {%- elif 'k' in gate and good_ks and k not in good_ks -%}
    {%- do mistakes.append(passk._var_mistake('k', k, 'one of passk_ks, which is ' ~ passk._shown(good_ks))) -%}
  {%- endif -%}

  {%- set threshold = gate[asked[0]] -%}
  {%- if kind in ['threshold', 'each_task'] and (threshold is boolean or threshold is not number or not 0 < threshold < 1) -%}
    {%- do mistakes.append(passk._var_mistake(
      'min', threshold, 'a number between 0 and 1; no number of attempts shows that a chance is 1'
    )) -%}
  {%- elif kind == 'drop' and (threshold is boolean or threshold is not number or not 0 <= threshold < 1) -%}
    {%- do mistakes.append(passk._var_mistake('max_drop', threshold, 'a number from 0 to less than 1')) -%}
  {%- elif kind == 'coverage' and (threshold is boolean or threshold is not number or not 0 <= threshold <= 1) -%}
    {%- do mistakes.append(passk._var_mistake('max', threshold, 'a share, from 0 to 1')) -%}
  {%- elif kind == 'regressed_tasks' and (threshold is boolean or threshold is not integer or threshold < 0) -%}
    {%- do mistakes.append(passk._var_mistake('max', threshold, 'a number of tasks, an integer of at least 0')) -%}
  {%- elif kind == 'diagnostics' -%}
    {%- set known = passk._diagnostic_words().keys() | list -%}
    {%- set named = [threshold] if threshold is string else threshold -%}
    {%- if not passk._is_list(named) or not named -%}
      {%- do mistakes.append(passk._var_mistake('diagnostics', threshold, 'all, or a list of diagnostics')) -%}
    {%- elif not passk._means_all_diagnostics(threshold) -%}
      {%- for name in named if name not in known + ['all'] -%}
        {%- do mistakes.append(passk._var_mistake('diagnostics', name, 'all, or one or more of ' ~ known | join(', '))) -%}
      {%- endfor -%}
      {%- set distinct = [] -%}
      {%- set twice = [] -%}
      {%- for name in named if name is string -%}
        {%- if name not in distinct -%}
          {%- do distinct.append(name) -%}
        {%- elif name not in twice -%}
          {%- do twice.append(name) -%}
          {%- do mistakes.append('diagnostics names ' ~ name ~ ' twice.') -%}
        {%- endif -%}
      {%- endfor -%}
      {%- if 'all' in distinct and distinct | length > 1 -%}
        {%- do mistakes.append('diagnostics names all beside others; all stands alone.') -%}
      {%- endif -%}
    {%- endif -%}
    {%- if not var('passk_diagnostics', true) -%}
      {%- do mistakes.append('passk_diagnostics is false, so that no diagnostic is computed.') -%}
    {%- endif -%}
  {%- endif -%}

  {%- if 'scope' in gate and gate.scope not in ['unseen', 'suite'] -%}
    {%- do mistakes.append(passk._var_mistake('scope', gate.scope, 'unseen (tasks like these) or suite (these tasks)')) -%}
  {%- endif -%}
  {%- set slices = [] -%}
  {%- for slice in (var('passk_slices', []) if passk._is_list(var('passk_slices', [])) else []) -%}
    {%- do slices.append(slice.name if slice is mapping else slice) -%}
  {%- endfor -%}
  {%- if 'each' in gate and gate.each != 'task' and gate.each not in slices -%}
    {%- do mistakes.append(passk._var_mistake(
      'each', gate.each, 'task, or one of passk_slices, which is ' ~ passk._shown(slices)
    )) -%}
  {%- endif -%}
  {%- if kind == 'threshold' and 'slice_value' in gate and 'each' not in gate -%}
    {%- do mistakes.append('slice_value stands without each, which says of which slice it is.') -%}
  {%- endif -%}
  {%- for name in ['run', 'suite', 'agent', 'baseline', 'slice_value'] if name in gate -%}
    {%- if gate[name] is not string or not gate[name] -%}
      {%- do mistakes.append(passk._var_mistake(name, gate[name], 'a text')) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name in ['severity', 'inconclusive'] if name in gate and gate[name] not in ['error', 'warn', 'ignore'] -%}
    {%- do mistakes.append(passk._var_mistake(name, gate[name], 'error, warn or ignore')) -%}
  {%- endfor -%}
  {{ return(mistakes) }}
{%- endmacro %}
