{#- What dbt owes a model whose table or view stays as it is: its hooks, its grants and its descriptions. -#}
{% macro _leave(existing) -%}
  {%- do store_raw_result('main', message='UNCHANGED', code='UNCHANGED', rows_affected='0') -%}
  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {%- if pre_hooks or post_hooks or config.get('grants') or config.persist_relation_docs() or config.persist_column_docs() -%}
    {#- Hooks may have been empty, and there is nothing to commit where nothing has begun. -#}
    {%- call statement('begin', auto_begin=True) -%} select 1 {%- endcall -%}
    {%- do apply_grants(existing, config.get('grants'), should_revoke=should_revoke(existing, full_refresh_mode=False)) -%}
    {%- do persist_docs(existing, model) -%}
    {{ adapter.commit() }}
  {%- endif -%}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({'relations': [existing]}) }}
{%- endmacro %}
