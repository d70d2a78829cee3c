{#- The unit of an increment is a run of one suite. int_passk__log_runs says by its `log_version` which build last saw a run change.
    Each table in a folder `by_run` or `by_pair` keeps the `log_version` of what it holds: a build first deletes the rows of runs
    whose version is another one now, and then makes the runs that are missing. So the next whole build also completes the tables
    that a stopped build, or a build of a part, left. -#}

{#- The runs to build: all on a full build, else those that the table lacks, because its hook (dbt_project.yml) has deleted what it had of
    them or they are new, and none where a var switches the model off. `relation` is upstream of the model and has a row for each run
    that the table should hold, or more than one; a `condition` on its rows calls it `upstream`. -#}
{% macro changed_runs(relation, condition='1 = 1', is_wanted=true) -%}
  {{ return(passk._missing(['run_id', 'suite'], 'int_passk__log_runs', relation, condition if is_wanted else '1 = 0')) }}
{%- endmacro %}


{#- The same for pairs of runs. -#}
{% macro changed_pairs(relation, condition='1 = 1', is_wanted=true) -%}
  {{ return(passk._missing(passk._pair_keys(), 'int_passk__pairs', relation, condition if is_wanted else '1 = 0')) }}
{%- endmacro %}


{#- The version is null where the rows may be of two builds: the relation has a run in two versions, or the build leaves out a table
    that the model is made from. The next build makes such runs again. -#}
{% macro _missing(keys, versions, relation, condition) -%}
{%- set missing -%}
select
    {%- for key in keys %}
    upstream.{{ key }},
    {%- endfor %}
    {%- if passk._leaves_out_origins() %}
    cast(null as {{ dbt.type_string() }}) as log_version
    {%- else %}
    case when min(upstream.log_version) = max(upstream.log_version) then min(upstream.log_version) end as log_version
    {%- endif %}
  from {{ relation }} as upstream
  where
    {{ condition }}
    {%- if is_incremental() %}
    and not exists (
      select 1
      from {{ passk._known_rows(keys, versions) }} as known
      where {{ passk._same_keys(keys, 'known', 'upstream') }}
    )
    {%- endif %}
  group by {% for key in keys %}upstream.{{ key }}{{ ', ' if not loop.last }}{% endfor %}
{%- endset -%}
{{ return(passk._few_rows(keys + ['log_version'], missing) if is_incremental() else missing) }}
{%- endmacro %}


{#- Whether a table of this package that the model is made from is not part of the build. -#}
{% macro _leaves_out_origins() -%}
  {%- for name in passk._origins(model.unique_id) if name in graph.nodes and name not in selected_resources -%}
    {%- set node = graph.nodes[name] -%}
    {%- if node.package_name == 'passk' and node.config.materialized == 'incremental' -%}
      {{ return(true) }}
    {%- endif -%}
  {%- endfor -%}
  {{ return(false) }}
{%- endmacro %}


{#- The condition that a row of the log belongs to the CTE `changed_runs`. A full build reads all, and compares nothing. -#}
{% macro _is_of_changed_runs(log) -%}
{%- if is_incremental() -%}
exists (
      select 1
      from changed_runs
      where {{ passk._same_keys(['run_id', 'suite'], 'changed_runs', log) }}
    )
{%- else -%}
1 = 1
{%- endif -%}
{%- endmacro %}


{#- Hook before a table with rows of runs: deletes those of runs that have changed. -#}
{% macro delete_changed_runs() -%}
  {{ return(passk._delete_changed(['run_id', 'suite'], ref('int_passk__log_runs'))) }}
{%- endmacro %}


{#- Hook before a table with rows of pairs: the version of a pair is that of both runs. -#}
{% macro delete_changed_pairs() -%}
  {{ return(passk._delete_changed(passk._pair_keys(), ref('int_passk__pairs'))) }}
{%- endmacro %}


{#- A version that is null is that of no run, so such rows are deleted, and built again. -#}
{% macro _delete_changed(keys, versions) -%}
{%- set condition -%}
not exists (
  select 1
  from {{ versions }} as versions
  where
    {{ passk._same_keys(keys + ['log_version'], 'versions', this) }}
    and {{ this }}.built_with = {{ passk._quoted(passk._built_with()) }}
)
{%- endset -%}
{{ return(passk._delete_rows(condition) if is_incremental() else '') }}
{%- endmacro %}


{#- Hook before the tables in folders `by_count`: deletes what other code or other vars have made. -#}
{% macro delete_outdated_rows() -%}
{%- set condition = 'built_with <> ' ~ passk._quoted(passk._built_with()) -%}
{{ return(passk._delete_rows(condition) if is_incremental() else '') }}
{%- endmacro %}


{#- Hook before int_passk__log_runs: of an input without times, what is known of it says nothing either. -#}
{% macro _forget_runs() -%}
  {%- if is_incremental() and not passk._knows_changes() -%}
    {{ return(passk._delete_rows('1 = 1')) }}
  {%- endif -%}
  {{ return(passk.delete_outdated_rows()) }}
{%- endmacro %}


{#- The time of the last change that int_passk__log_runs knows, by this code and these vars; none where it knows none. It is a
    literal, because engines skip what is older by a literal and not by a subquery. -#}
{% macro _last_change() -%}
  {%- if is_incremental() and passk._knows_changes() -%}
    {%- set since = run_query(
      'select cast(max(changed_at) as ' ~ dbt.type_string() ~ ') as since from ' ~ this
      ~ ' where built_with = ' ~ passk._quoted(passk._built_with())
    ).rows[0][0] -%}
    {%- if since is not none -%}
      {{ return('cast(' ~ passk._quoted(since) ~ ' as ' ~ dbt.type_timestamp() ~ ')') }}
    {%- endif -%}
  {%- endif -%}
  {{ return(none) }}
{%- endmacro %}


{#- The condition that a row came, or went, after that; it holds for all rows where there was no such change. -#}
{% macro _changed_since(since, time) -%}
  {%- if not since -%}
1 = 1
  {%- elif passk._attempts_kind() == 'landing' -%}
{{ time }} > {{ since }}
  {%- else -%}
    {#- Anyone's table: a row may arrive with the time of the last one, or with none. -#}
({{ time }} >= {{ since }} or {{ time }} is null)
  {%- endif -%}
{%- endmacro %}


{% macro _knows_changes() -%}
  {{ return(
    passk._attempts_kind() == 'landing'
    or (passk._attempts_kind() in ['model', 'source', 'files'] and passk._setting('passk_incremental_by_loaded_at'))
  ) }}
{%- endmacro %}


{#- The condition that rows of two relations have the same keys. -#}
{% macro _same_keys(keys, one, other) -%}
  {%- for key in keys -%}
    {{ one }}.{{ key }} = {{ other }}.{{ key }}{{ ' and ' if not loop.last }}
  {%- endfor -%}
{%- endmacro %}
