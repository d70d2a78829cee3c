{#- Version, code and vars that shape a table, as one short text: rows with another one are made anew. What it has before the last
    stroke is the same for all tables of a build, so that tables of two builds can be told apart. -#}
{% macro _built_with() -%}
  {%- set shaping = [['input', passk._attempts_kind()]] -%}
  {%- for name in [
    'passk_attempts_model', 'passk_attempts_source', 'passk_attempts_files', 'passk_attempts_columns',
    'passk_landing_schema', 'passk_score_threshold', 'passk_outcome_policy', 'passk_ks', 'passk_min_eligible_share', 'passk_slices',
    'passk_ordered_metrics', 'passk_capable_threshold', 'passk_consistent_threshold'
  ] -%}
    {%- do shaping.append([name, var(name, none)]) -%}
  {%- endfor -%}
  {#- Vars that shape this table only. -#}
  {%- set own = [] -%}
  {%- for name in model.config.get('meta', {}).get('shaped_by', []) -%}
    {%- do own.append([name, var(name, none)]) -%}
  {%- endfor -%}
  {%- if model.config.get('meta', {}).get('makes_functions') -%}
    {%- do own.append(passk._functions_schema()) -%}
  {%- endif -%}
  {%- set sources = {} -%}
  {%- do passk._add_sources(model.unique_id, sources) -%}
  {{ return([passk._version(), local_md5(tojson(shaping)), local_md5(tojson([own, sources]))] | join('/')) }}
{%- endmacro %}


{#- Adds the checksums of a node and of all that it is built from. -#}
{% macro _add_sources(node_id, found) -%}
  {%- set node = graph.get('nodes', {}).get(node_id) if execute -%}
  {%- if node and node_id not in found -%}
    {%- do found.update({node_id: node.checksum.checksum}) -%}
    {%- for parent in node.depends_on.nodes -%}
      {%- do passk._add_sources(parent, found) -%}
    {%- endfor -%}
  {%- endif -%}
{%- endmacro %}


{#- Before a run: drops the tables of an older version that have other columns than their models, which then make them whole. -#}
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
