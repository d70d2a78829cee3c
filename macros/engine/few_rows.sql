{#- The units that a model makes are few, and its other rows are joined with them. -#}

{#- The rows that the model's table keeps in this build: all, once its hook has deleted those of units that changed. -#}
{% macro _known_rows(keys, versions) -%}
  {{ return(adapter.dispatch('_known_rows', 'passk')(keys, versions)) }}
{%- endmacro %}

{% macro default___known_rows(keys, versions) -%}
  {{ return(this) }}
{%- endmacro %}

{#- `_few_rows` asks while the model is rendered, before its hook. -#}
{% macro spark___known_rows(keys, versions) -%}
(
        select kept.*
        from {{ this }} as kept
        inner join {{ ref(versions) }} as versions
          on {{ passk._same_keys(keys + ['log_version'], 'versions', 'kept') }}
        where kept.built_with = {{ passk._quoted(passk._built_with()) }}
      )
{%- endmacro %}


{#- A query of a few rows of text. -#}
{% macro _few_rows(columns, query) -%}
  {{ return(adapter.dispatch('_few_rows', 'passk')(columns, query)) }}
{%- endmacro %}

{% macro default___few_rows(columns, query) -%}
  {{ return(query) }}
{%- endmacro %}

{#- The rows are queried first: Spark leaves out a join with no row only if it knows so while it plans; otherwise it scans the log. -#}
{% macro spark___few_rows(columns, query) -%}
  {%- set rows = run_query(query).rows -%}
  {%- if not rows -%}
select
    {%- for column in columns %}
    cast(null as {{ dbt.type_string() }}) as {{ column }}{{ ',' if not loop.last }}
    {%- endfor %}
  where 1 = 0
  {%- else -%}
select *
  from values
    {%- for row in rows %}
    ({% for column in columns %}{{ 'cast(null as ' ~ dbt.type_string() ~ ')' if row[column] is none else passk._quoted(row[column]) }}{{ ', ' if not loop.last }}{% endfor %}){{ ',' if not loop.last }}
    {%- endfor %}
    as few ({{ columns | join(', ') }})
  {%- endif -%}
{%- endmacro %}
