{%- set asked = passk._setting('passk_score_thresholds') %}
{%- set thresholds = asked or [1] %}
{%- set log = ref('int_passk__attempts') %}
{%- set task = ['run_id', 'suite', 'task_id', 'slice_name', 'slice_value'] %}
{%- set by_family = passk._family() is not none %}
{%- set bigint = dbt.type_bigint() %}
{#- Written whether or not it is read, so that what dbt has parsed serves for either. #}
{%- set of_changed_runs = passk._is_of_changed_runs(log) %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__runs'), 'upstream.task_rows > 0', is_wanted=asked | length > 0) }}
),

{# Each way of slicing names the log itself, as in the other scan of it. #}
scored as (
  {%- for slice in [none] + passk._slices() %}
  {%- set number = loop.index0 %}
  select
    run_id,
    suite,
    task_id,
    {{ passk._quoted(slice.name) if slice else "'all'" }} as slice_name,
    {{ 'slice_' ~ number if slice else "'all'" }} as slice_value,
    {%- for threshold in thresholds %}
    sum(case when score >= {{ passk._score_limit(threshold) }} then 1 else 0 end) as c_{{ loop.index }},
    {%- endfor %}
    count(*) as n
  from {{ log }}
  where outcome <> 'excluded' and score is not null and {{ of_changed_runs if asked else '1 = 0' }}
  group by run_id, suite, task_id{{ ', slice_' ~ number if slice }}
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

{# Tasks without a score stay, so that the tasks of a run are the same in all tables. #}
counts as {{ passk._made_once() }}(
  select
    {%- for key in task %}
    counts.{{ key }},
    {%- endfor %}
    {#- A task whose family is not known is a family of its own; no text is null, because rows are told apart by them. #}
    {{ "coalesce(counts.family, '')" if by_family else "''" }} as family_key,
    {{ "case when counts.family is null then counts.task_id else '' end" if by_family else "''" }} as lone_task,
    counts.n as counted,
    coalesce(scored.n, 0) as n,
    {%- for threshold in thresholds %}
    coalesce(scored.c_{{ loop.index }}, 0) as c_{{ loop.index }},
    {%- endfor %}
    changed_runs.log_version
  from {{ ref('int_passk__task_counts') }} as counts
  inner join changed_runs
    on counts.run_id = changed_runs.run_id and counts.suite = changed_runs.suite
  left join scored
    on {{ passk._same_keys(task, 'counts', 'scored') }}
  where counts.attempts > 0
),

passes as (
  {%- for threshold in thresholds %}
  select
    counts.*,
    {{ passk._as_double(threshold) }} as threshold,
    c_{{ loop.index }} as c
  from counts
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
)

select
  run_id,
  suite,
  slice_name,
  slice_value,
  threshold,
  family_key,
  lone_task,
  cast(n as {{ bigint }}) as n,
  cast(c as {{ bigint }}) as c,
  cast(count(*) as {{ bigint }}) as tasks,
  cast(sum(counted) as {{ bigint }}) as counted,
  log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from passes
group by run_id, suite, slice_name, slice_value, threshold, family_key, lone_task, n, c, log_version
