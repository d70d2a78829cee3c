{{ config(materialized='table') }}
{#- The sentences that gates say of tasks in quarantine: docs/quarantine.md. Empty without the var passk_quarantine. -#}
{%- set entries = passk._quarantine() %}
{%- set text = dbt.type_string() %}
{%- set bigint = dbt.type_bigint() %}
{%- set most = 5 %}
{%- set share = 'cast(floor((200 * runs.quarantined_tasks + runs.tasks) / (2e0 * runs.tasks)) as ' ~ bigint ~ ')' %}

with tasks as (
  select
    run_id,
    suite,
    task_id,
    max(case when slice_value = 'in quarantine' then 1 else 0 end) as is_left_out,
    max(case when slice_value = 'not in quarantine' then 1 else 0 end) as is_judged,
    max(case when slice_value = 'not in quarantine' then coalesce(last_started_at, loaded_at) end) as judged_at
  from {{ ref('int_passk__task_counts') }}
  where {{ "slice_name = 'quarantine' and attempts > 0" if entries else '1 = 0' }}
  group by run_id, suite, task_id
),

runs as (
  select
    run_id,
    suite,
    cast(count(*) as {{ bigint }}) as tasks,
    cast(sum(is_left_out) as {{ bigint }}) as quarantined_tasks,
    cast(sum(is_judged) as {{ bigint }}) as judged_tasks
  from tasks
  group by run_id, suite
),

placed as (
  select
    *,
    row_number() over (partition by run_id, suite order by {{ passk._by_bytes('task_id') }}) as place
  from tasks
  where is_left_out = 1
),

names as (
  select
    run_id,
    suite,
    {{ passk._listed('task_id', 'place') }} as listed
  from placed
  where place <= {{ most }}
  group by run_id, suite
),

entries as (
  {%- for entry in entries %}
  {%- set is_prefix = entry.task.endswith('*') %}
  select
    {{ loop.index }} as place,
    {{ passk._quoted(entry.task) }} as named_task,
    {{ passk._quoted(entry.task[:-1] if is_prefix else entry.task) }} as beginning,
    {{ entry.task | length - 1 if is_prefix else 'cast(null as int)' }} as letters,
    cast({{ passk._quoted(entry.suite) if entry.get('suite') is not none else 'null' }} as {{ text }}) as suite,
    {{ passk._quoted(entry.until) }} as last_day
  {{- '\n  union all' if not loop.last }}
  {%- else %}
  select
    0 as place,
    '' as named_task,
    '' as beginning,
    cast(null as int) as letters,
    cast(null as {{ text }}) as suite,
    '' as last_day
  where 1 = 0
  {%- endfor %}
),

named as (
  select
    entries.place,
    tasks.run_id,
    tasks.suite,
    sum(tasks.is_judged) as judged_tasks,
    max(tasks.judged_at) as judged_at
  from tasks
  inner join entries
    on coalesce(entries.suite, tasks.suite) = tasks.suite
    and case
      when entries.letters is null then tasks.task_id
      else substring(tasks.task_id, 1, entries.letters)
    end = entries.beginning
  group by entries.place, tasks.run_id, tasks.suite
),

known as (
  select distinct place
  from named
),

{# A mistake in a name is said of every run, because the suite may be the mistake. #}
remarks as (
  select
    runs.run_id,
    runs.suite,
    entries.place,
    case
      when named.judged_tasks > 0 and named.judged_at is null
        then 'The log does not say when ' || entries.named_task || ' was tried, so it is not left out.'
      when named.judged_tasks > 0
        then 'The quarantine of ' || entries.named_task || ' ran out on ' || entries.last_day || '.'
      when known.place is null
        then 'passk_quarantine names ' || entries.named_task
          || coalesce(' of the suite ' || entries.suite, '') || ', but the log has no such task.'
    end as remark
  from runs
  cross join entries
  left join known
    on entries.place = known.place
  left join named
    on runs.run_id = named.run_id and runs.suite = named.suite and entries.place = named.place
),

remarked as (
  select
    run_id,
    suite,
    {{ passk._listed('remark', 'place', ' ') }} as remarks
  from remarks
  where remark is not null
  group by run_id, suite
)

select
  runs.run_id,
  runs.suite,
  runs.quarantined_tasks,
  runs.judged_tasks,
  case
    when runs.quarantined_tasks > 0
      then ' ' || {{ passk._whole('runs.quarantined_tasks') }} || ' of ' || {{ passk._whole('runs.tasks') }}
        || ' tasks (' || {{ passk._whole(share) }} || ' %) '
        || case when runs.quarantined_tasks = 1 then 'is' else 'are' end || ' in quarantine: ' || names.listed
        || case
          when runs.quarantined_tasks > {{ most }}
            then ' and ' || {{ passk._whole('runs.quarantined_tasks - ' ~ most) }} || ' more'
          else ''
        end
        || '.'
    else ''
  end
  || coalesce(' ' || remarked.remarks, '') as quarantine
from runs
left join names
  on runs.run_id = names.run_id and runs.suite = names.suite
left join remarked
  on runs.run_id = remarked.run_id and runs.suite = remarked.suite
