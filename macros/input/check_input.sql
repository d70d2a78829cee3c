{#- Checks before an engine's error on a name that nobody knows: an input without a table, and, where no hook has checked them
    before, vars that are wrong. -#}
{% macro _check_input(relation) -%}
  {%- if execute -%}
    {%- set compiles_only = flags.WHICH in ['compile', 'generate', 'show'] -%}
    {%- if compiles_only -%}
      {%- do passk.check_vars() -%}
    {%- endif -%}
    {%- if passk._attempts_kind() == 'model' -%}
      {%- set named = passk._setting('passk_attempts_model') -%}
      {%- set named = named if named is string else named | join('.') -%}
      {%- if relation.is_cte -%}
        {{ exceptions.raise_compiler_error(
          'passk: the model ' ~ named ~ ' of the var passk_attempts_model is ephemeral, so there is no table whose columns could be '
          ~ 'asked for. Make it a view or a table.'
        ) }}
      {%- elif compiles_only and not passk._exists(relation) -%}
        {{ exceptions.raise_compiler_error(
          'passk: the model ' ~ named ~ ' of the var passk_attempts_model is not built yet: there is no ' ~ relation
          ~ '. Its columns are asked for, so build it first: dbt run --select ' ~ named ~ '.'
        ) }}
      {%- endif -%}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}


