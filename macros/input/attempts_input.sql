{#- The input from which the attempts come: 'model', 'source', 'files', 'demo' or 'landing'. -#}
{% macro _attempts_kind() -%}
  {%- if passk._setting('passk_attempts_model') is not none -%}
    {{ return('model') }}
  {%- elif passk._setting('passk_attempts_source') is not none -%}
    {{ return('source') }}
  {%- elif passk._setting('passk_attempts_files') is not none -%}
    {{ return('files') }}
  {%- elif passk._is_demo() -%}
    {{ return('demo') }}
  {%- endif -%}
  {{ return('landing') }}
{%- endmacro %}


{#- Whether this is one of the project's own targets for the demo log, `demo` and `demo_ENGINE`. Its seed is enabled by the same
    question in dbt_project.yml, where no macro can be called. -#}
{% macro _is_demo() -%}
  {{ return(target.profile_name == 'passk' and target.name.split('_')[0] == 'demo') }}
{%- endmacro %}


{#- Whether the landing schema says how many attempts there should be. -#}
{% macro _lands_expectations() -%}
  {%- if passk._attempts_kind() != 'landing' -%}
    {{ return(false) }}
  {%- endif -%}
  {%- set landed = source('passk_landing', 'expected_attempts') -%}
  {%- if not execute -%}
    {{ return(true) }}
  {%- endif -%}
  {{ return(passk._exists(landed)) }}
{%- endmacro %}


{#- Whether landed attempts say where their transcripts lie. Versions before 0.2 did not, and the next `passk load` adds the column. -#}
{% macro _lands_transcripts(relation) -%}
  {{ return(not execute or not passk._exists(relation) or 'transcript' in passk._input_columns(relation)) }}
{%- endmacro %}


{#- Whether a table of another schema is there. dbt keeps the tables of a schema in a cache that it fills one by one, and takes
    the cache for whole as soon as the first is in it: while another thread fills it, a table may be missing. A query later
    it is there. -#}
{% macro _exists(relation) -%}
  {%- if adapter.get_relation(relation.database, relation.schema, relation.identifier) is not none -%}
    {{ return(true) }}
  {%- endif -%}
  {%- do run_query('select 1 as one') -%}
  {{ return(adapter.get_relation(relation.database, relation.schema, relation.identifier) is not none) }}
{%- endmacro %}


{#- The relation to select from. Called in a model's body, so that dbt sees the dependency. -#}
{% macro _attempts_relation() -%}
  {%- set kind = passk._attempts_kind() -%}
  {%- if kind == 'model' -%}
    {%- set named = passk._setting('passk_attempts_model') -%}
    {%- if named is string -%}
      {#- dbt warns of a package that reads the project's model without naming the project. -#}
      {{ return(ref(project_name, named)) }}
    {%- endif -%}
    {{ return(ref(named[0], named[1])) }}
  {%- elif kind == 'source' -%}
    {%- set named = passk._setting('passk_attempts_source') -%}
    {{ return(source(named[0], named[1])) }}
  {%- elif kind == 'files' -%}
    {{ return(passk._files_relation(passk._setting('passk_attempts_files'))) }}
  {%- elif kind == 'demo' -%}
    {{ return(ref('passk_demo_attempts')) }}
  {%- endif -%}
  {{ return(source('passk_landing', 'attempts')) }}
{%- endmacro %}


{#- The contract's columns: [name, type], in order. passk_py/common/contract.py is the other copy; a test compares them. -#}
{% macro _contract_columns() -%}
  {%- set text, number, whole = dbt.type_string(), passk.type_double(), dbt.type_bigint() -%}
  {{ return([
    ['run_id', text], ['suite', text], ['task_id', text], ['attempt', whole], ['outcome', text],
    ['outcome_reason', text], ['score', number], ['agent', text], ['agent_version', text], ['model', text],
    ['seed', whole], ['started_at', dbt.type_timestamp()], ['duration_s', number], ['cost_usd', number],
    ['input_tokens', whole], ['output_tokens', whole], ['output_hash', text], ['tags', passk.type_tags()],
    ['transcript', text],
    ['source_file', text], ['source_line', whole], ['source_format', text], ['loaded_at', dbt.type_timestamp()]
  ]) }}
{%- endmacro %}


{% macro _contract_names() -%}
  {{ return(passk._contract_columns() | map(attribute=0) | list) }}
{%- endmacro %}


{#- The columns that an input may have: the contract's columns, and how many attempts of its task were to be made, which
    stg_passk__expected_attempts keeps by task. -#}
{% macro _told_columns() -%}
  {{ return(passk._contract_columns() + [['expected_attempts', dbt.type_bigint()]]) }}
{%- endmacro %}


{% macro _told_names() -%}
  {{ return(passk._told_columns() | map(attribute=0) | list) }}
{%- endmacro %}


{#- Slices as the models use them: [{name, expression}], with those of tasks in quarantine last. A plain name is a tag. -#}
{% macro _slices() -%}
  {%- set slices = [] -%}
  {%- for slice in passk._setting('passk_slices') -%}
    {%- if slice is string -%}
      {%- do slices.append({'name': slice, 'expression': passk._tag('tags', slice)}) -%}
    {%- else -%}
      {%- do slices.append({'name': slice.name, 'expression': slice.expression}) -%}
    {%- endif -%}
  {%- endfor -%}
  {{ return(slices + passk._slices_of_quarantine(slices)) }}
{%- endmacro %}


{#- The family of a task over the contract's columns; none where the var `passk_cluster` is not set. A plain name is a column, or
    else a tag. -#}
{% macro _family() -%}
  {%- set cluster = passk._setting('passk_cluster') -%}
  {%- if cluster is none -%}
    {{ return(none) }}
  {%- elif cluster is mapping -%}
    {{ return(cluster.expression) }}
  {%- elif cluster in passk._contract_names() -%}
    {{ return(cluster) }}
  {%- endif -%}
  {{ return(passk._tag('tags', cluster)) }}
{%- endmacro %}


{#- It as a column of attempts. -#}
{% macro _family_column() -%}
nullif(cast({{ passk._family() or 'null' }} as {{ dbt.type_string() }}), '') as family
{%- endmacro %}
