{#- Gives the version, code and vars that shape a table as one short text: rows with another text are rebuilt. The part before the
    last stroke is the same for all tables of a build, so that tables of two builds can be told apart. The code is the files of
    the model and of all above it; dbt shows no macro to a project, so `--full-refresh` is needed after an edit of one. The vars are
    those of `_vars` that say so, and are right once dbt runs: until then one may hold a time, which JSON has no word for. -#}
{% macro _built_with() -%}
  {%- set shaping = [['input', passk._attempts_kind()], ['functions', passk._functions_schema()]] -%}
  {%- for name, known in passk._vars().items() if known.rebuilds -%}
    {%- do shaping.append([name, var(name, none)]) -%}
  {%- endfor -%}
  {{ return([passk._version(), local_md5(tojson(shaping) if execute else ''), local_md5(tojson(passk._origins(model.unique_id)))] | join('/')) }}
{%- endmacro %}


{#- All that a node is made from, itself among them: the checksum of each model and seed, and the place of each source. -#}
{% macro _origins(node_id) -%}
  {%- set found = {} -%}
  {%- set level = namespace(ids=[node_id] if execute else []) -%}
  {#- No way up is longer than all nodes. A macro that calls itself would be called thousands of times in a build. -#}
  {%- for _ in graph.get('nodes', {}) -%}
    {%- set above = [] -%}
    {%- for id in level.ids -%}
      {%- if id in graph.sources -%}
        {%- do found.update({id: graph.sources[id].relation_name}) -%}
      {%- elif id in graph.nodes and id not in found -%}
        {%- do found.update({id: graph.nodes[id].checksum.checksum}) -%}
        {%- do above.extend(graph.nodes[id].depends_on.nodes) -%}
      {%- endif -%}
    {%- endfor -%}
    {%- set level.ids = above -%}
  {%- endfor -%}
  {{ return(found) }}
{%- endmacro %}


{#- Before a run: drops the tables of an older version that have other columns than their models, which then make them whole.
    So the YAML of an incremental model lists every column that it has. -#}
{% macro _drop_outdated_tables() -%}
  {%- set outdated = [] -%}
  {%- for name, node in graph.nodes | dictsort
    if name in selected_resources and node.package_name == 'passk' and node.config.materialized == 'incremental' -%}
    {%- set table = adapter.get_relation(node.database, node.schema, node.alias) -%}
    {%- set columns = adapter.get_columns_in_relation(table) | map(attribute='name') | map('lower') | sort if table else none -%}
    {%- if columns is not none and columns != node.columns.keys() | map('lower') | sort -%}
      {%- do log('passk: ' ~ table ~ ' is of another version of passk, and is made anew.', info=true) -%}
      {%- do adapter.drop_relation(table) -%}
      {%- do outdated.append(table) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- if outdated -%}
    {#- dbt ends a hook without keeping what it did beside its SQL. -#}
    {%- call statement('begin', auto_begin=True) -%} select 1 {%- endcall -%}
    {%- do adapter.commit() -%}
  {%- endif -%}
{%- endmacro %}
