{{ config(materialized='ephemeral') }}
{%- set rules = passk._gates() | selectattr('rule_type', 'equalto', 'sequential') | list %}
{%- set keys = ['gate', 'run_id', 'suite'] %}

with gates as (
  select *
  from {{ ref('int_passk__gate_runs') }}
  where has_run and rule_type = 'sequential'
),

numbered as (
  select
    gates.gate,
    gates.run_id,
    gates.suite,
    gates.first_attempts,
    attempts.task_id,
    attempts.attempt,
    case when attempts.outcome = 'passed' then 1 else 0 end as passed,
    case when attempts.outcome = 'excluded' then 1 else 0 end as excluded,
    row_number() over (
      partition by gates.gate, gates.run_id, gates.suite, attempts.task_id order by attempts.attempt
    ) as place,
    sum(case when attempts.outcome = 'excluded' then 0 else 1 end) over (
      partition by gates.gate, gates.run_id, gates.suite, attempts.task_id
      order by attempts.attempt
      rows between unbounded preceding and current row
    ) as counted_place
  from gates
  inner join {{ ref('int_passk__attempts') }} as attempts
    on gates.run_id = attempts.run_id and gates.suite = attempts.suite
  where {{ passk._is_judged_attempt('attempts') if rules else '1 = 0' }}
),

{# The first attempts of each task: the counted ones, and all, with the excluded ones as failures or as passes. A task with
   a gap is not finished: the attempt that is missing may land, and then another one would be among the first. #}
tasks as (
  {%- for variant, place, condition, passes in [
    ('counted', 'counted_place', 'excluded = 0', 'passed'),
    ('failed', 'place', '1 = 1', 'passed'),
    ('passed', 'place', '1 = 1', 'passed + excluded')
  ] %}
  select
    {{ keys | join(', ') }},
    '{{ variant }}' as variant,
    first_attempts,
    task_id,
    cast(sum({{ passes }}) as {{ dbt.type_bigint() }}) as passes
  from numbered
  where {{ condition }} and {{ place }} <= first_attempts
  group by {{ keys | join(', ') }}, first_attempts, task_id
  having count(*) = first_attempts and max(attempt) = max(place)
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
)

select
  {{ keys | join(', ') }},
  variant,
  case gate
    {%- for rule in rules %}
    when {{ passk._quoted(rule.gate) }} then {{ passk._score_of_rule(rule, 'passes') }}
    {%- else %}
    when '' then {{ passk._as_double(0) }}
    {%- endfor %}
  end as score,
  cast(count(*) as {{ passk.type_double() }}) as tasks
from tasks
group by {{ keys | join(', ') }}, variant, passes
