{#- What an increment is, and what has changed for it. -#}

{#- The model's table, if a build can leave it or add to it; else none. In a unit test there is none. -#}
{% macro _existing_table() -%}
  {%- set existing = load_cached_relation(this) if execute and model.config.materialized == 'passk_incremental' -%}
  {{ return(existing if existing and existing.is_table else none) }}
{%- endmacro %}


{#- Whether rows may be added to the model's table. dbt's own is_incremental knows its own materialization only. -#}
{% macro _is_increment() -%}
  {{ return(passk._existing_table() is not none and not should_full_refresh()) }}
{%- endmacro %}


{#- The latest `built_with` and `loaded_at` of the model's table, both null where it is empty; none where a build asks nothing of
    it, because it makes all of it. -#}
{% macro _built() -%}
  {%- if not passk._is_increment() or not passk._knows_changes() -%}
    {{ return(none) }}
  {%- endif -%}
  {{ return(run_query(
    'select max(built_with) as built_with, ' ~ passk._asked_time('max(loaded_at)') ~ ' as loaded_at from ' ~ this
  ).rows[0]) }}
{%- endmacro %}


{#- The time, as an SQL literal, after which rows arrived that this model's table does not have; none if all of it is to be
    built: the table does not exist or is empty, was built by other code or with other vars, or the input does not
    say when rows arrive. All rows of a table are built with the same, because other rows are never added to. -#}
{% macro _increment_since(built) -%}
  {%- if built is none or built[0] != passk._built_with() -%}
    {{ return(none) }}
  {%- endif -%}
  {{ return(
    'cast(' ~ passk._quoted(built[1] if built[1] is not none else '0001-01-01') ~ ' as ' ~ dbt.type_timestamp() ~ ')'
  ) }}
{%- endmacro %}


{% macro _knows_changes() -%}
  {{ return(
    passk._attempts_kind() == 'landing'
    or (passk._attempts_kind() in ['model', 'source', 'files'] and passk._setting('passk_incremental_by_loaded_at'))
  ) }}
{%- endmacro %}


{#- Version, code and vars that shape the tables, as one short text. What it has before the last stroke is the same for all
    tables of a build, so that tables of two builds can be told apart. -#}
{% macro _built_with() -%}
  {%- set shaping = [['input', passk._attempts_kind()]] -%}
  {%- for name in [
    'passk_attempts_model', 'passk_attempts_source', 'passk_attempts_files', 'passk_attempts_columns',
    'passk_landing_schema', 'passk_score_threshold', 'passk_outcome_policy', 'passk_ks', 'passk_min_eligible_share', 'passk_slices',
    'passk_ordered_metrics', 'passk_capable_threshold', 'passk_consistent_threshold'
  ] -%}
    {%- do shaping.append([name, var(name, none)]) -%}
  {%- endfor -%}
  {#- Vars that shape this table only. -#}
  {%- set own = [] -%}
  {%- for name in model.config.get('meta', {}).get('shaped_by', []) -%}
    {%- do own.append([name, var(name, none)]) -%}
  {%- endfor -%}
  {%- set sources = {} -%}
  {%- do passk._add_sources(model.unique_id, sources) -%}
  {{ return([passk._version(), local_md5(tojson(shaping)), local_md5(tojson([own, sources]))] | join('/')) }}
{%- endmacro %}


{#- Adds the checksums of a node and of all that it is built from. -#}
{% macro _add_sources(node_id, found) -%}
  {%- set node = graph.get('nodes', {}).get(node_id) if execute -%}
  {%- if node and node_id not in found -%}
    {%- do found.update({node_id: node.checksum.checksum}) -%}
    {%- for parent in node.depends_on.nodes -%}
      {%- do passk._add_sources(parent, found) -%}
    {%- endfor -%}
  {%- endif -%}
{%- endmacro %}


{#- The distinct keys, tasks or runs, of rows in anyone's own table that arrived after `since`. -#}
{% macro _changed(keys, since) -%}
select distinct {{ keys | join(', ') }}
from {{ ref('stg_passk__attempts') }}
where reject_reason is null and {{ passk._arrived_after(since) }}
{%- endmacro %}


{#- Rows that a table does not have which knows all up to `since`. That is a literal, because engines skip what is older by
    a literal, not by a subquery. -#}
{% macro _arrived(since) -%}
select 1 from {{ ref('stg_passk__attempts') }} where reject_reason is null and {{ passk._arrived_after(since) }}
{%- endmacro %}


{% macro _arrived_after(since) -%}
{%- if passk._attempts_kind() == 'landing' -%}
loaded_at > {{ since }}
{%- else -%}
{#- Anyone's table: a row may arrive with the time of the last one, or with none. -#}
(loaded_at >= {{ since }} or loaded_at is null)
{%- endif -%}
{%- endmacro %}


{#- The distinct keys that lost attempts which had landed. -#}
{% macro _removed(keys, since) -%}
select distinct {{ keys | join(', ') }}
from {{ source('passk_landing', 'removed_tasks') }}
where removed_at > {{ since }}
{%- endmacro %}


{#- What is to be done with a table that follows another step by step, given the keys that it should hold: `is_done` if
    nothing; `changed`, the keys to make anew; else none, and all of it is to be made; `literals` of each key; `since`, the time
    after which what it lacks arrived. `wanted` and `known` are queries of the keys, loaded_at and log_rows, as the step before
    has them and as this table does. Attempts that come raise the time, attempts that go lower the number, so nothing of the log
    is read. -#}
{% macro _plan(keys, wanted, known) -%}
  {%- set built = passk._built() -%}
  {%- if passk._stays_empty(wanted, built) -%}
    {{ return({'is_done': true, 'changed': none}) }}
  {%- endif -%}
  {%- set since = passk._increment_since(built) -%}
  {%- if since is none -%}
    {{ return({'is_done': false, 'changed': none}) }}
  {%- endif -%}
  {%- set changed -%}
    select distinct {{ keys | join(', ') }}
    from (
      select {{ keys | join(', ') }}, loaded_at, log_rows, 1 as side from ({{ wanted }}) as wanted
      union all
      select {{ keys | join(', ') }}, loaded_at, log_rows, -1 as side from ({{ known }}) as known
    ) as sides
    group by {{ keys | join(', ') }}, loaded_at, log_rows
    having sum(side) <> 0
    {%- if passk._attempts_kind() != 'landing' %}
    {#- Rows of anyone's own table may change without a sign of it, if they have no time. #}
    union
    {{ passk._changed(keys, since) }}
    {%- endif %}
  {%- endset -%}
  {%- if not passk._adds_to_tables() -%}
    {{ return({'is_done': not passk._any_row(changed), 'changed': none}) }}
  {%- endif -%}
  {%- set few = passk._few_rows(keys, changed) -%}
  {{ return({
    'is_done': few.selects == [],
    'changed': few.selects | join(' union all ') if few.selects else changed,
    'literals': few.literals,
    'since': since
  }) }}
{%- endmacro %}


{#- The runs that a table with rows for each of them should hold, for `_plan`: none where it is not asked for. A run without a
    task that counts has no row. -#}
{% macro _wanted_runs(is_wanted=true) -%}
select
    run_id,
    suite,
    loaded_at,
    task_rows as log_rows
  from {{ ref('int_passk__runs') }}
  where task_rows > 0{{ ' and 1 = 0' if not is_wanted }}
{%- endmacro %}


{#- The rows of `wanted` that a `_plan` says are to be made. -#}
{% macro _to_make(keys, wanted, plan) -%}
select *
  from ({{ wanted }}) as wanted
  {%- if plan.changed %}
  where
    exists (
      select 1
      from ({{ plan.changed }}) as changed
      where {{ passk._same_keys(keys, 'changed', 'wanted') }}
    )
  {%- endif %}
{%- endmacro %}


{#- A condition that holds for what a `_plan` says is to be made, of a column with the values of its `keys`. Engines skip the
    log's other runs by literals, not by a join. Where there are none it always holds: it only narrows, and the join stays. -#}
{% macro _is_among(plan, column, keys=['run_id']) -%}
{%- if plan.literals -%}
  {%- set found = [] -%}
  {%- for key in keys -%}
    {%- do found.extend(plan.literals[key]) -%}
  {%- endfor -%}
  {{ column }} in ({{ found | unique | join(', ') }})
{%- else -%}
  1 = 1
{%- endif -%}
{%- endmacro %}


{#- A query's rows as `selects` of literals, so that what is named several times is computed once, and the `literals` of each
    key; none where they are many, or hold what had better not be written into SQL. -#}
{% macro _few_rows(keys, query) -%}
  {%- set most = 64 -%}
  {%- set columns = [] -%}
  {%- for key in keys -%}
    {#- The letter keeps what comes back a text: 007 is no number. -#}
    {%- do columns.append("'x' || " ~ key ~ ' as ' ~ key) -%}
  {%- endfor -%}
  {%- set found = run_query(
    'select ' ~ columns | join(', ') ~ ' from (' ~ query ~ ') as few limit ' ~ (most + 1)
  ).rows if execute else [] -%}
  {%- set selects = [] -%}
  {%- set literals = {} -%}
  {%- for key in keys -%}
    {%- do literals.update({key: []}) -%}
  {%- endfor -%}
  {%- for row in found -%}
    {%- set values = [] -%}
    {%- for value in row if modules.re.fullmatch('x[A-Za-z0-9_.:@+=,#/-]{1,200}', value | string) -%}
      {%- set key = keys[loop.index0] -%}
      {%- do literals[key].append(passk._quoted(value[1:])) -%}
      {%- do values.append(literals[key][-1] ~ ' as ' ~ key) -%}
    {%- endfor -%}
    {%- if values | length == keys | length -%}
      {%- do selects.append('select ' ~ values | join(', ')) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set are_few = selects | length == found | length and found | length <= most -%}
  {{ return({'selects': selects, 'literals': literals} if are_few else {'selects': none, 'literals': none}) }}
{%- endmacro %}


{#- What is to be done with a table of formulas over distinct counts: `is_done` if nothing; else the query `new_states` of
    those to make, and whether they come to the others. A state never changes, so a full refresh has nothing to refresh;
    other formulas make all of them anew. Most increments bring no new state, and formulas cost more to plan than to
    compute. `counted` is a query of the distinct `keys`; a table with several rows for each says by `known_where` which one
    it has in any case. -#}
{% macro _state_plan(formulas, counted, keys=['n', 'c'], known_where='1 = 1') -%}
  {%- set built_with = passk._version() ~ '/' ~ local_md5(formulas) -%}
  {%- set is_increment = passk._is_increment()
    and not passk._any_row('select 1 from ' ~ this ~ ' where built_with <> ' ~ passk._quoted(built_with)) -%}
  {%- set new_states = counted -%}
  {%- if is_increment -%}
    {%- set names = keys | join(', ') -%}
    {%- set new_states = 'select ' ~ names ~ ' from (' ~ counted ~ ') as counted ' ~ dbt.except() ~ ' select ' ~ names
      ~ ' from ' ~ this ~ ' where ' ~ known_where -%}
  {%- endif -%}
  {%- set is_done = is_increment and not passk._any_row(new_states) -%}
  {%- if not is_done and not passk._adds_to_tables() -%}
    {%- set is_increment, new_states = false, counted -%}
  {%- endif -%}
  {{ return({
    'is_done': is_done,
    'is_increment': is_increment,
    'new_states': new_states,
    'built_with': built_with
  }) }}
{%- endmacro %}


{#- The SQL of a table of formulas over distinct counts, told apart by `keys`, as the query `counted` gives them. `formulas` are
    CTEs after one `states`, the last of them named by `results`; `more_formulas` is what else the table is made anew for. -#}
{% macro _state_table(formulas, counted, results='results', more_formulas='', keys=['n', 'c'], known_where='1 = 1') -%}
{%- set plan = passk._state_plan(formulas ~ more_formulas, counted, keys, known_where) -%}
{%- if plan.is_done -%}
{{ passk._nothing_new() }}
{%- else -%}
with states as (
  {{ plan.new_states }}
),

{{ formulas }}

select
  *,
  {{ passk._quoted(plan.built_with) }} as built_with
from {{ results }}
{{ passk._more_rows() if plan.is_increment }}
{%- endif -%}
{%- endmacro %}


{#- The distinct (n, c) of a relation, those with n of at least `least_n`. -#}
{% macro _distinct_states(counts, least_n=0) -%}
select distinct n, c
from {{ counts }}
{%- if least_n %}
where n >= {{ least_n }}
{%- endif %}
{%- endmacro %}


{#- The (n, c) that tasks with the counts of a relation have or may have: each n that was seen with each c that was, so that the
    next run finds its states made. A state costs little beside the plan of its formulas, unless tasks have many attempts:
    above 126 attempts, the (n, c) that were seen. -#}
{% macro _likely_states(counts) -%}
{%- set most = 126 -%}
select
    sizes.n,
    passes.c
  from (select distinct n from {{ counts }} where n <= {{ most }}) as sizes
  inner join (select distinct c from {{ counts }} where n <= {{ most }}) as passes
    on sizes.n >= passes.c
  union all
  {{ passk._distinct_states(counts, least_n=most + 1) }}
{%- endmacro %}


{#- Whether this table is empty, and rightly so: most logs need no slow road. No row says what it was built with, but one
    of an older version may lack columns. `built` is what `_built` found in it. -#}
{% macro _stays_empty(wanted, built) -%}
  {%- set existing = passk._existing_table() -%}
  {%- if existing is none -%}
    {{ return(false) }}
  {%- endif -%}
  {%- set has_rows = (built[0] is not none) if (built is not none) else passk._any_row('select 1 from ' ~ existing) -%}
  {%- if has_rows or passk._any_row(wanted) -%}
    {{ return(false) }}
  {%- endif -%}
  {%- set columns = adapter.get_columns_in_relation(existing) | map(attribute='name') | map('lower') | list -%}
  {{ return(columns | sort == model.columns.keys() | map('lower') | sort) }}
{%- endmacro %}


{#- That rows of two relations have the same keys. -#}
{% macro _same_keys(keys, one, other) -%}
  {%- for key in keys -%}
    {{ one }}.{{ key }} = {{ other }}.{{ key }}{{ ' and ' if not loop.last }}
  {%- endfor -%}
{%- endmacro %}


{#- True if a query gives a row. What it asks is fit for skipping work only: while dbt parses, there is nothing to ask. -#}
{% macro _any_row(query) -%}
  {{ return(execute and run_query('select 1 from (' ~ query ~ ') as found limit 1').rows | length > 0) }}
{%- endmacro %}


{#- Whether a plan for a relation's rows is needed. Who only compiles the project may not have it to ask, and needs all; so
    does a unit test, whose relations are no tables. -#}
{% macro _may_have_rows(relation, condition='1 = 1') -%}
  {{ return(
    not execute
    or relation.schema is none
    or load_relation(relation) is none
    or passk._any_row('select 1 from ' ~ relation ~ ' where ' ~ condition)
  ) }}
{%- endmacro %}


{#- dbt finds dependencies when it parses, where no model is an increment yet: this names what `_plan` may ask. -#}
{% macro _depends_on_changes() -%}
-- depends_on: {{ ref('stg_passk__attempts') }}
{%- endmacro %}
