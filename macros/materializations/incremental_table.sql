{#- A table of which a build makes only what changed. The model decides when it is compiled, and says so at the end of its
    SQL, by one of the macros below; saying nothing means that its SQL is the whole table.

    dbt's own incremental materialization always makes a table of the new rows, asks for the columns of both and compares
    them: half of the statements of a build that has nothing to do. -#}
{% materialization passk_incremental, default -%}
  {%- set existing = load_cached_relation(this) -%}
  {%- if existing is not none and passk._told(sql, 'nothing new') -%}
    {{ return(passk._leave(existing)) }}
  {%- endif -%}

  {%- set replaced = passk._told(sql, 'replaces') -%}
  {%- if existing is none or not (replaced or passk._told(sql, 'more rows')) -%}
    {{ return(passk._make_table()) }}
  {%- endif -%}

  {%- set target = this.incorporate(type='table') -%}
  {%- set changed_rows = make_temp_relation(target) -%}
  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}
  {#- The new rows before the delete: they may be made from those that it takes away. -#}
  {%- call statement('main') -%}
    {{ create_table_as(True, changed_rows, sql) }};
    {%- if replaced %}
    {{ passk._delete_keys(
      target, config.require('unique_key'), replaced | replace('passk__changed_rows', changed_rows | string)
    ) }};
    {%- endif %}
    {{ passk._insert_all(target, changed_rows) }};
    drop table {{ changed_rows }};
  {%- endcall -%}
  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {%- do apply_grants(target, config.get('grants'), should_revoke=should_revoke(existing, full_refresh_mode=False)) -%}
  {%- do persist_docs(target, model) -%}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({'relations': [target]}) }}
{%- endmaterialization %}


{#- Instead of a model's SQL: the table is as it would be. The select keeps it valid SQL. -#}
{% macro _nothing_new() -%}
select *
from {{ this }}
where 1 = 0
/* passk: nothing new */
{%- endmacro %}


{#- After a model's SQL: its rows replace those of the keys that the query `changed` gives. -#}
{% macro _replaces(changed) -%}
/* passk: replaces {{ changed }} */
{%- endmacro %}


{#- The keys of the model's rows, for `_replaces`. -#}
{% macro _new_keys(keys) -%}
select distinct {{ keys | join(', ') }} from passk__changed_rows
{%- endmacro %}


{#- After a model's SQL: its rows come to those that the table has. -#}
{% macro _more_rows() -%}
/* passk: more rows */
{%- endmacro %}


{#- What a model told by one of the above: the rest of the note, true if it has none, or none. -#}
{% macro _told(sql, what) -%}
  {%- set found = modules.re.search('/[*] passk: ' ~ what ~ ' ?(.*?) ?[*]/', sql, modules.re.DOTALL) -%}
  {{ return(none if found is none else found.group(1) or true) }}
{%- endmacro %}


{% macro _delete_keys(target, keys, changed) -%}
delete from {{ target }}
where exists (
  select 1
  from ({{ changed }}) as changed
  where {{ passk._same_keys(keys, 'changed', target) }}
)
{%- endmacro %}
