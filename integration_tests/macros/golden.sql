{#- How an engine's tables are held against the golden rows. Every macro of the package that an engine may need is called by
    the tables; these use plain SQL only. -#}

{#- Rows of a public table that are not as the golden rows have them: their key, and what differs. Text, counts, times and
    nulls must be equal, doubles to 1e-12 of the larger one; what is below 1e-15 on both sides is what rounding left of
    a difference of numbers near 1. -#}
{% macro rows_apart(built, golden, columns, keys) %}
{%- set double_type = passk.type_double() -%}
{%- set text_type = dbt.type_string() -%}
with built_rows as (
  select
    {%- for name, type in columns %}
    {{ as_compared(name, type) }} as {{ name }},
    {%- endfor %}
    {{ row_key(keys, columns) }} as row_key
  from {{ built }}
),

golden_rows as (
  select
    {%- for name, type in columns %}
    cast({{ name }} as {{ compared_type(type) }}) as {{ name }},
    {%- endfor %}
    {{ row_key(keys, columns) }} as row_key
  from {{ golden }}
),

compared as (
  select
    coalesce(golden_rows.row_key, built_rows.row_key) as row_key,
    case
      when built_rows.row_key is null then 'is missing'
      when golden_rows.row_key is null then 'should not be there'
      else
        {%- for name, type in columns %}
        case
          when golden_rows.{{ name }} is null and built_rows.{{ name }} is null then ''
          {%- if compared_type(type) == double_type %}
          when abs(golden_rows.{{ name }}) < 1e-15 and abs(built_rows.{{ name }}) < 1e-15 then ''
          when
            abs(golden_rows.{{ name }} - built_rows.{{ name }})
            <= 1e-12 * greatest(abs(golden_rows.{{ name }}), abs(built_rows.{{ name }}), {{ subtracted_from(name, columns) }})
            then ''
          {%- else %}
          when golden_rows.{{ name }} = built_rows.{{ name }} then ''
          {%- endif %}
          else
            '{{ name }} is ' || coalesce(cast(built_rows.{{ name }} as {{ text_type }}), 'null')
            || ', not ' || coalesce(cast(golden_rows.{{ name }} as {{ text_type }}), 'null') || '; '
        end{{ ' ||' if not loop.last }}
        {%- endfor %}
    end as difference
  from golden_rows
  full outer join built_rows
    on golden_rows.row_key = built_rows.row_key
)

select
  row_key,
  difference
from compared
where difference <> ''
{% endmacro %}


{#- The minuend of a double that is a difference, so that its error is seen beside that: variances are differences of moments, and a lower
    limit is its estimate less some standard errors. -#}
{% macro subtracted_from(name, columns) -%}
  {%- set estimate = name.removesuffix('_lower').removesuffix('_suite').removesuffix('_bayes') -%}
  {%- set doubles = [] -%}
  {%- for one, type in columns if type.startswith('double') -%}{%- do doubles.append(one) -%}{%- endfor -%}
  {%- if name in ['variance_between', 'variance_within'] -%}
    10e0
  {%- elif name == 'within_share' -%}
    coalesce(10e0 / nullif(golden_rows.variance_between + golden_rows.variance_within, 0e0), 0e0)
  {%- elif name == 'detectable_difference' -%}
    1e0
  {%- elif name.endswith('_lower') and estimate in doubles -%}
    coalesce(abs(golden_rows.{{ estimate }}), 0e0)
  {%- else -%}
    0e0
  {%- endif -%}
{%- endmacro %}


{#- The type under which a column is compared. -#}
{% macro compared_type(type) -%}
  {%- if type.startswith('double') -%}
    {{ return(passk.type_double()) }}
  {%- elif type == 'bigint' -%}
    {{ return(dbt.type_bigint()) }}
  {%- elif type == 'timestamp' -%}
    {{ return(dbt.type_timestamp()) }}
  {%- else -%}
    {{ return(dbt.type_string()) }}
  {%- endif -%}
{%- endmacro %}


{#- A column as the golden rows can have it: of tags the one that the log has, of booleans the word. -#}
{% macro as_compared(name, type) -%}
  {%- if name == 'tags' -%}
    {{ passk._tag('tags', 'difficulty') }}
  {%- elif type == 'boolean' -%}
    case when {{ name }} then 'true' when not {{ name }} then 'false' end
  {%- else -%}
    {{ name }}
  {%- endif -%}
{%- endmacro %}


{#- The key of a row as one text. Engines write a double in their own ways, so that the text of the golden row becomes one first. -#}
{% macro row_key(keys, columns) -%}
  {%- set types = {} -%}
  {%- for name, type in columns -%}{%- do types.update({name: type}) -%}{%- endfor -%}
  {%- for key in keys -%}
    {%- set value = 'cast(' ~ key ~ ' as ' ~ compared_type(types[key]) ~ ')' if types[key].startswith('double') else key -%}
    coalesce(cast({{ value }} as {{ dbt.type_string() }}), '-'){{ " || ' / ' || " if not loop.last }}
  {%- endfor -%}
{%- endmacro %}


{#- Rows of a public table, one relation, that are not as the golden rows, another, have them. Which columns these have, and
    what keys, their seed says. -#}
{% macro golden_rows_apart(table, built, golden) %}
  {%- set model = graph.nodes['model.passk.' ~ table] -%}
  {%- set seed = graph.nodes['seed.passk_integration_tests.golden_' ~ table] -%}
  {%- set columns = [] -%}
  {%- for name in seed.config.column_types -%}
    {%- do columns.append((name, model.columns[name].data_type)) -%}
  {%- endfor -%}
  {{ return(rows_apart(built, golden, columns, seed.config.meta['keys'])) }}
{% endmacro %}


{#- The golden rows are what the table has. -#}
{% test is_golden(model, table) %}
  {%- set built = ref('passk', table) -%}
  {%- if execute -%}
    {{ golden_rows_apart(table, built, model) }}
  {%- endif -%}
{% endtest %}


{#- Prints PASS, or the rows that differ, for each public table of the last build: dbt run-operation conformance -#}
{% macro conformance() %}
  {%- set failed = [] -%}
  {%- set start = 'seed.passk_integration_tests.golden_' -%}
  {%- for node in graph.nodes.values() | sort(attribute='name') if node.unique_id.startswith(start) -%}
    {%- set table = node.name[7:] -%}
    {%- set golden = api.Relation.create(database=node.database, schema=node.schema, identifier=node.alias) -%}
    {%- set model = graph.nodes['model.passk.' ~ table] -%}
    {%- set built = api.Relation.create(database=model.database, schema=model.schema, identifier=model.alias) -%}
    {%- set rows = run_query('select count(*) as how_many from ' ~ golden).rows[0][0] -%}
    {%- set apart = run_query(golden_rows_apart(table, built, golden)).rows -%}
    {%- do print(
      ('FAIL ' if apart | length else 'PASS ') ~ table ~ ': ' ~ rows ~ ' golden rows, ' ~ apart | length ~ ' apart'
    ) -%}
    {%- for row in apart[:20] -%}
      {%- do print('     ' ~ row[0] ~ ': ' ~ row[1]) -%}
    {%- endfor -%}
    {%- if apart | length -%}
      {%- do failed.append(table) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- if failed -%}
    {%- do exceptions.raise_compiler_error(
      target.type ~ ' has other rows than the golden ones in ' ~ failed | join(', ') ~ '.'
    ) -%}
  {%- endif -%}
{% endmacro %}
