{#- Whether few enough tasks got worse. CTEs up to `judged_moves`. -#}
{% macro _judged_moves(carried) -%}
{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}
{%- set error = passk._gate_error() %}
moves as (
  select
    suite,
    baseline_run_id,
    candidate_run_id,
    cast(count(p) as {{ bigint }}) as tasks,
    cast(sum(case when moved and direction = 'fell' then 1 else 0 end) as {{ bigint }}) as fell_tasks,
    min(case when moved and direction = 'fell' then p end) as surest_p,
    min(least_p) as least_p
  from {{ ref('passk_task_comparisons') }}
  group by suite, baseline_run_id, candidate_run_id
),

surest as (
  select
    moved_tasks.suite,
    moved_tasks.baseline_run_id,
    moved_tasks.candidate_run_id,
    min(moved_tasks.task_id) as task_id
  from {{ ref('passk_task_comparisons') }} as moved_tasks
  inner join moves
    on moved_tasks.suite = moves.suite
    and moved_tasks.baseline_run_id = moves.baseline_run_id
    and moved_tasks.candidate_run_id = moves.candidate_run_id
    and moved_tasks.p = moves.surest_p
  where moved_tasks.moved and moved_tasks.direction = 'fell'
  group by moved_tasks.suite, moved_tasks.baseline_run_id, moved_tasks.candidate_run_id
),

pairs as (
  select * from {{ ref('int_passk__pairs') }}
),

told_moves as (
  select
    gates.*,
    pairs.baseline_run_id,
    moves.tasks,
    moves.fell_tasks,
    moves.least_p,
    surest.task_id as surest_task_id,
    case
      when coalesce(moves.tasks, 0) = 0 then 'inconclusive'
      when moves.fell_tasks > gates.threshold then 'fail'
      {#- With Benjamini and Hochberg's correction one task is found alone only if its p is so small. #}
      when moves.least_p * moves.tasks > {{ error }} and moves.least_p > {{ error }} then 'inconclusive'
      else 'pass'
    end as result
  from gates
  left join pairs
    on gates.run_id = pairs.candidate_run_id
    and gates.suite = pairs.suite
    and {{ passk._is_pair_of_gate('pairs') }}
  left join moves
    on pairs.suite = moves.suite
    and pairs.baseline_run_id = moves.baseline_run_id
    and pairs.candidate_run_id = moves.candidate_run_id
  left join surest
    on pairs.suite = surest.suite
    and pairs.baseline_run_id = surest.baseline_run_id
    and pairs.candidate_run_id = surest.candidate_run_id
  where gates.kind = 'regressed_tasks' and gates.has_run
),

judged_moves as (
  select
    {{ carried | join(',\n    ') }},
    coalesce(baseline_run_id, baseline) as baseline_run_id,
    'all' as slice_name,
    'all' as slice_value,
    tasks,
    case when tasks > 0 then cast(fell_tasks as {{ double }}) end as estimate,
    cast(null as {{ double }}) as estimate_lower,
    cast(null as {{ double }}) as estimate_upper,
    result,
    case
      when baseline_run_id is null and baseline = run_id then 'The run is the baseline.'
      when baseline_run_id is null then 'There is no baseline: no earlier run of the agent on this suite, and no declared pair.'
      when coalesce(tasks, 0) = 0 then 'No task has counted attempts in both runs.'
      else {{ passk._whole('fell_tasks') }} || ' of ' || {{ passk._whole('tasks') }} || ' tasks fell beyond chance'
        || case when fell_tasks > 0 then ', the surest of them ' || surest_task_id else '' end || '.'
        || case
          when result = 'inconclusive' then ' With as few attempts, none could be seen to.'
          else ''
        end
    end as reason,
    case
      when result <> 'inconclusive' then null
      when baseline_run_id is null then 'Another run of the agent, or a baseline that the gate names.'
      when coalesce(tasks, 0) = 0 then 'A run over the tasks of the baseline.'
      else 'More attempts of each task: see least_p in passk_task_comparisons.'
    end as to_settle
  from told_moves
)
{%- endmacro %}
