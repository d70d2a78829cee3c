{#- A table for Spark. Before it looks at a query it writes every CTE into each place that names it, and every column into each
    expression that names it: steps that follow each other grow into more than it plans in minutes. So those that are made
    once become tables, which live as long as the build of the model. -#}
{% materialization passk_stepwise, adapter='spark' -%}
  {{ return(passk._make_table_stepwise()) }}
{%- endmaterialization %}


{% macro _make_table_stepwise() -%}
  {%- set target = this.incorporate(type='table') -%}
  {%- set existing = load_cached_relation(this) -%}
  {{ run_hooks(pre_hooks) }}
  {%- set made = passk._make_steps(target, sql) -%}
  {%- if existing is not none -%}
    {%- do adapter.drop_relation(existing) -%}
  {%- endif -%}
  {%- call statement('main') -%}
    {{ create_table_as(False, target, made.sql) }}
  {%- endcall -%}
  {%- for step in made.steps -%}
    {%- do adapter.drop_relation(step) -%}
  {%- endfor -%}
  {%- do apply_grants(target, config.get('grants'), should_revoke=should_revoke(existing, full_refresh_mode=True)) -%}
  {%- do persist_docs(target, model) -%}
  {{ run_hooks(post_hooks) }}
  {{ return({'relations': [target]}) }}
{%- endmacro %}


{#- Makes a table of each CTE that is made once; gives the tables, and the SQL that reads them. A CTE ends with a parenthesis at
    the start of a line, and an empty line. -#}
{% macro _make_steps(target, sql) -%}
  {%- set pattern = '^(with )?(\\w+) as /[*] passk: made once [*]/ \\((.*?)^\\)(?=,?[ \\t]*\\n[ \\t]*\\n)' -%}
  {%- set flags = modules.re.MULTILINE + modules.re.DOTALL -%}
  {%- set made = namespace(sql=sql, steps=[]) -%}
  {%- for _ in modules.re.findall(pattern, sql, flags) -%}
    {%- set found = modules.re.search(pattern, made.sql, flags) -%}
    {%- set before, after = made.sql[:found.start()], made.sql[found.end():] -%}
    {%- set start, name = found.group(1) or '', found.group(2) -%}
    {%- set step = target.incorporate(path={'identifier': target.identifier ~ '__' ~ name}) -%}
    {%- do adapter.drop_relation(step) -%}
    {%- call statement('step') -%}
      create table {{ step }}
      {{ file_format_clause() }}
      as
      {{ before }}{{ start }}{{ name }} as ({{ found.group(3) }})
      select * from {{ name }}
    {%- endcall -%}
    {%- do made.steps.append(step) -%}
    {%- set made.sql = before ~ start ~ name ~ ' as (\n  select * from ' ~ step ~ '\n)' ~ after -%}
  {%- endfor -%}
  {{ return(made) }}
{%- endmacro %}
