{#- What a view was made from, kept beside it. An engine without these makes its views anew in every run. -#}

{% macro _view_note(relation) -%}
  {{ return(adapter.dispatch('_view_note', 'passk')(relation)) }}
{%- endmacro %}

{% macro default___view_note(relation) -%}
  {{ return(none) }}
{%- endmacro %}

{#- Of all views at once: they are two thirds of the models, and each question would look through the catalog. `graph` is what
    the models of a run share. A run makes a view once at most, after it has read its note. -#}
{% macro duckdb___view_note(relation) -%}
  {%- set notes = graph.get('passk_view_notes', {}).get(invocation_id) -%}
  {%- if notes is none -%}
    {%- set notes = {} -%}
    {%- for row in run_query(
      'select database_name, schema_name, view_name, comment from duckdb_views() where comment is not null'
    ).rows -%}
      {%- do notes.update({row.values()[:3] | join('.'): row[3]}) -%}
    {%- endfor -%}
    {%- do graph.update({'passk_view_notes': {invocation_id: notes}}) -%}
  {%- endif -%}
  {{ return(notes.get([relation.database, relation.schema, relation.identifier] | join('.'))) }}
{%- endmacro %}


{% macro _note_view(relation, note) -%}
  {{ return(adapter.dispatch('_note_view', 'passk')(relation, note)) }}
{%- endmacro %}

{% macro default___note_view(relation, note) -%}
{%- endmacro %}

{#- Outside of a transaction: a view without its note is made anew, nothing worse. With `persist_docs` the description goes
    into the comment, so there is no place for a note. -#}
{% macro duckdb___note_view(relation, note) -%}
  {%- if not config.persist_relation_docs() -%}
    {%- call statement('note_view', auto_begin=False) -%}
      comment on view {{ relation }} is {{ passk._quoted(note) }}
    {%- endcall -%}
  {%- endif -%}
{%- endmacro %}


{#- Whether a model that is a view elsewhere is a table here. -#}
{% macro _makes_a_table() -%}
  {{ return(adapter.dispatch('_makes_a_table', 'passk')()) }}
{%- endmacro %}

{% macro default___makes_a_table() -%}
  {{ return(false) }}
{%- endmacro %}

{#- Spark writes out all that a view reads, and again what this reads, before it looks at a row: seconds of every query, minutes
    where views read views. What has a row for each attempt stays a view, so that the log is not stored again. -#}
{% macro spark___makes_a_table() -%}
  {{ return(model.name not in [
    'stg_passk__attempts', 'stg_passk__expected_attempts', 'int_passk__attempts', 'passk_attempts', 'int_passk__rejected_attempts',
    'passk_rejected_attempts'
  ]) }}
{%- endmacro %}
