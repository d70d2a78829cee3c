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

{#- A column in the name of a folder, `run_id=007`, is a text like any other: DuckDB would make a number of it. -#}
{% macro duckdb___files_relation(path) -%}
  {%- set quoted = passk._quoted(path) -%}
  {%- set name = path | lower -%}
  {%- set how = "union_by_name = true, filename = '" ~ passk._name_of_file() ~ "', hive_types_autocast = false" -%}
  {%- if '.parquet' in name -%}
    read_parquet({{ quoted }}, {{ how }})
  {%- elif '.csv' in name or '.tsv' in name -%}
    read_csv({{ quoted }}, {{ how }})
  {%- elif '.json' in name or '.ndjson' in name -%}
    read_json({{ quoted }}, {{ how }})
  {%- else -%}
    {{ exceptions.raise_compiler_error(
      'passk_attempts_files is ' ~ (path | tojson) ~ ', but must name files that end in .parquet, .csv, .tsv, .json, '
      ~ '.jsonl or .ndjson.'
    ) }}
  {%- endif -%}
{%- endmacro %}


{#- The column in which the engine says which file a row is from. -#}
{% macro _name_of_file() -%}
{{ return('passk_file') }}
{%- endmacro %}


{#- A cast that gives null where the value does not fit. -#}
{% macro _try_cast(expression, type) -%}
  {{ return(adapter.dispatch('_try_cast', 'passk')(expression, type)) }}
{%- endmacro %}

{% macro default___try_cast(expression, type) -%}
{{ dbt.safe_cast(expression, type) }}
{%- endmacro %}

{#- A time with a zone is that of UTC, as a text with an offset is. DuckDB's own cast gives the clock of the session, which goes
    back in autumn and is another one on another machine. It knows the type when it plans, so only one branch is left. -#}
{% macro duckdb___try_cast(expression, type) -%}
{%- if type == dbt.type_timestamp() -%}
case
        when typeof({{ expression }}) = 'TIMESTAMP WITH TIME ZONE'
          then make_timestamp(epoch_us(try_cast({{ expression }} as timestamptz)))
        else try_cast({{ expression }} as {{ type }})
      end
{%- else -%}
try_cast({{ expression }} as {{ type }})
{%- endif -%}
{%- endmacro %}


{#- The patterns of a number, a time of a day and its zone, for engines whose own casts take more or less than DuckDB's. -#}
{% macro _number_pattern() -%}
{{ return("'^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]{1,3})?$'") }}
{%- endmacro %}

{% macro _clock_pattern() -%}
{{ return('([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?') }}
{%- endmacro %}

{% macro _zone_pattern() -%}
{{ return(' ?(Z|z|[-+](0[0-9]|1[0-4])(:?[0-5][0-9])?)') }}
{%- endmacro %}


{#- Postgres has no such cast, so the text is looked at first. A number for bigint is rounded as DuckDB rounds it, half away
    from 0; a time with an offset is that of UTC. -#}
{% macro postgres___try_cast(expression, type) -%}
{%- set text = 'trim(cast((' ~ expression ~ ') as text))' -%}
{%- set number = passk._number_pattern() -%}
{%- if type == passk.type_double() -%}
case
      when pg_typeof({{ expression }}) = cast('boolean' as regtype)
        then case {{ text }} when 'true' then 1e0 when 'false' then 0e0 end
      when {{ text }} ~* '^(nan|[-+]?inf|[-+]?infinity)$' then cast({{ text }} as double precision)
      when {{ text }} !~ {{ number }} then null
      when abs(cast({{ text }} as numeric)) > 1.7976931348623157e308
        then sign(cast({{ text }} as numeric)) * cast('infinity' as double precision)
      when abs(cast({{ text }} as numeric)) < 2.5e-324 then 0e0
      else cast({{ text }} as double precision)
    end
{%- elif type == dbt.type_bigint() -%}
case
      when pg_typeof({{ expression }}) = cast('boolean' as regtype)
        then case {{ text }} when 'true' then 1 when 'false' then 0 end
      when {{ text }} !~ {{ number }} then null
      when round(cast({{ text }} as numeric)) between -9223372036854775808 and 9223372036854775807
        then cast(round(cast({{ text }} as numeric)) as bigint)
    end
{%- elif type == dbt.type_timestamp() -%}
{%- set leap = '([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)' -%}
{%- set day = '(?!0000)([0-9]{4}-((0?[13578]|1[02])-(0?[1-9]|[12][0-9]|3[01])|(0?[469]|11)-(0?[1-9]|[12][0-9]|30)|0?2-(0?[1-9]|1[0-9]|2[0-8]))|'
  ~ leap ~ '-0?2-29)' -%}
{%- set clock = passk._clock_pattern() -%}
{%- set zone = passk._zone_pattern() -%}
case
      when {{ text }} ~ '^{{ day }}([ T]{{ clock }})?$' then cast({{ text }} as timestamp)
      when {{ text }} ~ '^{{ day }}[ T]{{ clock }}{{ zone }}$'
        then cast({{ text }} as timestamp with time zone) at time zone 'UTC'
    end
{%- else -%}
cast({{ expression }} as {{ type }})
{%- endif -%}
{%- endmacro %}


{#- Java reads more as a number than others do, `1d` for one, so the text is looked at here too. A number for bigint is rounded
    half away from 0. Times are those of the session's zone. -#}
{% macro spark___try_cast(expression, type) -%}
{%- set text = 'trim(cast((' ~ expression ~ ') as string))' -%}
{%- set number = passk._number_pattern() -%}
{%- if type == passk.type_double() -%}
case
      when typeof({{ expression }}) = 'boolean'
        then case {{ text }} when 'true' then 1e0 when 'false' then 0e0 end
      when lower({{ text }}) rlike '^[-+]?nan$' then cast('NaN' as double)
      when lower({{ text }}) rlike '^[+]?inf(inity)?$' then cast('Infinity' as double)
      when lower({{ text }}) rlike '^-inf(inity)?$' then cast('-Infinity' as double)
      when {{ text }} rlike {{ number }} then try_cast({{ text }} as double)
    end
{%- elif type == dbt.type_bigint() -%}
case
      when typeof({{ expression }}) = 'boolean'
        then case {{ text }} when 'true' then cast(1 as bigint) when 'false' then cast(0 as bigint) end
      when {{ text }} rlike '^[-+]?[0-9]+$' then try_cast({{ text }} as bigint)
      when {{ text }} rlike {{ number }} then try_cast(round(coalesce(
          try_cast({{ text }} as decimal(38, 18)), try_cast(try_cast({{ text }} as double) as decimal(38, 18))
        )) as bigint)
    end
{%- elif type == dbt.type_timestamp() -%}
{%- set day = '[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}' -%}
{%- set clock = passk._clock_pattern() -%}
{%- set zone = passk._zone_pattern() -%}
case
      when {{ text }} rlike '^{{ day }}([ T]{{ clock }}({{ zone }})?)?$' and not {{ text }} rlike '^0000'
        then try_cast({{ text }} as timestamp)
    end
{%- else -%}
try_cast({{ expression }} as {{ type }})
{%- endif -%}
{%- endmacro %}


{#- A value as text, for the rejected table: all engines write a number in the same way. -#}
{% macro _as_text(expression) -%}
  {{ return(adapter.dispatch('_as_text', 'passk')(expression)) }}
{%- endmacro %}

{% macro default___as_text(expression) -%}
cast({{ expression }} as {{ dbt.type_string() }})
{%- endmacro %}

{#- A double that is whole has no point on Postgres. -#}
{% macro postgres___as_text(expression) -%}
{%- set text = 'cast((' ~ expression ~ ') as text)' -%}
case
      when pg_typeof({{ expression }}) not in (cast('double precision' as regtype), cast('real' as regtype)) then {{ text }}
      when {{ text }} ~ '^-?[0-9]+$' then {{ text }} || '.0'
      else replace(lower({{ text }}), 'infinity', 'inf')
    end
{%- endmacro %}


{#- A double has its exponent from 1e-4 down and from 1e16 up, with a sign and two digits or more. -#}
{% macro spark___as_text(expression) -%}
{%- set text = 'lower(cast((' ~ expression ~ ') as string))' -%}
{%- set mantissa = "regexp_replace(split_part(" ~ text ~ ", 'e', 1), '[.]0$', '')" -%}
{%- set exponent = "split_part(" ~ text ~ ", 'e', 2)" -%}
case
      when typeof({{ expression }}) not in ('double', 'float') then cast(({{ expression }}) as string)
      when {{ text }} like '%infinity' then replace({{ text }}, 'infinity', 'inf')
      when {{ text }} like '%inf' or {{ text }} = 'nan' or not {{ text }} like '%e%' then {{ text }}
      when abs(try_cast({{ text }} as double)) >= 1e-4 and abs(try_cast({{ text }} as double)) < 1e16
        then regexp_replace(regexp_replace(
          cast(try_cast({{ text }} as decimal(38, 21)) as string), '0+$', ''
        ), '[.]$', '.0')
      else {{ mantissa }} || 'e' || case when {{ exponent }} like '-%' then '-' else '+' end
        || case when length(replace({{ exponent }}, '-', '')) < 2 then '0' else '' end || replace({{ exponent }}, '-', '')
    end
{%- endmacro %}


{#- A text that is compared and sorted by its bytes, whatever the language of the database. -#}
{% macro _by_bytes(expression) -%}
  {{ return(adapter.dispatch('_by_bytes', 'passk')(expression)) }}
{%- endmacro %}

{% macro default___by_bytes(expression) -%}
{{ expression }}
{%- endmacro %}

{% macro postgres___by_bytes(expression) -%}
{{ expression }} collate "C"
{%- endmacro %}


{#- A text without those of these characters that it ends with. -#}
{% macro _without_end(text, characters) -%}
  {{ return(adapter.dispatch('_without_end', 'passk')(text, characters)) }}
{%- endmacro %}

{% macro default___without_end(text, characters) -%}
rtrim({{ text }}, '{{ characters }}')
{%- endmacro %}

{% macro spark___without_end(text, characters) -%}
trim(trailing '{{ characters }}' from {{ text }})
{%- endmacro %}


{#- After a column in an `order by`: nulls come last, as they do on DuckDB and Postgres. -#}
{% macro _nulls_last() -%}
  {{ return(adapter.dispatch('_nulls_last', 'passk')()) }}
{%- endmacro %}

{% macro default___nulls_last() -%}
{%- endmacro %}

{% macro spark___nulls_last() -%}
{{ return(' nulls last') }}
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


{% macro spark___tags_from_json(expression) -%}
from_json({{ expression }}, 'map<string,string>')
{%- endmacro %}


{#- The value of one tag, null where the attempt does not have it. -#}
{% macro _tag(column, name) -%}
  {{ return(adapter.dispatch('_tag', 'passk')(column, name)) }}
{%- endmacro %}

{% macro default___tag(column, name) -%}
{{ column }}[{{ passk._quoted(name) }}]
{%- endmacro %}

{% macro postgres___tag(column, name) -%}
({{ column }} ->> {{ passk._quoted(name) }})
{%- endmacro %}


{#- Tags are JSON in a text there; the text of a value has no quotes. -#}
{% macro snowflake___tag(column, name) -%}
cast(try_parse_json({{ column }})[{{ passk._quoted(name) }}] as {{ dbt.type_string() }})
{%- endmacro %}


{% macro bigquery___tag(column, name) -%}
json_value({{ column }}, {{ passk._quoted('$."' ~ name ~ '"') }})
{%- endmacro %}

{% macro trino___tag(column, name) -%}
json_extract_scalar({{ column }}, {{ passk._quoted('$["' ~ name ~ '"]') }})
{%- endmacro %}


{#- Tags from columns, each under its own name: what passk_attempts_columns takes for `tags`. -#}
{% macro _tags_of(column) -%}
  {{ return(adapter.dispatch('_tags_of', 'passk')(column)) }}
{%- endmacro %}

{% macro default___tags_of(column) -%}
map({{ passk._quoted(column) }}, {{ column }})
{%- endmacro %}

{% macro duckdb___tags_of(column) -%}
map { {{- passk._quoted(column) }}: {{ column -}} }
{%- endmacro %}

{% macro postgres___tags_of(column) -%}
jsonb_build_object({{ passk._quoted(column) }}, {{ column }})
{%- endmacro %}

{% macro snowflake___tags_of(column) -%}
to_json(object_construct({{ passk._quoted(column) }}, {{ column }}))
{%- endmacro %}


{#- For each of these expressions, the columns that it reads, each as a list of the names that dots part: as far as that is known
    without a relation. On an engine that can't say it, only for expressions that are a column. -#}
{% macro _columns_read(expressions) -%}
  {{ return(adapter.dispatch('_columns_read', 'passk')(expressions)) }}
{%- endmacro %}

{% macro default___columns_read(expressions) -%}
  {%- set read = [] -%}
  {%- for expression in expressions -%}
    {%- do read.append([[expression.strip()]] if modules.re.fullmatch('[A-Za-z_][A-Za-z0-9_]*', expression.strip()) else []) -%}
  {%- endfor -%}
  {{ return(read) }}
{%- endmacro %}

{#- The parser's own answer. In a lambda and in a select within, names may be of something else. -#}
{% macro duckdb___columns_read(expressions) -%}
  {%- set parsed = [] -%}
  {%- for expression in expressions -%}
    {%- do parsed.append('cast(json_serialize_sql(' ~ passk._quoted('select ' ~ expression) ~ ') as varchar)') -%}
  {%- endfor -%}
  {%- set read = [] -%}
  {%- for tree in run_query('select ' ~ parsed | join(', ')).rows[0].values() -%}
    {%- set paths = [] -%}
    {%- for path in modules.re.findall('"column_names":(.[^]]*])', tree)
      if '"LAMBDA' not in tree and '"SUBQUERY"' not in tree -%}
      {%- do paths.append(fromjson(path, [])) -%}
    {%- endfor -%}
    {%- do read.append(paths) -%}
  {%- endfor -%}
  {{ return(read) }}
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


{#- Text is looked at before the cast, which would stop the build: an object of names and texts, numbers, true, false or
    null. A name that comes twice is seen by `json`, not by `jsonb`. -#}
{% macro postgres___tags_as_told(expression) -%}
{%- set told = 'cast((' ~ expression ~ ') as text)' -%}
{%- set escape = '\\\\(["\\\\/bfnrt]|u(?!0000|[dD][89a-fA-F])[0-9a-fA-F]{4}|u[dD][89abAB][0-9a-fA-F]{2}\\\\u[dD][c-fC-F][0-9a-fA-F]{2})' -%}
{%- set text = '"([^"\\\\\\x01-\\x1f]|' ~ escape ~ ')*"' -%}
{%- set value = '(' ~ text ~ '|-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?|true|false|null)' -%}
{%- set space = '[ \\t\\r\\n]*' -%}
{%- set pair = text ~ space ~ ':' ~ space ~ value ~ space -%}
case
      when {{ told }} is null then null
      when
        pg_typeof({{ expression }}) in (cast('json' as regtype), cast('jsonb' as regtype))
        and left(ltrim({{ told }}), 1) <> '{'
        then null
      when
        pg_typeof({{ expression }}) not in (cast('json' as regtype), cast('jsonb' as regtype))
        and {{ told }} !~ '^{{ space }}[{]{{ space }}({{ pair }}(,{{ space }}{{ pair }})*)?[}]{{ space }}$'
        then null
      else (
        select case when count(*) = count(distinct tag.key) then coalesce(jsonb_object_agg(tag.key, tag.value), '{}') end
        from json_each_text(cast({{ told }} as json)) as tag
      )
    end
{%- endmacro %}


{#- An object of names and texts, numbers, true, false or null, each name once. A map's JSON is an object too; by way of a
    struct, because `to_json` takes no text. -#}
{% macro spark___tags_as_told(expression) -%}
{%- set told = "get_json_object(to_json(named_struct('tags', " ~ expression ~ ")), '$.tags')" -%}
{%- set hex = '[0-9a-fA-F]' -%}
{%- set letter = '([1-9a-ce-fA-CE-F]' ~ hex ~ '{3}|0[1-9a-fA-F]' ~ hex ~ '{2}|00[1-9a-fA-F]' ~ hex ~ '|000[1-9a-fA-F]|[dD][0-7]'
  ~ hex ~ '{2})' -%}
{%- set escape = '\\\\\\\\(["\\\\\\\\/bfnrt]|u' ~ letter ~ '|u[dD][89abAB]' ~ hex ~ '{2}\\\\\\\\u[dD][c-fC-F]' ~ hex ~ '{2})' -%}
{%- set plain = '[^"\\\\\\\\\\\\x00-\\\\x1f]*' -%}
{%- set text = '"' ~ plain ~ '(' ~ escape ~ plain ~ ')*"' -%}
{%- set value = '(' ~ text ~ '|-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?|true|false|null)' -%}
{%- set space = '[ \\\\t\\\\r\\\\n]*' -%}
{%- set pair = text ~ space ~ ':' ~ space ~ value ~ space -%}
case
      when {{ told }} rlike '^{{ space }}[{]{{ space }}({{ pair }}(,{{ space }}{{ pair }})*)?[}]{{ space }}$'
        and size(json_object_keys({{ told }})) = size(array_distinct(json_object_keys({{ told }})))
        then from_json({{ told }}, 'map<string,string>')
    end
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


{#- The text of an entry has no value where the entry is null. -#}
{% macro spark___tags_as_text(column) -%}
to_json(array_sort(map_entries({{ column }})))
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
