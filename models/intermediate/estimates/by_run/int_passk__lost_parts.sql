{%- set task = ['run_id', 'suite', 'task_id'] %}
{%- set of_task = 'run_id, suite, family_key, lone_task, n, c, log_version' %}
{%- set bigint = dbt.type_bigint() %}
{%- set by_family = passk._family() is not none %}
{%- set log = ref('int_passk__attempts') %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__runs'), 'upstream.task_rows > 0') }}
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

tasks as (
  select *
  from counts
  where slice_name = 'all'
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
    sum(reasons.failures) as failures,
    sum(reasons.excluded) as excluded
  from reasons
  inner join causes
    on reasons.outcome_reason = causes.outcome_reason
  group by {% for key in task %}reasons.{{ key }}, {% endfor %}causes.cause
),

told_of_tasks as (
  select
    {{ task | join(', ') }},
    sum(case when cause = 'agent' then 0 else failures end) as failures_of_others,
    sum(case when cause = 'agent' then excluded else 0 end) as agent_excluded,
    sum(case when cause = 'unknown' then failures else 0 end) as unknown_failures,
    sum(case when cause = 'unknown' then 0 else excluded end) as excluded_for_a_cause
  from told
  group by {{ task | join(', ') }}
),

{# Attempts without a reason: failures are the agent's, and nothing is known of the excluded. #}
attributed as (
  select
    tasks.run_id,
    tasks.suite,
    tasks.family_key,
    tasks.lone_task,
    tasks.n,
    tasks.c,
    tasks.log_version,
    tasks.n - tasks.c - coalesce(told_of_tasks.failures_of_others, 0) as agent_failures,
    coalesce(told_of_tasks.agent_excluded, 0) as agent_excluded,
    coalesce(told_of_tasks.unknown_failures, 0) as unknown_failures,
    tasks.excluded - coalesce(told_of_tasks.excluded_for_a_cause, 0) as unknown_excluded
  from tasks
  left join told_of_tasks
    on {{ passk._same_keys(task, 'tasks', 'told_of_tasks') }}
),

parts as (
  select
    {{ of_task }},
    'all' as dimension,
    'all' as slice_name,
    'all' as part,
    n - c as failures,
    excluded
  from tasks
  union all
  select
    {{ of_task }},
    'cause' as dimension,
    'all' as slice_name,
    'agent' as part,
    agent_failures as failures,
    agent_excluded as excluded
  from attributed
  where agent_failures + agent_excluded > 0
  union all
  select
    {{ of_task }},
    'cause' as dimension,
    'all' as slice_name,
    'unknown' as part,
    unknown_failures as failures,
    unknown_excluded as excluded
  from attributed
  where unknown_failures + unknown_excluded > 0
  union all
  select
    tasks.run_id,
    tasks.suite,
    tasks.family_key,
    tasks.lone_task,
    tasks.n,
    tasks.c,
    tasks.log_version,
    'cause' as dimension,
    'all' as slice_name,
    told.cause as part,
    told.failures,
    told.excluded
  from told
  inner join tasks
    on {{ passk._same_keys(task, 'told', 'tasks') }}
  where told.cause not in ('agent', 'unknown')
  {%- if passk._setting('passk_slices') %}
  union all
  select
    tasks.run_id,
    tasks.suite,
    tasks.family_key,
    tasks.lone_task,
    tasks.n,
    tasks.c,
    tasks.log_version,
    'slice' as dimension,
    counts.slice_name,
    counts.slice_value as part,
    counts.n - counts.c as failures,
    counts.excluded
  from counts
  inner join tasks
    on {{ passk._same_keys(task, 'counts', 'tasks') }}
  where
    counts.slice_name <> 'all'
    {%- for slice in passk._slices()[passk._setting('passk_slices') | length:] %}
    and counts.slice_name <> {{ passk._quoted(slice.name) }}
    {%- endfor %}
  {%- endif %}
)

select
  run_id,
  suite,
  dimension,
  slice_name,
  part,
  family_key,
  lone_task,
  n,
  c,
  cast(failures as {{ bigint }}) as failures,
  cast(count(*) as {{ bigint }}) as tasks,
  cast(sum(excluded) as {{ bigint }}) as excluded,
  log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from parts
group by run_id, suite, dimension, slice_name, part, family_key, lone_task, n, c, failures, log_version
