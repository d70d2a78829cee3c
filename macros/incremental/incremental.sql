{#- Increments that delete what has gone.

    dbt's own delete+insert deletes only keys that the new rows have: a task that lost its last attempt would stay. Here the
    keys to replace are asked for: every task that gained or lost attempts after the latest loaded_at in the table. -#}

{#- The time, as an SQL literal, after which rows arrived that this model's table does not have; none if all of it is to be
    built: the table does not exist or is empty, was built by another version or with other vars, or the input does not
    say when rows arrive. -#}
{% macro _increment_since() -%}
  {%- if not execute or not is_incremental() or not passk._knows_changes() -%}
    {{ return(none) }}
  {%- endif -%}
  {%- set built = run_query(
    'select min(built_with) as lowest, max(built_with) as highest, max(loaded_at) as loaded_at from ' ~ this
  ).rows[0] -%}
  {%- if built[0] != passk._built_with() or built[1] != passk._built_with() -%}
    {{ return(none) }}
  {%- endif -%}
  {{ return(
    'cast(' ~ passk._quoted(built[2] if built[2] is not none else '0001-01-01') ~ ' as ' ~ dbt.type_timestamp() ~ ')'
  ) }}
{%- endmacro %}


{% macro _knows_changes() -%}
  {{ return(
    passk._attempts_kind() == 'landing'
    or (passk._attempts_kind() in ['model', 'source', 'files'] and passk._setting('passk_incremental_by_loaded_at'))
  ) }}
{%- endmacro %}


{#- Version and vars that shape the tables, as one short text. -#}
{% macro _built_with() -%}
  {%- set shaping = [['input', passk._attempts_kind()]] -%}
  {%- for name in [
    'passk_attempts_model', 'passk_attempts_source', 'passk_attempts_files', 'passk_attempts_columns',
    'passk_landing_schema', 'passk_score_threshold', 'passk_outcome_policy', 'passk_ks', 'passk_on_short', 'passk_slices',
    'passk_ordered_metrics', 'passk_capable_threshold', 'passk_consistent_threshold'
  ] -%}
    {%- do shaping.append([name, var(name, none)]) -%}
  {%- endfor -%}
  {{ return(passk._version() ~ '/' ~ local_md5(tojson(shaping))) }}
{%- endmacro %}


{#- The tasks that changed after `since`, one row each. It is a literal, because engines skip what is older by a literal, not
    by a subquery. -#}
{% macro _changed_tasks(since) -%}
select distinct run_id, suite, task_id
from {{ ref('stg_passk__attempts') }}
where reject_reason is null
{%- if passk._attempts_kind() == 'landing' %}
  and loaded_at > {{ since }}
union
select run_id, suite, task_id
from {{ source('passk_landing', 'removed_tasks') }}
where removed_at > {{ since }}
{%- else %}
{#- Anyone's table: a row may arrive with the time of the last one, or with none. #}
  and (loaded_at >= {{ since }} or loaded_at is null)
{%- endif %}
{%- endmacro %}


{#- True if a query gives a row. What it asks is fit for skipping work only: while dbt parses, there is nothing to ask. -#}
{% macro _any_row(query) -%}
  {{ return(execute and run_query('select 1 from (' ~ query ~ ') as found limit 1').rows | length > 0) }}
{%- endmacro %}


{#- dbt finds dependencies when it parses, where no model is an increment yet: this names them. -#}
{% macro _depends_on_changes() -%}
-- depends_on: {{ ref('stg_passk__attempts') }}
{%- if passk._attempts_kind() == 'landing' %}
-- depends_on: {{ source('passk_landing', 'removed_tasks') }}
{%- endif %}
{%- endmacro %}


{#- The strategy of the models above: in one transaction, delete the changed keys (all rows, if this is no increment),
    insert the new rows. -#}
{% macro get_incremental_passk_replace_sql(arg_dict) -%}
  {%- set target = arg_dict['target_relation'] -%}
  {%- set columns = get_quoted_csv(arg_dict['dest_columns'] | map(attribute='name')) -%}
  {%- set since = passk._increment_since() -%}
  delete from {{ target }}
  {%- if since %}
  where exists (
    select 1
    from ({{ passk._changed_tasks(since) }}) as changed
    where
      {%- for key in arg_dict['unique_key'] %}
      changed.{{ key }} = {{ target }}.{{ key }}{{ ' and' if not loop.last }}
      {%- endfor %}
  )
  {%- endif %};
  insert into {{ target }} ({{ columns }})
  select {{ columns }} from {{ arg_dict['temp_relation'] }};
{%- endmacro %}


{#- The distinct (n, c) of tasks that int_passk__states does not have yet. -#}
{% macro _new_states(counts) -%}
select
    counts.n,
    counts.c
  from (
    select distinct
      n,
      c
    from {{ counts }}
  ) as counts
  {%- if is_incremental() %}
  where
    not exists (
      select 1
      from {{ this }} as known
      where known.n = counts.n
        and known.c = counts.c
        and known.built_with = {{ passk._quoted(passk._built_with()) }}
    )
  {%- endif %}
{%- endmacro %}


{#- Hooks of int_passk__states. States of another version or grid of k are of no use: they go in the transaction that adds
    the right ones, and the functions of the database are made anew with them. -#}
{% macro _before_states() -%}
  {%- if execute and is_incremental() -%}
    {%- set current = passk._quoted(passk._built_with()) -%}
    {%- if run_query('select 1 from ' ~ this ~ ' where built_with <> ' ~ current ~ ' limit 1').rows | length > 0 -%}
      delete from {{ this }} where built_with <> {{ current }};
      {{ passk.create_sql_functions() }}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}


{% macro _after_states() -%}
  {%- if execute and not is_incremental() -%}
    {{ passk.create_sql_functions() }}
  {%- endif -%}
{%- endmacro %}
