{#- Makes a table of the model's SQL, as dbt's own materialization does: on dbt v2 none can call another. -#}
{% macro _make_table() -%}
  {{ return(adapter.dispatch('_make_table', 'passk')()) }}
{%- endmacro %}


{#- The table that it replaces stays until the new one is there. -#}
{% macro default___make_table() -%}
  {%- set target = this.incorporate(type='table') -%}
  {%- set existing = load_cached_relation(this) -%}
  {%- set intermediate = make_intermediate_relation(target) -%}
  {%- set backup = make_backup_relation(target, 'table' if existing is none else existing.type) -%}
  {#- Leftovers of a build that was stopped. -#}
  {%- do drop_relation_if_exists(load_cached_relation(intermediate)) -%}
  {%- do drop_relation_if_exists(load_cached_relation(backup)) -%}
  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}
  {%- call statement('main') -%}
    {{ get_create_table_as_sql(False, intermediate, sql) }}
  {%- endcall -%}
  {%- do create_indexes(intermediate) -%}
  {%- if existing is not none -%}
    {%- do adapter.rename_relation(existing, backup) -%}
  {%- endif -%}
  {%- do adapter.rename_relation(intermediate, target) -%}
  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {%- do apply_grants(target, config.get('grants'), should_revoke=should_revoke(existing, full_refresh_mode=True)) -%}
  {%- do persist_docs(target, model) -%}
  {{ adapter.commit() }}
  {%- do drop_relation_if_exists(backup if existing is not none else none) -%}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({'relations': [target]}) }}
{%- endmacro %}


{% macro spark___make_table() -%}
  {{ return(passk._make_table_stepwise()) }}
{%- endmacro %}


{#- Its tables are Delta's, and replaced without being dropped; it has neither names to swap nor steps to make. -#}
{% macro databricks___make_table() -%}
  {{ return(context['materialization_table_databricks']()) }}
{%- endmacro %}
