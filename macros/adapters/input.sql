{#- Reading, casting and looking into columns, where engines differ. -#}

{#- Files as a relation. -#}
{% macro _files_relation(path) -%}
  {{ return(adapter.dispatch('_files_relation', 'passk')(path)) }}
{%- endmacro %}

{% macro default___files_relation(path) -%}
  {{ exceptions.raise_compiler_error(
    'passk_attempts_files is ' ~ (path | tojson) ~ ', but ' ~ target.type ~ ' reads no files. Load them into a table and name '
    ~ 'it in passk_attempts_model or passk_attempts_source.'
  ) }}
{%- endmacro %}

{% macro duckdb___files_relation(path) -%}
  {%- set quoted = passk._quoted(path) -%}
  {%- set name = path | lower -%}
  {%- if '.parquet' in name -%}
    read_parquet({{ quoted }}, union_by_name = true, filename = 'source_file')
  {%- elif '.csv' in name or '.tsv' in name -%}
    read_csv({{ quoted }}, union_by_name = true, filename = 'source_file')
  {%- elif '.json' in name or '.ndjson' in name -%}
    read_json({{ quoted }}, union_by_name = true, filename = 'source_file')
  {%- else -%}
    {{ exceptions.raise_compiler_error(
      'passk_attempts_files is ' ~ (path | tojson) ~ ', but must name files that end in .parquet, .csv, .tsv, .json, '
      ~ '.jsonl or .ndjson.'
    ) }}
  {%- endif -%}
{%- endmacro %}


{#- A cast that gives null where the value does not fit. -#}
{% macro _try_cast(expression, type) -%}
  {{ return(adapter.dispatch('_try_cast', 'passk')(expression, type)) }}
{%- endmacro %}

{% macro default___try_cast(expression, type) -%}
{{ dbt.safe_cast(expression, type) }}
{%- endmacro %}

{% macro duckdb___try_cast(expression, type) -%}
try_cast({{ expression }} as {{ type }})
{%- endmacro %}


{#- Tags from JSON text, as the demo's seed has them. -#}
{% macro _tags_from_json(expression) -%}
  {{ return(adapter.dispatch('_tags_from_json', 'passk')(expression)) }}
{%- endmacro %}

{% macro default___tags_from_json(expression) -%}
cast({{ expression }} as {{ passk.type_tags() }})
{%- endmacro %}

{% macro duckdb___tags_from_json(expression) -%}
try_cast(cast({{ expression }} as json) as map(varchar, varchar))
{%- endmacro %}


{#- The value of one tag, null where the attempt does not have it. -#}
{% macro _tag(column, name) -%}
  {{ return(adapter.dispatch('_tag', 'passk')(column, name)) }}
{%- endmacro %}

{% macro default___tag(column, name) -%}
{{ column }}[{{ passk._quoted(name) }}]
{%- endmacro %}


{#- Whether a double is a number: neither infinite nor NaN. -#}
{% macro _is_finite(expression) -%}
({{ expression }} between -1.7976931348623157e308 and 1.7976931348623157e308)
{%- endmacro %}


{#- Tags as an input has them: already a map, or JSON text. -#}
{% macro _tags_as_told(expression) -%}
  {{ return(adapter.dispatch('_tags_as_told', 'passk')(expression)) }}
{%- endmacro %}

{% macro default___tags_as_told(expression) -%}
cast({{ expression }} as {{ passk.type_tags() }})
{%- endmacro %}

{#- A map's JSON is an object too, so both go the same way. -#}
{% macro duckdb___tags_as_told(expression) -%}
try_cast(try_cast({{ expression }} as json) as map(varchar, varchar))
{%- endmacro %}


{#- Tags as one text that does not depend on their order. -#}
{% macro _tags_as_text(column) -%}
  {{ return(adapter.dispatch('_tags_as_text', 'passk')(column)) }}
{%- endmacro %}

{% macro default___tags_as_text(column) -%}
cast({{ column }} as {{ dbt.type_string() }})
{%- endmacro %}

{% macro duckdb___tags_as_text(column) -%}
cast(to_json(list_sort(map_entries(cast({{ column }} as {{ passk.type_tags() }})))) as varchar)
{%- endmacro %}


{#- The names of the columns of an input, as the engine tells them. -#}
{% macro _input_columns(relation) -%}
  {{ return(adapter.dispatch('_input_columns', 'passk')(relation)) }}
{%- endmacro %}

{% macro default___input_columns(relation) -%}
  {%- set names = [] -%}
  {%- for row in run_query('select * from ' ~ relation ~ ' where 1 = 0').columns -%}
    {%- do names.append(row.name | lower) -%}
  {%- endfor -%}
  {{ return(names) }}
{%- endmacro %}
