{#- The mistakes in the var `passk_gates`, as sentences. -#}
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


{#- The mistakes in a rule, by the schema of its type. -#}
{% macro _mistakes_of_gate(gate, good_ks) -%}
  {%- set schema = passk._rule_schema() -%}
  {%- if 'type' not in gate -%}
    {{ return(['type is missing; write ' ~ passk._types_that_ask(gate, schema) | join(' or ') ~ '.']) }}
  {%- elif gate.type not in schema.types.keys() | list -%}
    {{ return([passk._var_mistake('type', gate.type, 'one of ' ~ schema.types.keys() | join(', '))]) }}
  {%- endif -%}
  {%- set takes = passk._keys_of_gate(gate.type) -%}
  {%- set mistakes = [] -%}
  {%- for key in gate if key not in takes -%}
    {%- do mistakes.append(
      (key | string) ~ ' has no meaning in a rule of type ' ~ gate.type ~ ', which takes ' ~ takes.keys() | join(', ') ~ '.'
    ) -%}
  {%- endfor -%}
  {%- for key, kind in takes.items() if kind in schema.allowed and (key in gate or key in schema.required) -%}
    {%- if key == 'baseline' and gate.type == 'drop' and gate.baseline is mapping -%}
      {%- do mistakes.extend(passk._mistakes_of_rolling(gate)) -%}
    {%- elif key == 'baseline' and gate.type == 'drop' and passk._is_number_of_runs(gate.baseline) -%}
      {%- set must = 'a run_id in quotes; for the ' ~ gate.baseline ~ ' runs before, write {last: ' ~ gate.baseline ~ '}' -%}
      {%- do mistakes.append(passk._var_mistake('baseline', gate.baseline, must)) -%}
    {%- elif not passk._is_allowed(gate.get(key), schema.allowed[kind]) -%}
      {%- do mistakes.append(passk._var_mistake(key, gate.get(key), schema.allowed[kind].must)) -%}
    {%- elif key == 'k' and good_ks and gate.k not in good_ks and gate.get('metric') != 'pass_m_of_k' -%}
      {%- do mistakes.append(passk._var_mistake('k', gate.k, 'one of passk_ks, which is ' ~ passk._shown(good_ks))) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- if gate.type == 'threshold' -%}
    {%- do mistakes.extend(passk._mistakes_of_m(gate)) -%}
    {%- do mistakes.extend(passk._mistakes_of_sequence(gate)) -%}
  {%- endif -%}
  {%- if gate.type in ['cost', 'cost_increase'] -%}
    {%- set asked = var('passk_costs', passk._vars().passk_costs.default) -%}
    {%- if gate.get('metric') in passk._cost_measures() and passk._is_list(asked) and gate.metric not in asked -%}
      {%- do mistakes.append('passk_costs does not list ' ~ gate.metric ~ '.') -%}
    {%- endif -%}
  {%- elif gate.type == 'diagnostics' -%}
    {%- do mistakes.extend(passk._mistakes_of_diagnostics(gate.get('diagnostics'))) -%}
    {%- if not var('passk_diagnostics', true) -%}
      {%- do mistakes.append('passk_diagnostics is false, so that no diagnostic is computed.') -%}
    {%- endif -%}
  {%- elif gate.type == 'threshold' and 'each' in gate -%}
    {%- set slices = [] -%}
    {%- for slice in (var('passk_slices', []) if passk._is_list(var('passk_slices', [])) else []) -%}
      {%- do slices.append(slice.name if slice is mapping else slice) -%}
    {%- endfor -%}
    {%- if gate.each not in slices -%}
      {%- do mistakes.append(passk._var_mistake('each', gate.each, 'one of passk_slices, which is ' ~ passk._shown(slices))) -%}
    {%- endif -%}
  {%- elif gate.type == 'threshold' and 'slice_value' in gate -%}
    {%- do mistakes.append('slice_value stands without each, which says of which slice it is.') -%}
  {%- endif -%}
  {{ return(mistakes) }}
{%- endmacro %}


{#- The mistakes in how many of the tries a rule asks for. -#}
{% macro _mistakes_of_m(gate) -%}
  {%- set m, k = gate.get('m'), gate.get('k') -%}
  {%- if gate.get('metric') != 'pass_m_of_k' -%}
    {{ return(['m has no meaning without metric: pass_m_of_k.'] if 'm' in gate else []) }}
  {%- elif 'm' not in gate or 'k' not in gate -%}
    {{ return(['pass_m_of_k takes both m and k: at least m of k tries succeed.']) }}
  {%- elif m is not integer or k is not integer or m is boolean or k is boolean -%}
    {{ return([]) }}
  {%- elif m < 1 or m > k or k > 32 -%}
    {{ return(['m is ' ~ m ~ ' and k is ' ~ k ~ ', but m must be from 1 to k, and k up to 32.']) }}
  {%- endif -%}
  {%- if gate.get('sequential') -%}
    {{ return([]) }}
  {%- endif -%}
  {%- set asked = var('passk_m_of_k', []) -%}
  {%- for pair in asked if passk._is_list(asked) and pair is mapping and pair.get('m') == m and pair.get('k') == k -%}
    {{ return([]) }}
  {%- endfor -%}
  {{ return(['passk_m_of_k does not list {m: ' ~ m ~ ', k: ' ~ k ~ '}.']) }}
{%- endmacro %}


{#- The mistakes in a rule that may be looked at often, or in what only such a rule takes. -#}
{% macro _mistakes_of_sequence(gate) -%}
  {%- if not gate.get('sequential') -%}
    {{ return(['attempts has no meaning without sequential: true.'] if 'attempts' in gate else []) }}
  {%- endif -%}
  {%- set mistakes = [] -%}
  {%- if 'each' in gate or 'slice_value' in gate or gate.get('scope') == 'suite' -%}
    {%- do mistakes.append('sequential judges a whole suite for tasks like these, so it stands without each, slice_value and scope: suite.') -%}
  {%- endif -%}
  {%- if 'attempts' in gate and 'k' not in gate -%}
    {%- do mistakes.append('attempts takes a k in the same rule, and must be at least k.') -%}
  {%- elif 'attempts' in gate and gate.attempts is integer and gate.k is integer and gate.attempts < gate.k -%}
    {%- do mistakes.append('attempts is ' ~ gate.attempts ~ ', but must be at least k, which is ' ~ gate.k ~ '.') -%}
  {%- endif -%}
  {%- if var('passk_cluster', none) is not none -%}
    {%- do mistakes.append('sequential takes each task for a draw of its own, but passk_cluster says that tasks are related.') -%}
  {%- endif -%}
  {{ return(mistakes) }}
{%- endmacro %}


{#- Whether a mean over so many runs can be a baseline. -#}
{% macro _is_number_of_runs(value) -%}
  {{ return(value is integer and value is not boolean and value >= 3 and value <= 100) }}
{%- endmacro %}


{#- The mistakes in a rule about the runs before. -#}
{% macro _mistakes_of_rolling(gate) -%}
  {%- set mistakes = [] -%}
  {%- if gate.baseline.keys() | list != ['last'] or not passk._is_number_of_runs(gate.baseline.get('last')) -%}
    {%- do mistakes.append(passk._var_mistake('baseline', gate.baseline, 'a run_id, or {last: 6} with 3 to 100 runs')) -%}
  {%- endif -%}
  {%- if gate.get('scope') == 'unseen' -%}
    {%- do mistakes.append('A baseline of the last runs is about these tasks, so the rule takes no scope: unseen.') -%}
  {%- endif -%}
  {{ return(mistakes) }}
{%- endmacro %}


{#- The types that take what a rule asks for, as they are written; all where that can't be told. -#}
{% macro _types_that_ask(gate, schema) -%}
  {%- set found = [] -%}
  {%- set all = [] -%}
  {%- for type, keys in schema.types.items() -%}
    {%- do all.append('type: ' ~ type) -%}
    {%- for key in keys if key != 'metric' and key in schema.required and key in gate -%}
      {%- do found.append('type: ' ~ type) -%}
    {%- endfor -%}
  {%- endfor -%}
  {{ return(found or all) }}
{%- endmacro %}


{#- The keys that a rule of a type takes, with what their values are. -#}
{% macro _keys_of_gate(type) -%}
  {%- set keys = passk._rule_schema().common.copy() -%}
  {%- do keys.update(passk._rule_schema().types[type]) -%}
  {{ return(keys) }}
{%- endmacro %}


{% macro _is_allowed(value, allowed) -%}
  {%- if 'one_of' in allowed -%}
    {{ return(value in allowed.one_of) }}
  {%- elif allowed['is'] == 'text' -%}
    {{ return(value is string and value | length > 0) }}
  {%- elif allowed['is'] == 'day' -%}
    {{ return(passk._is_day(value)) }}
  {%- elif value is boolean or value is not number or (allowed['is'] == 'integer' and value is not integer) -%}
    {{ return(false) }}
  {%- endif -%}
  {{ return(
    value >= allowed.get('least', value) and value <= allowed.get('most', value)
    and value > allowed.get('above', value - 1) and value < allowed.get('below', value + 1)
  ) }}
{%- endmacro %}


{% macro _mistakes_of_diagnostics(given) -%}
  {%- set mistakes = [] -%}
  {%- set known = passk._diagnostic_words().keys() | list -%}
  {%- set named = [given] if given is string else given -%}
  {%- if not passk._is_list(named) or not named -%}
    {%- do mistakes.append(passk._var_mistake('diagnostics', given, 'all, or a list of diagnostics')) -%}
  {%- elif not passk._means_all_diagnostics(given) -%}
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
  {{ return(mistakes) }}
{%- endmacro %}
