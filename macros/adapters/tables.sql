{#- Whether rows of a table can be replaced. Where they can't, a table that something is new for is made anew, and else left. -#}
{% macro _adds_to_tables() -%}
  {{ return(adapter.dispatch('_adds_to_tables', 'passk')()) }}
{%- endmacro %}

{% macro default___adds_to_tables() -%} {{ return(true) }} {%- endmacro %}

{#- Spark deletes from tables of Delta, Iceberg and the like only, and has no transactions. -#}
{% macro spark___adds_to_tables() -%} {{ return(false) }} {%- endmacro %}


{#- A time that the build asks for, to write it into SQL again. -#}
{% macro _asked_time(expression) -%}
  {{ return(adapter.dispatch('_asked_time', 'passk')(expression)) }}
{%- endmacro %}

{% macro default___asked_time(expression) -%}
{{ expression }}
{%- endmacro %}

{#- As a text: Python would get it in the time zone of its own machine. -#}
{% macro spark___asked_time(expression) -%}
cast({{ expression }} as string)
{%- endmacro %}


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
