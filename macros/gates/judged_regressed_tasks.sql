{#- Whether few enough tasks got worse, from a CTE `comparisons`. CTEs up to `judged_moves`. -#}
{% macro _judged_moves(carried) -%}
{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}
{%- set error = passk._gate_error() %}
{%- set z = passk.normal_quantile() %}
task_comparisons as (
  select *
  from {{ ref('int_passk__task_verdicts') ~ ' where is_judged' if passk._judges_pairs() else ref('passk_task_comparisons') }}
),

moves as (
  select
    suite,
    baseline_run_id,
    candidate_run_id,
    cast(count(p) as {{ bigint }}) as tasks,
    cast(sum(case when moved and direction = 'fell' then 1 else 0 end) as {{ bigint }}) as fell_tasks,
    min(case when moved and direction = 'fell' then p end) as surest_p,
    cast(sum(case when p is not null and baseline_c > 0 then 1 else 0 end) as {{ bigint }}) as passed_tasks
  from task_comparisons
  group by suite, baseline_run_id, candidate_run_id
),

surest as (
  select
    moved_tasks.suite,
    moved_tasks.baseline_run_id,
    moved_tasks.candidate_run_id,
    min({{ passk._by_bytes('moved_tasks.task_id') }}) as task_id
  from task_comparisons as moved_tasks
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
  from comparisons
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
  where gates.rule_type = 'regressed_tasks' and gates.has_run
),

asked_tasks as (
  select
    asked_moves.gate,
    asked_moves.suite,
    asked_moves.baseline_run_id,
    asked_moves.run_id,
    asked_moves.threshold,
    moves.tasks,
    task_moves.difference,
    task_moves.least_p_of_fall,
    task_moves.baseline_c,
    cast(task_moves.baseline_n as {{ double }}) as baseline_n,
    cast(task_moves.candidate_n as {{ double }}) as candidate_n,
    cast(task_moves.baseline_c + task_moves.candidate_c as {{ double }}) as passes,
    row_number() over (
      partition by asked_moves.gate, asked_moves.suite, asked_moves.baseline_run_id, asked_moves.run_id
      order by
        {#- The number of fallen tasks that was found is the number to allow. #}
        case when task_moves.moved and task_moves.direction = 'fell' then 0 else 1 end,
        task_moves.difference,
        {{ passk._by_bytes('task_moves.task_id') }}
    ) as place
  from asked_moves
  inner join moves
    on asked_moves.suite = moves.suite
    and asked_moves.baseline_run_id = moves.baseline_run_id
    and asked_moves.run_id = moves.candidate_run_id
  inner join task_comparisons as task_moves
    on moves.suite = task_moves.suite
    and moves.baseline_run_id = task_moves.baseline_run_id
    and moves.candidate_run_id = task_moves.candidate_run_id
  where task_moves.p is not null
),

{# The tasks of which a fall could be seen, if one more than the rule allows had fallen: the bar of Benjamini and Hochberg. And all
    but the worst, which may fall, together: the difference of each has the variance of a hypergeometric draw. Half a step is
    subtracted, because a sum of draws goes in steps. #}
summed_tasks as (
  select
    gate,
    suite,
    baseline_run_id,
    run_id,
    cast(sum(
      case
        when baseline_c > 0 and least_p_of_fall * tasks <= {{ error }} * (threshold + 1) * (1 + 1e-9) then 1
        else 0
      end
    ) as {{ bigint }}) as visible_tasks,
    sum(case when place > threshold then difference end)
    + avg(case when place > threshold then (1 / baseline_n + 1 / candidate_n) / 2 end) as rest_difference,
    sum(
      case
        when place > threshold
          then passes * (baseline_n + candidate_n - passes)
            / ((baseline_n + candidate_n - 1) * baseline_n * candidate_n)
      end
    ) as rest_variance
  from asked_tasks
  group by gate, suite, baseline_run_id, run_id
),

told_moves as (
  select
    asked_moves.*,
    moves.tasks,
    moves.fell_tasks,
    moves.passed_tasks,
    summed_tasks.visible_tasks,
    surest.task_id as surest_task_id,
    case
      when coalesce(moves.tasks, 0) = 0 then 'no task'
      when moves.fell_tasks > asked_moves.threshold then 'fell'
      when not ({{ passk._are_nearly_all('moves.tasks', 'asked_moves.baseline_tasks') }}) then 'few of the baseline'
      when moves.passed_tasks = 0 then 'none could fall'
      when
        summed_tasks.rest_difference < 0
        and summed_tasks.rest_difference * summed_tasks.rest_difference
        >= {{ z }} * {{ z }} * summed_tasks.rest_variance * (1 - 1e-9)
        then 'fell together'
      when summed_tasks.visible_tasks <= asked_moves.threshold and summed_tasks.visible_tasks < moves.passed_tasks
        then 'unseen'
      when summed_tasks.visible_tasks * 2 < moves.passed_tasks then 'unseen'
      else 'held'
    end as found
  from asked_moves
  left join moves
    on asked_moves.suite = moves.suite
    and asked_moves.baseline_run_id = moves.baseline_run_id
    and asked_moves.run_id = moves.candidate_run_id
  left join surest
    on asked_moves.suite = surest.suite
    and asked_moves.baseline_run_id = surest.baseline_run_id
    and asked_moves.run_id = surest.candidate_run_id
  left join summed_tasks
    on asked_moves.gate = summed_tasks.gate
    and asked_moves.suite = summed_tasks.suite
    and asked_moves.baseline_run_id = summed_tasks.baseline_run_id
    and asked_moves.run_id = summed_tasks.run_id
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
    case found when 'fell' then 'fail' when 'held' then 'pass' else 'inconclusive' end as result,
    case
      {{ passk._why_no_baseline() }}
      when lacks_baseline then 'The suite has no attempt of the baseline.'
      when found = 'no task' then 'No task has counted attempts in both runs.'
      else {{ passk._whole('fell_tasks') }} || ' of ' || {{ passk._whole('tasks') }} || ' tasks fell beyond chance'
        || case when fell_tasks > 0 then ', the surest of them ' || surest_task_id else '' end || '.'
        || case found
          when 'fell' then ''
          when 'few of the baseline'
            then ' They are fewer than {{ passk._nearly_all_percent() }} % of the ' || {{ passk._whole('baseline_tasks') }}
              || ' of the baseline.'
          when 'none could fall' then ' No task passed in the baseline.'
          when 'fell together'
            then case
              when threshold = 0 then ' Together they fell beyond chance, but which of them cannot be told.'
              when threshold = 1 then ' All but the worst fell together beyond chance, but which of them cannot be told.'
              else ' All but the ' || threshold_text
                || ' worst fell together beyond chance, but which of them cannot be told.'
            end
          else ' A fall to no pass could be seen in ' || {{ passk._whole('visible_tasks') }} || ' of the '
            || {{ passk._whole('passed_tasks') }} || ' that passed before.'
        end
    end as reason,
    case
      when found in ('fell', 'held') then null
      when baseline_run_id is null then {{ passk._name_a_baseline() }}
      when lacks_baseline then {{ passk._another_baseline() }}
      when found in ('no task', 'few of the baseline') then {{ passk._over_baseline_tasks() }}
      when found = 'none could fall' then 'A baseline that passes.'
      when found = 'fell together' then 'More attempts of each task.'
      else 'More attempts of each task: see least_p_of_fall in passk_task_comparisons.'
    end as to_settle
  from told_moves
)
{%- endmacro %}
