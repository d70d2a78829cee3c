{#- A view that stays as it is while its SQL, its grants and what it reads stay the same. dbt's own makes every view anew in
    every run: that is a third of the SQL of an increment, and locks out who looks at a dashboard. -#}
{% materialization passk_view, default -%}
  {%- set existing = load_cached_relation(this) -%}
  {%- set made_from = passk._made_from() -%}
  {%- do passk._spell_contract_types() -%}
  {%- if existing is not none and existing.is_view and passk._view_note(this) == made_from -%}
    {{ return(passk._leave(existing)) }}
  {%- endif -%}
  {%- if passk._makes_a_table() -%}
    {{ return(passk._make_table()) }}
  {%- endif -%}
  {#- Engines have their own way to make a view, under the name of their adapter. -#}
  {%- set made = context.get('materialization_view_' ~ adapter.type(), dbt.materialization_view_default)() -%}
  {%- do passk._note_view(this, made_from) -%}
  {{ return(made) }}
{%- endmaterialization %}


{#- All that a view is made from, as one short text: its SQL, and what may change the types of the columns that it reads. -#}
{% macro _made_from() -%}
  {{ return('made from ' ~ local_md5(tojson([
    passk._built_with(), sql, config.get('grants'), config.get('persist_docs'), config.get('contract') | string
  ]))) }}
{%- endmacro %}
