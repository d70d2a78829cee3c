{#- Checks every var of the package, and how they fit the input, and reports all mistakes at once. -#}
{% macro check_vars() -%}
  {%- if execute -%}
    {%- set mistakes = passk._var_mistakes() -%}
    {#- A wrong var can't be held against the input. -#}
    {%- set mistakes = mistakes or passk._input_mistakes() -%}
    {%- do passk._raise_var_mistakes(passk._unknown_vars() + mistakes) -%}
  {%- endif -%}
{%- endmacro %}


{#- Checks the vars when a run starts, if the run has something to do with the package: a wrong var does not stop a project's own models. -#}
{% macro _before_run() -%}
  {%- if execute -%}
    {%- for resource in selected_resources if resource.split('.')[1] == 'passk' -%}
      {%- if loop.first -%}
        {%- do passk.check_vars() -%}
        {%- do passk._drop_outdated_tables() -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
{%- endmacro %}


{% macro _raise_var_mistakes(mistakes) -%}
  {%- if mistakes -%}
    {{ exceptions.raise_compiler_error(
      'passk: ' ~ (mistakes | length) ~ (' var is' if mistakes | length == 1 else ' vars are') ~ ' wrong.\n  - '
      ~ (mistakes | join('\n  - ')) ~ '\nSee docs/vars.md for what each var takes.'
    ) }}
  {%- endif -%}
{%- endmacro %}


{#- The mistakes in the vars, as sentences. -#}
{% macro _var_mistakes() -%}
  {%- set vars = passk._vars() -%}
  {%- set mistakes = [] -%}
  {%- set inputs = [] -%}
  {%- for name in ['passk_attempts_model', 'passk_attempts_source', 'passk_attempts_files'] if var(name, none) is not none -%}
    {%- do inputs.append(name) -%}
  {%- endfor -%}
  {%- if inputs | length > 1 -%}
    {%- do mistakes.append((inputs | join(' and ')) ~ ' are set, but at most one input can be.') -%}
  {%- endif -%}

  {%- for name, known in vars.items() -%}
    {%- set value = var(name, known.default) -%}
    {#- The default is right, and most vars have it. -#}
    {%- if not passk._is_default(value, known.default) -%}
      {%- for mistake in passk._mistakes_of_var(name, value, known.takes) -%}{%- do mistakes.append(mistake) -%}{%- endfor -%}
    {%- endif -%}
  {%- endfor -%}

  {%- set resamples = var('passk_bootstrap', 0) -%}
  {%- if resamples and not passk._runs_python_models() -%}
    {%- do mistakes.append(
      'passk_bootstrap is ' ~ passk._shown(resamples) ~ ', but passk_suite_bootstrap is a model in Python that only DuckDB runs; '
      ~ passk._engine() ~ ' needs 0. The intervals of passk_suite_metrics need no bootstrap.'
    ) -%}
  {%- endif -%}
  {%- set ks, k = var('passk_ks', vars.passk_ks.default), var('passk_deployment_k', vars.passk_deployment_k.default) -%}
  {%- set good_ks = [] -%}
  {%- for one in (ks if passk._is_list(ks) else []) if one is integer and one is not boolean and one >= 1 -%}
    {%- do good_ks.append(one) -%}
  {%- endfor -%}
  {%- if good_ks and k is integer and k is not boolean and k >= 1 and k not in good_ks -%}
    {%- do mistakes.append(passk._var_mistake('passk_deployment_k', k, 'one of passk_ks, which is ' ~ passk._shown(ks))) -%}
  {%- endif -%}
  {%- for mistake in passk._gate_mistakes(good_ks) + passk._quarantine_mistakes() -%}{%- do mistakes.append(mistake) -%}{%- endfor -%}
  {{ return(mistakes) }}
{%- endmacro %}


{#- The mistakes in one var, and in its elements. -#}
{% macro _mistakes_of_var(name, value, takes) -%}
  {%- if not passk._fits(value, takes) -%}
    {{ return([passk._var_mistake(name, value, takes.must_be)]) }}
  {%- endif -%}
  {%- set mistakes = [] -%}
  {%- if takes.kind == 'mapping' -%}
    {%- set columns = passk._told_names() + ['passed'] -%}
    {%- for key, one in value.items() -%}
      {%- if takes.maps == 'columns' and key not in columns -%}
        {%- do mistakes.append(
          name ~ ' maps ' ~ passk._shown(key) ~ ', but the contract has no such column. It has ' ~ (columns | join(', ')) ~ '.'
        ) -%}
      {%- elif not passk._fits(one, takes.value) -%}
        {%- do mistakes.append(passk._var_mistake(name ~ '.' ~ key, one, takes.value.must_be)) -%}
      {%- endif -%}
    {%- endfor -%}
  {%- elif takes.kind == 'list' -%}
    {%- set fitting = [] -%}
    {%- for one in value -%}
      {%- if not passk._fits(one, takes.element) -%}
        {%- do mistakes.append(name ~ ' holds ' ~ passk._shown(one) ~ ', but must hold ' ~ takes.element.must_be ~ '.') -%}
      {%- elif takes.element.kind == 'texts' and one[takes.element.needs[0]] == one[takes.element.needs[1]] -%}
        {%- do mistakes.append(name ~ ' compares ' ~ passk._shown(one[takes.element.needs[0]]) ~ ' with itself.') -%}
      {%- elif takes.element.kind != 'texts' -%}
        {%- do fitting.append(one.get('name', passk._shown(one)) if one is mapping else one) -%}
      {%- endif -%}
    {%- endfor -%}
    {%- set is_twice = fitting | unique | list | length < fitting | length -%}
    {%- if takes.element.kind == 'slice' and (is_twice or 'all' in fitting) -%}
      {%- do mistakes.append(
        name ~ ' names ' ~ passk._shown(fitting) ~ ", but names must differ, and 'all' is the whole suite."
      ) -%}
    {%- elif is_twice -%}
      {%- do mistakes.append(name ~ ' is ' ~ passk._shown(value) ~ ', but must hold each ' ~ takes.once ~ ' once.') -%}
    {%- endif -%}
  {%- endif -%}
  {{ return(mistakes) }}
{%- endmacro %}


{#- Whether a value is of the kind and in the range that a var, or what it holds, takes. -#}
{% macro _fits(value, takes) -%}
  {%- set kind = takes.kind -%}
  {%- if kind in ['gates', 'quarantine'] -%}
    {#- Languages of their own: `_gate_mistakes`, `_quarantine_mistakes`. -#}
    {{ return(true) }}
  {%- elif kind == 'flag' -%}
    {{ return(value is boolean) }}
  {%- elif kind in ['number', 'integer'] -%}
    {#- Infinity and NaN, less themselves, are NaN. -#}
    {{ return(
      value is number and value is not boolean and (value is integer or kind == 'number') and value - value == 0
      and not (takes.least is defined and value < takes.least) and not (takes.most is defined and value > takes.most)
      and not (takes.below is defined and value >= takes.below)
    ) }}
  {%- elif kind == 'choice' -%}
    {{ return(value is not boolean and value in takes.choices) }}
  {%- elif kind == 'text' -%}
    {{ return(value is string and value | length > 0) }}
  {%- elif kind == 'mapping' -%}
    {{ return(value is mapping) }}
  {%- elif kind == 'list' -%}
    {{ return(passk._is_list(value) and not (takes.at_least is defined and value | length < takes.at_least)) }}
  {%- elif kind == 'pair' or kind == 'name or pair' and value is not string -%}
    {{ return(passk._is_list(value) and value | length == 2 and value[0] is string and value[1] is string) }}
  {%- elif kind == 'slice' and value is string -%}
    {{ return(value | length > 0) }}
  {%- elif kind == 'slice' -%}
    {{ return(
      value is mapping and value | length == 2 and value.name is string and value.name | length > 0
      and value.expression is string and value.expression | length > 0
    ) }}
  {%- elif kind == 'm of k' -%}
    {{ return(
      value is mapping and value | length == 2 and value.m is integer and value.m is not boolean and value.k is integer
      and value.k is not boolean and value.m >= 1 and value.m <= value.k and value.k <= 32
    ) }}
  {%- elif kind == 'texts' -%}
    {%- if value is not mapping -%}{{ return(false) }}{%- endif -%}
    {%- for name in takes.needs if name not in value -%}{{ return(false) }}{%- endfor -%}
    {%- for name, one in value.items() -%}
      {%- set is_text = one is string and one | length > 0 -%}
      {%- if name not in takes.needs and (name not in takes.get('may_have', []) or one is not none and not is_text) -%}
        {{ return(false) }}
      {%- elif name in takes.needs and not is_text -%}
        {{ return(false) }}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {{ return(true) }}
{%- endmacro %}
