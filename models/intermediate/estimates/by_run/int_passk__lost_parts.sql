{%- set task = ['run_id', 'suite', 'task_id'] %}
{%- set bigint = dbt.type_bigint() %}
{%- set by_family = passk._family() is not none %}
{%- set log = ref('int_passk__attempts') %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__runs'), 'made.task_rows > 0') }}
),

counts as {{ passk._made_once() }}(
  select
    {% for key in task %}counts.{{ key }}, {% endfor %}
    counts.slice_name,
    counts.slice_value,
    {#- A task whose family is not known is a family of its own; no text is null, because rows are joined by them. #}
    {{ "coalesce(counts.family, '')" if by_family else "''" }} as family_key,
    {{ "case when counts.family is null then counts.task_id else '' end" if by_family else "''" }} as lone_task,
    counts.n,
    counts.c,
    counts.excluded,
    changed_runs.log_version
  from {{ ref('int_passk__task_counts') }} as counts
  inner join changed_runs
    on counts.run_id = changed_runs.run_id and counts.suite = changed_runs.suite
  where counts.attempts > 0
),

{# Most failures have no reason: those are what the counts leave, and are not read. #}
reasons as {{ passk._made_once() }}(
  select
    {{ task | join(', ') }},
    outcome_reason,
    sum(case when outcome = 'failed' then 1 else 0 end) as failures,
    sum(case when outcome = 'excluded' then 1 else 0 end) as excluded
  from {{ log }}
  where outcome <> 'passed' and outcome_reason is not null and {{ passk._is_of_changed_runs(log) }}
  group by {{ task | join(', ') }}, outcome_reason
),

causes as (
  select
    outcome_reason,
    {{ passk._cause_of('outcome_reason') }} as cause
  from (select distinct outcome_reason from reasons) as each_reason
),

told as (
  select
    {% for key in task %}reasons.{{ key }}, {% endfor %}
    causes.cause,
    reasons.failures,
    reasons.excluded
  from reasons
  inner join causes
    on reasons.outcome_reason = causes.outcome_reason
),

told_of_tasks as (
  select
    {{ task | join(', ') }},
    sum(failures) as failures,
    sum(excluded) as excluded
  from told
  group by {{ task | join(', ') }}
),

{# Attempts without a reason: failures are the agent's, and nothing is known of the excluded. #}
untold as (
  select
    {% for key in task %}counts.{{ key }}, {% endfor %}
    counts.n - counts.c - coalesce(told_of_tasks.failures, 0) as failures,
    counts.excluded - coalesce(told_of_tasks.excluded, 0) as excluded
  from counts
  left join told_of_tasks
    on {{ passk._same_keys(task, 'counts', 'told_of_tasks') }}
  where counts.slice_name = 'all'
),

attributed as (
  select * from told
  union all
  select
    {{ task | join(', ') }},
    'agent' as cause,
    failures,
    0 as excluded
  from untold
  where failures > 0
  union all
  select
    {{ task | join(', ') }},
    'unknown' as cause,
    0 as failures,
    excluded
  from untold
  where excluded > 0
),

parts as (
  select
    {{ task | join(', ') }},
    'all' as dimension,
    'all' as slice_name,
    'all' as part,
    n - c as failures,
    excluded
  from counts
  where slice_name = 'all'
  union all
  select
    {{ task | join(', ') }},
    'cause' as dimension,
    'all' as slice_name,
    cause as part,
    sum(failures) as failures,
    sum(excluded) as excluded
  from attributed
  group by {{ task | join(', ') }}, cause
  {%- if passk._setting('passk_slices') %}
  union all
  select
    {{ task | join(', ') }},
    'slice' as dimension,
    slice_name,
    slice_value as part,
    n - c as failures,
    excluded
  from counts
  where
    slice_name <> 'all'
    {%- for slice in passk._slices()[passk._setting('passk_slices') | length:] %}
    and slice_name <> {{ passk._quoted(slice.name) }}
    {%- endfor %}
  {%- endif %}
)

select
  parts.run_id,
  parts.suite,
  parts.dimension,
  parts.slice_name,
  parts.part,
  counts.family_key,
  counts.lone_task,
  counts.n,
  counts.c,
  cast(parts.failures as {{ bigint }}) as failures,
  cast(count(*) as {{ bigint }}) as tasks,
  cast(sum(parts.excluded) as {{ bigint }}) as excluded,
  counts.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from parts
inner join counts
  on {{ passk._same_keys(task, 'parts', 'counts') }} and counts.slice_name = 'all'
group by
  parts.run_id, parts.suite, parts.dimension, parts.slice_name, parts.part, counts.family_key, counts.lone_task, counts.n,
  counts.c, parts.failures, counts.log_version
