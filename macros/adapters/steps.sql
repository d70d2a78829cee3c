{#- Steps of long formulas, and how an engine makes each of them once. -#}

{#- After the `as` of a CTE that others use many times: made once. Postgres else writes its expressions into each place that names
    one, and where steps follow each other the text doubles with every step. `of_tasks` says that it has a row for each task. -#}
{% macro _made_once(of_tasks=false) -%}
  {{ return(adapter.dispatch('_made_once', 'passk')(of_tasks)) }}
{%- endmacro %}

{% macro default___made_once(of_tasks) -%}
{%- endmacro %}

{#- The space is part of it, so that other engines get the text as it would be without. -#}
{% macro postgres___made_once(of_tasks) -%}
{{ return('materialized ') }}
{%- endmacro %}

{#- For `_make_steps`. What has a row for each task is not stored again. -#}
{% macro spark___made_once(of_tasks) -%}
{{ return('' if of_tasks else '/* passk: made once */ ') }}
{%- endmacro %}


{#- Makes a table of the model's SQL, as a materialization does. -#}
{% macro _make_table() -%}
  {{ return(adapter.dispatch('_make_table', 'passk')()) }}
{%- endmacro %}

{#- Engines have their own way to swap tables, under the name of their adapter. -#}
{% macro default___make_table() -%}
  {{ return(context.get('materialization_table_' ~ adapter.type(), context['materialization_table_default'])()) }}
{%- endmacro %}

{#- Its tables are Delta's, and replaced without being dropped. -#}
{% macro databricks___make_table() -%}
  {{ return(passk.default___make_table()) }}
{%- endmacro %}

{#- Before Spark looks at a query it writes every CTE into each place that names it, and every column into each expression that
    names it: steps that follow each other grow into more than it plans in minutes. So those that are made once become
    tables, which live as long as the build of the model. -#}
{% macro spark___make_table() -%}
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
