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
    min(case when moved and direction = 'fell' then p end) as surest_p
  from {{ ref('passk_task_comparisons') }}
  group by suite, baseline_run_id, candidate_run_id
),

surest as (
  select
    moved_tasks.suite,
    moved_tasks.baseline_run_id,
    moved_tasks.candidate_run_id,
    min({{ passk._by_bytes('moved_tasks.task_id') }}) as task_id
  from {{ ref('passk_task_comparisons') }} as moved_tasks
  inner join moves
    on moved_tasks.suite = moves.suite
    and moved_tasks.baseline_run_id = moves.baseline_run_id
    and moved_tasks.candidate_run_id = moves.candidate_run_id
    and moved_tasks.p = moves.surest_p
  where moved_tasks.moved and moved_tasks.direction = 'fell'
  group by moved_tasks.suite, moved_tasks.baseline_run_id, moved_tasks.candidate_run_id
),

compared as (
  select distinct
    suite,
    baseline_run_id,
    candidate_run_id,
    pair_source,
    common_tasks + baseline_only_tasks as baseline_tasks,
    case when null_reason = 'the suite has no attempt of the baseline' then true else false end as lacks_baseline
  from {{ ref('passk_comparisons') }}
),

asked_moves as (
  select
    gates.*,
    compared.baseline_run_id,
    compared.baseline_tasks,
    compared.lacks_baseline
  from gates
  left join compared
    on gates.run_id = compared.candidate_run_id
    and gates.suite = compared.suite
    and {{ passk._is_pair_of_gate('compared') }}
  where gates.kind = 'regressed_tasks' and gates.has_run
),

{# Of which tasks a fall could be seen, if one more than the rule allows had fallen: the bar of Benjamini and Hochberg. #}
visible as (
  select
    asked_moves.gate,
    asked_moves.suite,
    asked_moves.baseline_run_id,
    asked_moves.run_id,
    sum(
      case when task_moves.least_p * moves.tasks <= {{ error }} * (asked_moves.threshold + 1) * (1 + 1e-9) then 1 else 0 end
    ) as visible_tasks
  from asked_moves
  inner join moves
    on asked_moves.suite = moves.suite
    and asked_moves.baseline_run_id = moves.baseline_run_id
    and asked_moves.run_id = moves.candidate_run_id
  inner join {{ ref('passk_task_comparisons') }} as task_moves
    on moves.suite = task_moves.suite
    and moves.baseline_run_id = task_moves.baseline_run_id
    and moves.candidate_run_id = task_moves.candidate_run_id
  where task_moves.p is not null
  group by asked_moves.gate, asked_moves.suite, asked_moves.baseline_run_id, asked_moves.run_id
),

told_moves as (
  select
    asked_moves.*,
    moves.tasks,
    moves.fell_tasks,
    surest.task_id as surest_task_id,
    case
      when coalesce(moves.tasks, 0) = 0 then 'inconclusive'
      when moves.fell_tasks > asked_moves.threshold then 'fail'
      when moves.tasks * 10 < asked_moves.baseline_tasks * 9 then 'inconclusive'
      when visible.visible_tasks > asked_moves.threshold then 'pass'
      else 'inconclusive'
    end as result
  from asked_moves
  left join moves
    on asked_moves.suite = moves.suite
    and asked_moves.baseline_run_id = moves.baseline_run_id
    and asked_moves.run_id = moves.candidate_run_id
  left join surest
    on asked_moves.suite = surest.suite
    and asked_moves.baseline_run_id = surest.baseline_run_id
    and asked_moves.run_id = surest.candidate_run_id
  left join visible
    on asked_moves.gate = visible.gate
    and asked_moves.suite = visible.suite
    and asked_moves.baseline_run_id = visible.baseline_run_id
    and asked_moves.run_id = visible.run_id
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
      {{ passk._why_no_baseline() }}
      when lacks_baseline then 'The suite has no attempt of the baseline.'
      when coalesce(tasks, 0) = 0 then 'No task has counted attempts in both runs.'
      else {{ passk._whole('fell_tasks') }} || ' of ' || {{ passk._whole('tasks') }} || ' tasks fell beyond chance'
        || case when fell_tasks > 0 then ', the surest of them ' || surest_task_id else '' end || '.'
        || case
          when result <> 'inconclusive' then ''
          when tasks * 10 < baseline_tasks * 9
            then ' They are fewer than 90 % of the ' || {{ passk._whole('baseline_tasks') }} || ' of the baseline.'
          else ' With as few attempts of so many tasks, more could not be seen to.'
        end
    end as reason,
    case
      when result <> 'inconclusive' then null
      when baseline_run_id is null then {{ passk._name_a_baseline() }}
      when lacks_baseline then {{ passk._another_baseline() }}
      when coalesce(tasks, 0) = 0 or tasks * 10 < baseline_tasks * 9 then {{ passk._over_baseline_tasks() }}
      else 'More attempts of each task: see least_p in passk_task_comparisons.'
    end as to_settle
  from told_moves
)
{%- endmacro %}