{#- The faults of slices, and with the mapping where the input can be asked before a run, as sentences. -#}
{% macro _input_mistakes() -%}
  {%- set mistakes = passk._slice_mistakes() -%}
  {%- set relation = passk._input_before_run() -%}
  {%- if relation is not none -%}
    {%- set mistakes = passk._mapping_mistakes(relation, passk._input_columns(relation)) + mistakes -%}
  {%- endif -%}
  {{ return(mistakes) }}
{%- endmacro %}


{#- The input as it is before a run; none where the run itself makes it, or it is not there, and stg_passk__attempts asks it. -#}
{% macro _input_before_run() -%}
  {%- set kind = passk._attempts_kind() -%}
  {%- if kind == 'files' -%}
    {{ return(passk._files_relation(var('passk_attempts_files'))) }}
  {%- elif kind not in ['model', 'source'] or flags.FAVOR_STATE -%}
    {{ return(none) }}
  {%- endif -%}
  {%- set named = var('passk_attempts_' ~ kind) -%}
  {%- set named = [project_name, named] if named is string else named -%}
  {%- set made = [] -%}
  {%- for resource in selected_resources if resource in graph.nodes -%}
    {%- do made.append(graph.nodes[resource].relation_name) -%}
  {%- endfor -%}
  {%- set found = [] -%}
  {%- for node in (graph.nodes if kind == 'model' else graph.sources).values()
    if node.name == named[1] and (node.package_name if kind == 'model' else node.source_name) == named[0]
      and node.resource_type in ['model', 'seed', 'snapshot', 'source'] and node.relation_name not in made -%}
    {%- do found.append(adapter.get_relation(
      node.database, node.schema, node.alias if kind == 'model' else node.identifier
    )) -%}
  {%- endfor -%}
  {{ return(found[0] if found | length == 1 else none) }}
{%- endmacro %}


{#- The columns that an input lacks, or is asked for and does not have, by passk_attempts_columns. -#}
{% macro _mapping_mistakes(relation, names) -%}
  {%- set mapped = passk._setting('passk_attempts_columns') -%}
  {%- set has = names + mapped.keys() | list -%}
  {%- set mistakes = [] -%}
  {%- for name in ['run_id', 'task_id', 'attempt'] if name not in has -%}
    {%- do mistakes.append('passk_attempts_columns has no ' ~ name ~ ', nor has the input, and every attempt needs one.') -%}
  {%- endfor -%}
  {%- if passk._setting('passk_incremental_by_loaded_at') and 'loaded_at' not in has -%}
    {%- do mistakes.append(
      'passk_incremental_by_loaded_at is true, but neither passk_attempts_columns nor the input has a loaded_at, which tells new '
      ~ 'rows from old ones.'
    ) -%}
  {%- endif -%}
  {%- if not ('outcome' in has or 'passed' in has or 'score' in has) -%}
    {%- do mistakes.append('passk_attempts_columns has no verdict, nor has the input: one of outcome, passed and score.') -%}
  {%- endif -%}
  {%- for told in passk._unknown_columns(mapped.values() | list, names) -%}
    {%- set name = (mapped.keys() | list)[loop.index0] -%}
    {%- for column in told -%}
      {%- do mistakes.append('passk_attempts_columns.' ~ name ~ ' reads ' ~ column ~ ', but the input has no such column.') -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- if mistakes -%}
    {%- do mistakes.append(mistakes.pop() ~ '\n    The input is ' ~ relation ~ ', and its columns are ' ~ (names | join(', '))
      ~ '. Name those to use, e.g. passk_attempts_columns: {run_id: my_column, passed: is_resolved}.') -%}
  {%- endif -%}
  {{ return(mistakes) }}
{%- endmacro %}


{#- The columns that slices and families read and the contract lacks. The engine then looks at each expression over no row, so that
    what else is wrong with one stops the run before a model does. -#}
{% macro _slice_mistakes() -%}
  {%- set mistakes = [] -%}
  {%- set slices = [] -%}
  {%- for name, given in [('passk_slices', passk._setting('passk_slices')), ('passk_cluster', [passk._setting('passk_cluster')]), ('passk_difficulty', [passk._setting('passk_difficulty')])] -%}
    {%- for slice in given if slice is mapping -%}
      {%- do slices.append(dict(slice, var=name)) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- for told in passk._unknown_columns(slices | map(attribute='expression') | list, passk._contract_names()) -%}
    {%- set slice = slices[loop.index0] -%}
    {%- for column in told -%}
      {%- set how = '`passk load --map tags.' ~ column ~ '=FIELD`' if passk._attempts_kind() == 'landing'
        else 'passk_attempts_columns: {tags: ' ~ passk._shown(passk._tags_of(column)) ~ '}' -%}
      {%- do mistakes.append(
        slice.var ~ ', ' ~ passk._shown(slice.name) ~ ': the contract has no column ' ~ column ~ '. A column of yours is read '
        ~ 'as a tag: ' ~ how ~ ', and the expression ' ~ passk._tag('tags', column) ~ '.'
      ) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- if slices and not mistakes -%}
    {%- do run_query(passk._slices_of_nothing(slices)) -%}
  {%- endif -%}
  {{ return(mistakes) }}
{%- endmacro %}


{#- The expressions of slices over a relation of the contract's columns without a row. Engines show the line with the error, and
    with it the comment. -#}
{% macro _slices_of_nothing(slices) -%}
select
  {%- for slice in slices %}
  cast({{ slice.expression }} as {{ dbt.type_string() }}) as slice_{{ loop.index }}{{ ',' if not loop.last }} /* {{ slice.var }}, over the contract */
  {%- endfor %}
from (
  select
    {%- for name, type in passk._contract_columns() %}
    cast(null as {{ type }}) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
) as attempts
where 1 = 0
{%- endmacro %}


{#- The columns that each of these expressions reads, but for those that are `known`. Names that an engine gives a value of its
    own are no columns. -#}
{% macro _unknown_columns(expressions, known) -%}
  {%- set unknown = [] -%}
  {%- for paths in (passk._columns_read(expressions) if expressions else []) -%}
    {%- set missing = [] -%}
    {%- for path in paths if not path | map('lower') | select('in', known) | list -%}
      {%- set name = path | join('.') -%}
      {%- if name not in missing
        and not modules.re.fullmatch('(current_.*|session_user|user|local(time|timestamp)|rowid|null|true|false)', name | lower) -%}
        {%- do missing.append(name) -%}
      {%- endif -%}
    {%- endfor -%}
    {%- do unknown.append(missing) -%}
  {%- endfor -%}
  {{ return(unknown) }}
{%- endmacro %}
