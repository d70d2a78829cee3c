{#- Adds all rows of one table to another that has the same columns. -#}
{% macro _insert_all(target, from_relation) -%}
  {{ return(adapter.dispatch('_insert_all', 'passk')(target, from_relation)) }}
{%- endmacro %}

{% macro default___insert_all(target, from_relation) -%}
{%- set columns = get_quoted_csv(adapter.get_columns_in_relation(from_relation) | map(attribute='name')) -%}
insert into {{ target }} ({{ columns }})
select {{ columns }}
from {{ from_relation }}
{%- endmacro %}

{#- The engine matches the names itself. -#}
{% macro duckdb___insert_all(target, from_relation) -%}
insert into {{ target }} by name
select *
from {{ from_relation }}
{%- endmacro %}
