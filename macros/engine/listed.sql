{#- Texts of a group in one text, ordered by `place` and by themselves, with `between` between two; nulls are left out, and without
    any it is null. -#}
{% macro _listed(text, place, between=', ') -%}
  {{ return(adapter.dispatch('_listed', 'passk')(text, place, between)) }}
{%- endmacro %}

{% macro default___listed(text, place, between) -%}
{{ dbt.listagg(text, "'" ~ between ~ "'", 'order by ' ~ place ~ ', ' ~ passk._by_bytes(text)) }}
{%- endmacro %}

{#- Its own list has no order. -#}
{% macro spark___listed(text, place, between) -%}
nullif(
      array_join(transform(array_sort(collect_list(case when {{ text }} is not null then named_struct('place', {{ place }}, 'text', {{ text }}) end)), one -> one.text), '{{ between }}'),
      ''
    )
{%- endmacro %}
