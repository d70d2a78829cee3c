{#- Names of the types that engines spell differently. -#}

{% macro type_double() -%}
  {{ return(adapter.dispatch('type_double', 'passk')()) }}
{%- endmacro %}

{% macro default__type_double() -%} double precision {%- endmacro %}

{% macro duckdb__type_double() -%} double {%- endmacro %}

{% macro spark__type_double() -%} double {%- endmacro %}


{% macro type_tags() -%}
  {{ return(adapter.dispatch('type_tags', 'passk')()) }}
{%- endmacro %}

{% macro default__type_tags() -%} {{ dbt.type_string() }} {%- endmacro %}

{% macro duckdb__type_tags() -%} map(varchar, varchar) {%- endmacro %}

{#- Compared and grouped by, as `json` can't be. -#}
{% macro postgres__type_tags() -%} jsonb {%- endmacro %}

{% macro spark__type_tags() -%} map<string,string> {%- endmacro %}


{#- An integer wide enough for one bit an attempt, or none: then every task is sorted. -#}
{% macro type_mask() -%}
  {{ return(adapter.dispatch('type_mask', 'passk')()) }}
{%- endmacro %}

{% macro default__type_mask() -%} {{ dbt.type_bigint() }} {%- endmacro %}

{#- In a lake, whose files are Parquet, an integer so wide would be kept as a double, and lose its low bits. -#}
{% macro duckdb__type_mask() -%}
  {{ return('decimal(38, 0)' if passk._is_lake() else 'hugeint') }}
{%- endmacro %}


{#- Whether the tables of a DuckDB are those of a DuckLake. Adapters that know nothing of lakes have none. -#}
{% macro _is_lake() -%}
  {%- if adapter.is_ducklake is defined -%}
    {{ return(adapter.is_ducklake(api.Relation.create(database=target.database, schema=target.schema, identifier='attempts'))) }}
  {%- endif -%}
  {{ return(false) }}
{%- endmacro %}
