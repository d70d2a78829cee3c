{{ config(materialized='ephemeral') }}
{%- set tries = ['run_id', 'suite', 'task_id', 'attempt'] %}
{%- set tasks = ['suite', 'judge', 'other_judge', 'task_id'] %}
{%- set by_task = 'runs.' ~ tasks | join(', runs.') %}
{%- set log_judge = passk._log_judge() %}

{#- Named whether or not it is read, so that what dbt has parsed serves for either. #}
{%- set of_tasks, by_family = ref('int_passk__task_counts'), passk._family() is not none %}

with verdicts as (
  select
    {{ tries | join(', ') }},
    labeller as judge,
    grade,
    case when verdict = 'passed' then 1 else 0 end as passed
  from {{ ref('int_passk__labels') }}
  where kind = 'verdict' and reject_reason is null
),

counted as {{ passk._made_once() }}(
  select
    {{ tries | join(', ') }},
    judge,
    {{ passk._as_double('count(*)') }} as verdicts,
    {{ passk._as_double('sum(passed)') }} as passes
  from verdicts
  group by {{ tries | join(', ') }}, judge
  union all
  select distinct
    {{ tries | join(', ') }},
    '{{ log_judge }}' as judge,
    {{ passk._as_double(1) }} as verdicts,
    {{ passk._as_double("case when grade = 'passed' then 1 else 0 end") }} as passes
  from verdicts
),

{# How often two verdicts of an attempt differ: over all pairs of them, of one judge or of two. #}
attempts as (
  select
    {% for key in tries %}one.{{ key }}, {% endfor %}
    one.judge,
    other.judge as other_judge,
    one.passes / one.verdicts as pass_rate,
    other.passes / other.verdicts as other_pass_rate,
    case
      when one.judge = other.judge
        then 2 * one.passes * (one.verdicts - one.passes) / one.verdicts / nullif(one.verdicts - 1, 0)
      else (one.passes * (other.verdicts - other.passes) + other.passes * (one.verdicts - one.passes))
        / one.verdicts / other.verdicts
    end as difference
  from counted as one
  inner join counted as other
    on {{ passk._same_keys(tries, 'one', 'other') }}
  where one.judge <> '{{ log_judge }}'
    and (
      other.judge = '{{ log_judge }}'
      or {{ passk._by_bytes('one.judge') }} < {{ passk._by_bytes('other.judge') }}
      or (one.judge = other.judge and one.verdicts > 1)
    )
),

{# The tries of a task in each run: only they are of one agent. #}
runs as (
  select
    {{ tasks | join(', ') }},
    run_id,
    {{ passk._as_double('count(*)') }} as attempts,
    sum(pass_rate) as passes,
    sum(other_pass_rate) as other_passes,
    sum(pass_rate * other_pass_rate) as common_passes,
    sum(difference) as differences
  from attempts
  group by {{ tasks | join(', ') }}, run_id
)

select
  {{ by_task }},
  {%- if by_family %}
  min({{ passk._by_bytes('families.family') }}) as family,
  {%- else %}
  cast(null as {{ dbt.type_string() }}) as family,
  {%- endif %}
  sum(runs.attempts) as attempts,
  sum(runs.passes) / sum(runs.attempts) as pass_rate,
  sum(runs.other_passes) / sum(runs.attempts) as other_pass_rate,
  1 - sum(runs.differences) / sum(runs.attempts) as agreement,
  avg(case when runs.attempts > 1 then runs.differences / runs.attempts end) as same_try,
  {#- Of all pairs of two tries, each judged by one of the two: all pairs of verdicts less those of one try. #}
  avg(
    (
      (runs.attempts - 1) * (runs.passes + runs.other_passes)
      - 2 * (runs.passes * runs.other_passes - runs.common_passes)
    ) / nullif(runs.attempts * (runs.attempts - 1), 0)
  ) as other_try
from runs
{%- if by_family %}
left join {{ of_tasks }} as families
  on runs.run_id = families.run_id
  and runs.suite = families.suite
  and runs.task_id = families.task_id
  and families.slice_name = 'all'
{%- endif %}
group by {{ by_task }}
