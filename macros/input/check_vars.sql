{#- Checks every var of the package, and how they fit the input, and reports all mistakes at once. -#}
{% macro check_vars() -%}
  {%- if execute -%}
    {%- set mistakes = passk._var_mistakes() -%}
    {#- A wrong var can't be held against the input. -#}
    {%- set mistakes = mistakes or passk._input_mistakes() -%}
    {%- do passk._raise_var_mistakes(passk._unknown_vars() + mistakes) -%}
  {%- endif -%}
{%- endmacro %}


{#- The same when a run starts, if the run has something to do with the package: a wrong var does not stop a project's own models. -#}
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


{% macro _var_mistakes() -%}
  {%- set mistakes = [] -%}

  {#- Where the attempts come from. -#}
  {%- set inputs = [] -%}
  {%- for name in ['passk_attempts_model', 'passk_attempts_source', 'passk_attempts_files'] -%}
    {%- if var(name, none) is not none -%}{%- do inputs.append(name) -%}{%- endif -%}
  {%- endfor -%}
  {%- if inputs | length > 1 -%}
    {%- do mistakes.append((inputs | join(' and ')) ~ ' are set, but at most one input can be.') -%}
  {%- endif -%}
  {%- set model = var('passk_attempts_model', none) -%}
  {%- if model is not none and model is not string and not passk._is_pair_of_texts(model) -%}
    {%- do mistakes.append(passk._var_mistake('passk_attempts_model', model, 'a model name or [project, model]')) -%}
  {%- endif -%}
  {%- set named = var('passk_attempts_source', none) -%}
  {%- if named is not none and not passk._is_pair_of_texts(named) -%}
    {%- do mistakes.append(passk._var_mistake('passk_attempts_source', named, '[source, table]')) -%}
  {%- endif -%}
  {%- set files = var('passk_attempts_files', none) -%}
  {%- if files is not none and (files is not string or not files) -%}
    {%- do mistakes.append(passk._var_mistake('passk_attempts_files', files, 'a path or a glob')) -%}
  {%- endif -%}
  {%- set columns = var('passk_attempts_columns', {}) -%}
  {%- if columns is not mapping -%}
    {%- do mistakes.append(passk._var_mistake('passk_attempts_columns', columns, 'a mapping of contract columns to SQL expressions')) -%}
  {%- else -%}
    {%- for name, expression in columns.items() -%}
      {%- if name not in passk._told_names() + ['passed'] -%}
        {%- do mistakes.append(
          'passk_attempts_columns maps ' ~ passk._shown(name) ~ ', but the contract has no such column. It has '
          ~ ((passk._told_names() + ['passed']) | join(', ')) ~ '.'
        ) -%}
      {%- elif expression is not string or not expression -%}
        {%- do mistakes.append(passk._var_mistake('passk_attempts_columns.' ~ name, expression, 'an SQL expression')) -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {%- set schema = var('passk_landing_schema', 'landing') -%}
  {%- if schema is not string or not schema -%}
    {%- do mistakes.append(passk._var_mistake('passk_landing_schema', schema, 'a schema name')) -%}
  {%- endif -%}

  {#- Outcomes and classes. -#}
  {%- set threshold = var('passk_score_threshold', 1.0) -%}
  {%- if threshold is boolean or threshold is not number -%}
    {%- do mistakes.append(passk._var_mistake('passk_score_threshold', threshold, 'a number')) -%}
  {%- endif -%}
  {%- set policy = var('passk_outcome_policy', {}) -%}
  {%- if policy is not mapping -%}
    {%- do mistakes.append(passk._var_mistake('passk_outcome_policy', policy, 'a mapping of outcome_reason to failed or excluded')) -%}
  {%- else -%}
    {%- for reason, verdict in policy.items() if verdict not in ['failed', 'excluded'] -%}
      {%- do mistakes.append(passk._var_mistake('passk_outcome_policy.' ~ reason, verdict, 'failed or excluded')) -%}
    {%- endfor -%}
  {%- endif -%}

  {#- Which numbers. -#}
  {%- set ks = var('passk_ks', none) -%}
  {%- set good_ks = [] -%}
  {%- if not passk._is_list(ks) or ks | length == 0 -%}
    {%- do mistakes.append(passk._var_mistake('passk_ks', ks, 'a list of integers of at least 1')) -%}
  {%- else -%}
    {%- for k in ks -%}
      {%- if k is boolean or k is not integer or k < 1 -%}
        {%- do mistakes.append('passk_ks holds ' ~ passk._shown(k) ~ ', but must hold integers of at least 1 only.') -%}
      {%- else -%}
        {%- do good_ks.append(k) -%}
      {%- endif -%}
    {%- endfor -%}
    {%- if (good_ks | unique | list | length) < (good_ks | length) -%}
      {%- do mistakes.append('passk_ks is ' ~ passk._shown(ks) ~ ', but must hold each k once.') -%}
    {%- endif -%}
  {%- endif -%}
  {%- set share = var('passk_min_eligible_share', 0.95) -%}
  {%- if share is boolean or share is not number or share < 0 or share > 1 -%}
    {%- do mistakes.append(passk._var_mistake('passk_min_eligible_share', share, 'a number from 0 to 1')) -%}
  {%- endif -%}
  {%- set slices = var('passk_slices', []) -%}
  {%- if not passk._is_list(slices) -%}
    {%- do mistakes.append(passk._var_mistake('passk_slices', slices, 'a list of tags or of {name: ..., expression: ...}')) -%}
  {%- else -%}
    {%- set names = [] -%}
    {%- for slice in slices -%}
      {%- if slice is string and slice -%}
        {%- do names.append(slice) -%}
      {%- elif slice is mapping and slice.name is string and slice.expression is string -%}
        {%- do names.append(slice.name) -%}
      {%- else -%}
        {%- do mistakes.append('passk_slices holds ' ~ passk._shown(slice) ~ ', but must hold tags or {name: ..., expression: ...}.') -%}
      {%- endif -%}
    {%- endfor -%}
    {%- if 'all' in names or (names | unique | list | length) < (names | length) -%}
      {%- do mistakes.append("passk_slices names " ~ passk._shown(names) ~ ", but names must differ, and 'all' is the whole suite.") -%}
    {%- endif -%}
  {%- endif -%}

  {%- set extrapolated = var('passk_extrapolated_ks', []) -%}
  {%- set most = passk._most_numbered() -%}
  {%- if not passk._is_list(extrapolated) -%}
    {%- do mistakes.append(passk._var_mistake('passk_extrapolated_ks', extrapolated, 'a list of integers from 1 to ' ~ most)) -%}
  {%- else -%}
    {%- for k in extrapolated if k is boolean or k is not integer or k < 1 or k > most -%}
      {%- do mistakes.append(
        'passk_extrapolated_ks holds ' ~ passk._shown(k) ~ ', but must hold integers from 1 to ' ~ most ~ ' only.'
      ) -%}
    {%- else -%}
      {%- if (extrapolated | unique | list | length) < (extrapolated | length) -%}
        {%- do mistakes.append('passk_extrapolated_ks is ' ~ passk._shown(extrapolated) ~ ', but must hold each k once.') -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}

  {#- How sure the intervals are. -#}
  {%- set confidence = var('passk_confidence', 0.95) -%}
  {%- if confidence is boolean or confidence not in [0.8, 0.9, 0.95, 0.99] -%}
    {%- do mistakes.append(passk._var_mistake('passk_confidence', confidence, '0.8, 0.9, 0.95 or 0.99')) -%}
  {%- endif -%}

  {%- set resamples = var('passk_bootstrap', 0) -%}
  {%- if resamples is boolean or resamples is not integer or (resamples != 0 and resamples < 100) -%}
    {%- do mistakes.append(passk._var_mistake('passk_bootstrap', resamples, '0 or an integer from 100')) -%}
  {%- endif -%}
  {%- if resamples and not passk._runs_python_models() -%}
    {%- do mistakes.append(
      'passk_bootstrap is ' ~ passk._shown(resamples) ~ ', but passk_suite_bootstrap is a model in Python that only DuckDB runs; '
      ~ passk._engine() ~ ' needs 0. The intervals of passk_suite_metrics need no bootstrap.'
    ) -%}
  {%- endif -%}
  {%- set seed = var('passk_bootstrap_seed', 0) -%}
  {%- if seed is boolean or seed is not integer -%}
    {%- do mistakes.append(passk._var_mistake('passk_bootstrap_seed', seed, 'an integer')) -%}
  {%- endif -%}

  {#- Which runs are compared. -#}
  {%- set pairs = var('passk_pairs', []) -%}
  {%- if not passk._is_list(pairs) -%}
    {%- do mistakes.append(passk._var_mistake(
      'passk_pairs', pairs, 'a list of {baseline: run_id, candidate: run_id}, each with a suite if it is for one only'
    )) -%}
  {%- else -%}
    {%- for pair in pairs -%}
      {%- set good = namespace(is=pair is mapping) -%}
      {%- if good.is -%}
        {%- for name, value in pair.items()
          if name not in ['baseline', 'candidate', 'suite'] or value is not string or not value -%}
          {%- if not (name == 'suite' and value is none) -%}{%- set good.is = false -%}{%- endif -%}
        {%- endfor -%}
      {%- endif -%}
      {%- if not good.is or 'baseline' not in pair or 'candidate' not in pair -%}
        {%- do mistakes.append(
          'passk_pairs holds ' ~ passk._shown(pair)
          ~ ', but must hold {baseline: run_id, candidate: run_id} or {baseline: run_id, candidate: run_id, suite: suite}, all texts.'
        ) -%}
      {%- elif pair.baseline == pair.candidate -%}
        {%- do mistakes.append('passk_pairs compares ' ~ passk._shown(pair.baseline) ~ ' with itself.') -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {%- set baseline = var('passk_baseline', none) -%}
  {%- if baseline is not none and (baseline is not string or not baseline) -%}
    {%- do mistakes.append(passk._var_mistake('passk_baseline', baseline, 'a run_id')) -%}
  {%- endif -%}
  {%- set change = var('passk_minimum_change', 0.0) -%}
  {%- if change is boolean or change is not number or change < 0 or change >= 1 -%}
    {%- do mistakes.append(passk._var_mistake('passk_minimum_change', change, 'a number from 0 to less than 1')) -%}
  {%- endif -%}

  {#- How much the next run should measure. -#}
  {%- set planned = var('passk_plan_attempts', [1]) -%}
  {%- if not passk._is_list(planned) or planned | length == 0 -%}
    {%- do mistakes.append(passk._var_mistake('passk_plan_attempts', planned, 'a list of integers from 1 to 1000')) -%}
  {%- else -%}
    {%- for attempts in planned if attempts is boolean or attempts is not integer or attempts < 1 or attempts > 1000 -%}
      {%- do mistakes.append(
        'passk_plan_attempts holds ' ~ passk._shown(attempts) ~ ', but must hold integers from 1 to 1000 only.'
      ) -%}
    {%- else -%}
      {%- if (planned | unique | list | length) < (planned | length) -%}
        {%- do mistakes.append('passk_plan_attempts is ' ~ passk._shown(planned) ~ ', but must hold each number once.') -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {%- for name in ['passk_plan_width', 'passk_plan_difference'] -%}
    {%- set value = var(name, 0.1) -%}
    {%- if value is boolean or value is not number or value < 0.001 or value >= 1 -%}
      {%- do mistakes.append(passk._var_mistake(name, value, 'a number from 0.001 to less than 1')) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set power = var('passk_plan_power', 0.8) -%}
  {%- if power is boolean or power not in [0.8, 0.9, 0.95, 0.99] -%}
    {%- do mistakes.append(passk._var_mistake('passk_plan_power', power, '0.8, 0.9, 0.95 or 0.99')) -%}
  {%- endif -%}

  {#- Has a public suite leaked into a model? -#}
  {%- set suites = var('passk_private_suites', []) -%}
  {%- if not passk._is_list(suites) -%}
    {%- do mistakes.append(passk._var_mistake('passk_private_suites', suites, 'a list of {public: suite, private: suite}')) -%}
  {%- else -%}
    {%- for pair in suites -%}
      {%- if pair is not mapping or pair | length != 2 or pair.public is not string or pair.private is not string
        or not pair.public or not pair.private -%}
        {%- do mistakes.append(
          'passk_private_suites holds ' ~ passk._shown(pair) ~ ', but must hold {public: suite, private: suite}, both texts.'
        ) -%}
      {%- elif pair.public == pair.private -%}
        {%- do mistakes.append('passk_private_suites compares ' ~ passk._shown(pair.public) ~ ' with itself.') -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}

  {#- How they are read. -#}
  {%- set k = var('passk_deployment_k', 4) -%}
  {%- if k is boolean or k is not integer or k < 1 -%}
    {%- do mistakes.append(passk._var_mistake('passk_deployment_k', k, 'an integer of at least 1')) -%}
  {%- elif good_ks and k not in good_ks -%}
    {%- do mistakes.append(passk._var_mistake('passk_deployment_k', k, 'one of passk_ks, which is ' ~ passk._shown(ks))) -%}
  {%- endif -%}
  {%- for name in [
    'passk_capable_threshold', 'passk_consistent_threshold', 'passk_consistent_rate', 'passk_incapable_rate'
  ] -%}
    {%- set value = var(name, 0.5) -%}
    {%- if value is boolean or value is not number or value < 0 or value > 1 -%}
      {%- do mistakes.append(passk._var_mistake(name, value, 'a number from 0 to 1')) -%}
    {%- endif -%}
  {%- endfor -%}

  {#- Gates. -#}
  {%- for mistake in passk._gate_mistakes(good_ks) -%}
    {%- do mistakes.append(mistake) -%}
  {%- endfor -%}

  {%- for name in [
    'passk_ordered_metrics', 'passk_diagnostics', 'passk_create_sql_functions', 'passk_incremental_by_loaded_at',
    'passk_semantic_layer'
  ] -%}
    {%- if var(name, true) is not boolean -%}
      {%- do mistakes.append(passk._var_mistake(name, var(name), 'true or false')) -%}
    {%- endif -%}
  {%- endfor -%}
  {{ return(mistakes) }}
{%- endmacro %}


{% macro _var_mistake(name, value, allowed) -%}
  {%- set quotes = '; write it in quotes' if allowed in ['a text', 'a run_id'] and passk._is_date(value) else '' -%}
  {{ return(name ~ ' is ' ~ passk._shown(value) ~ ', but must be ' ~ allowed ~ quotes ~ '.') }}
{%- endmacro %}


{#- A value as a message has it: as JSON, with its keys sorted and without escapes that only HTML needs; what JSON has no word
    for, such as a date, as it is. -#}
{% macro _shown(value) -%}
  {%- if value is string -%}
    {%- set shown = [] -%}
    {%- for sign in value -%}
      {%- do shown.append(sign if sign > '~' else tojson(sign)[1:-1]) -%}
    {%- endfor -%}
    {{ return('"' ~ (shown | join) ~ '"') }}
  {%- elif value is mapping -%}
    {%- set shown = {} -%}
    {%- for name, one in value.items() -%}
      {%- set text = name if name is string else passk._shown(name) -%}
      {%- do shown.update({text: passk._shown(text) ~ ': ' ~ passk._shown(one)}) -%}
    {%- endfor -%}
    {%- set parts = [] -%}
    {%- for text in shown | sort(case_sensitive=true) -%}{%- do parts.append(shown[text]) -%}{%- endfor -%}
    {{ return('{' ~ (parts | join(', ')) ~ '}') }}
  {%- elif passk._is_list(value) -%}
    {%- set shown = [] -%}
    {%- for one in value -%}{%- do shown.append(passk._shown(one)) -%}{%- endfor -%}
    {{ return('[' ~ (shown | join(', ')) ~ ']') }}
  {%- elif value is none or value is boolean or value is number -%}
    {{ return(tojson(value)) }}
  {%- endif -%}
  {{ return(value | string) }}
{%- endmacro %}


{#- Whether YAML took a value for a date, as it does where one stands without quotes. -#}
{% macro _is_date(value) -%}
  {{ return(value is not mapping and value.isoformat is defined) }}
{%- endmacro %}


{% macro _is_pair_of_texts(value) -%}
  {{ return(
    passk._is_list(value) and value | length == 2
    and value[0] is string and value[1] is string
  ) }}
{%- endmacro %}
