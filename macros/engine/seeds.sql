{#- Seeds on Spark, in this project only: dbt-spark writes a null as the text None and no escapes, and sends one statement for few
    rows, each of which is a file. dbt finds these before its own because they are of the project that runs. -#}

{% macro spark__create_csv_table(model, agate_table) -%}
  {%- set types = model.config.get('column_types', {}) -%}
  {%- for name, type in types.items() -%}
    {%- do types.update({name: {'varchar': 'string', 'double precision': 'double'}.get(type, type)}) -%}
  {%- endfor -%}
  {{ return(dbt.spark__create_csv_table(model, agate_table)) }}
{%- endmacro %}


{% macro spark__load_csv_rows(model, agate_table) -%}
  {%- set types = model.config.get('column_types', {}) -%}
  {%- set names = agate_table.column_names -%}
  {%- set statements = [] -%}
  {%- for chunk in agate_table.rows | batch(2000) -%}
    {%- set rows = [] -%}
    {%- for row in chunk -%}
      {%- set values = [] -%}
      {%- for value in row -%}
        {%- do values.append('null' if value is none else passk._quoted(value)) -%}
      {%- endfor -%}
      {%- do rows.append('(' ~ values | join(', ') ~ ')') -%}
    {%- endfor -%}
    {%- set statement -%}
      insert into {{ this }}
      select
        {%- for name in names %}
        cast({{ name }} as {{ types.get(name, 'string') }}) as {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
      from values {{ rows | join(', ') }} as rows({{ names | join(', ') }})
    {%- endset -%}
    {%- do adapter.add_query(statement, abridge_sql_log=True) -%}
    {%- do statements.append(statement) -%}
  {%- endfor -%}
  {{ return(statements[0]) }}
{%- endmacro %}
