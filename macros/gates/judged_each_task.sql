{#- Whether each task reaches its threshold, by exact tails. CTEs up to `judged_tasks`. -#}
{% macro _judged_tasks(carried, gates) -%}
{%- set text = dbt.type_string() %}
{%- set double = passk.type_double() %}
least_attempts as (
  {%- for rule in gates if rule.rule_type == 'each_task' %}
  select
    {{ passk._quoted(rule.gate) }} as gate,
    {{ passk.least_attempts(rule.threshold, rule.k) if rule.metric == 'pass_hat_k'
      else passk.least_attempts(1 - (1 - rule.threshold) ** (1 / rule.k), 1) }}
      as least_n
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

each_task as (
  select
    gates.*,
    tasks.tasks,
    tasks.met_tasks,
    tasks.missed_tasks,
    tasks.most_n,
    least_attempts.least_n,
    tasks.worst_task_id || ' (' || {{ passk._whole('tasks.worst_c') }} || ' of ' || {{ passk._whole('tasks.worst_n') }}
    || ' passed)' as worst,
    case
      when tasks.missed_tasks > 0 then 'fail'
      when tasks.met_tasks = tasks.tasks then 'pass'
      else 'inconclusive'
    end as result
  from gates
  inner join {{ ref('int_passk__gate_tasks') }} as tasks
    on gates.gate = tasks.gate and gates.run_id = tasks.run_id and gates.suite = tasks.suite
  inner join least_attempts
    on gates.gate = least_attempts.gate
  where gates.has_run
),

judged_tasks as (
  select
    {{ carried | join(',\n    ') }},
    cast(null as {{ text }}) as baseline_run_id,
    'all' as slice_name,
    'all' as slice_value,
    tasks,
    cast(met_tasks as {{ double }}) / tasks as estimate,
    cast(null as {{ double }}) as estimate_lower,
    cast(null as {{ double }}) as estimate_upper,
    result,
    {{ passk._whole('met_tasks') }} || ' of ' || {{ passk._whole('tasks') }} || ' tasks are sure to reach ' || threshold_text
    || ', ' || {{ passk._whole('missed_tasks') }} || ' are sure not to; worst is ' || worst || '.' as reason,
    case
      when result <> 'inconclusive' then null
      when most_n < least_n
        then 'At least ' || {{ passk._whole('least_n') }} || ' attempts of each task.'
      else 'More attempts of the tasks that are neither.'
    end as to_settle
  from each_task
)
{%- endmacro %}
