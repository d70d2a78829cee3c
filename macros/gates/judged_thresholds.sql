{#- Whether a suite's metric reaches its threshold, with the limits that passk_suite_metrics has. CTEs up to `judged_thresholds`. -#}
{% macro _judged_thresholds(carried) -%}
{%- set text = dbt.type_string() %}
{%- set metric_name = passk._metric_name() %}
{%- set interval = passk._gate_interval() %}
{#- A row for each metric. #}
metrics as (
  {%- set shared = [
    'run_id', 'suite', 'slice_name', 'slice_value', 'k', 'eligible_tasks', 'total_tasks', 'least_n', 'families',
    'effective_families', 'null_reason'
  ] %}
  {%- for metric in ['pass_at_k', 'pass_hat_k'] %}
  select
    {{ shared | join(',\n    ') }},
    '{{ metric }}' as metric,
    {{ metric }} as estimate,
    {{ metric }}_lower as unseen_lower,
    {{ metric }}_upper as unseen_upper,
    {{ metric }}_suite_lower as suite_lower,
    {{ metric }}_suite_upper as suite_upper
  from {{ ref('passk_suite_metrics') }}
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
  {#- A project may switch off a table that no rule asks for. #}
  {%- if passk._gates() | selectattr('m') | list %}
  union all
  select
    {{ shared | join(',\n    ') }},
    'pass_' || {{ passk._whole('m') }} || '_of_' || {{ passk._whole('k') }} as metric,
    estimate,
    lower as unseen_lower,
    upper as unseen_upper,
    suite_lower,
    suite_upper
  from {{ ref('passk_m_of_k') }}
  where metric = 'pass_m_of_k'
  {%- endif %}
),

thresholds as (
  select
    gates.*,
    metrics.slice_value as found_slice_value,
    metrics.eligible_tasks as tasks,
    metrics.total_tasks,
    metrics.null_reason,
    metrics.estimate,
    case when gates.scope = 'suite' then metrics.suite_lower else metrics.unseen_lower end as estimate_lower,
    case when gates.scope = 'suite' then metrics.suite_upper else metrics.unseen_upper end as estimate_upper,
    coalesce(bounds.excluded, 0) as excluded,
    coalesce(bounds.change_if_failed, 0) as change_if_failed,
    coalesce(bounds.change_if_passed, 0) as change_if_passed,
    {{ passk._needed_tasks(passk._floor_of_suite('gates.k', 'metrics.least_n'), '(1 - gates.threshold)') }} as needed_tasks,
    {{ passk._gate_units('metrics') }}
  from gates
  left join metrics
    on gates.run_id = metrics.run_id
    and gates.suite = metrics.suite
    and gates.judged_slice = metrics.slice_name
    and (gates.judged_value is null or gates.judged_value = metrics.slice_value)
    {%- if passk._quarantine() %}
    and metrics.slice_value <> 'in quarantine'
    {%- endif %}
    and gates.metric = metrics.metric
    and gates.k = metrics.k
  left join bounds
    on metrics.run_id = bounds.run_id
    and metrics.suite = bounds.suite
    and metrics.slice_name = bounds.slice_name
    and metrics.slice_value = bounds.slice_value
    and metrics.k = bounds.k
    and gates.metric = bounds.metric
    and bounds.other_run_id = ''
  where gates.rule_type = 'threshold' and gates.has_run
),

moved_thresholds as (
  select
    *,
    {{ passk._moves_of_limits('total_tasks', 'change_if_failed', 'change_if_passed') }}
  from thresholds
),

told_thresholds as (
  select
    *,
    case
      when estimate_lower - loss >= threshold then 'pass'
      when estimate_upper + gain < threshold then 'fail'
      else 'inconclusive'
    end as result,
    {{ metric_name }} as metric_name,
    case when estimate < threshold then estimate_upper else estimate_lower end - estimate as reach,
    threshold - estimate as distance
  from moved_thresholds
),

judged_thresholds as (
  select
    {{ carried | join(',\n    ') }},
    cast(null as {{ text }}) as baseline_run_id,
    slice_name,
    coalesce(slice_value, found_slice_value, '(unknown)') as slice_value,
    tasks,
    estimate,
    estimate_lower,
    estimate_upper,
    result,
    case
      when tasks is null then 'The run has no task in ' || slice_name || coalesce(' ' || slice_value, '') || '.'
      when estimate is null then 'There is no ' || metric_name || ': ' || null_reason || '.'
      when estimate_lower is null
        then metric_name || ' is ' || {{ passk._decimals('estimate') }}
          || case
            when scope = 'suite'
              then ', but an interval for these tasks takes ' || {{ passk._whole('2 * k') }} || ' attempts of each.'
            else ', of too few tasks for an interval.'
          end
      else metric_name || ' is ' || {{ passk._decimals('estimate') }} || {{ interval }}
        || {{ passk._over_tasks('total_tasks') }}
        || case
          when result = 'pass' then ': even the lower limit reaches ' || threshold_text || '.'
          when result = 'fail' then ': even the upper limit is below ' || threshold_text || '.'
          when estimate_lower >= threshold
            then {{ passk._not_if_excluded('pass', 'had failed') }}
          when estimate_upper < threshold
            then {{ passk._not_if_excluded('fail', 'had passed') }}
          else ', and ' || threshold_text || ' lies between these limits.'
            || {{ passk._too_few_tasks() }}
        end
    end as reason,
    case
      when result <> 'inconclusive' then null
      when tasks is null then 'A run that has such tasks, or another slice in the gate.'
      when estimate is null then 'At least ' || {{ passk._whole('k') }} || ' counted attempts of every task.'
      when estimate_lower is null and scope = 'suite'
        then 'At least ' || {{ passk._whole('2 * k') }} || ' counted attempts of every task.'
      when estimate_lower is null then {{ passk._at_least_tasks() }}
      when estimate_lower >= threshold or estimate_upper < threshold then {{ passk._excluded_again() }}
      when {{ passk._settled_without_short_tasks('total_tasks', 0, 'threshold') }}
        then 'At least ' || {{ passk._whole('k') }} || ' counted attempts of every task.'
      when units < needed_tasks and estimate >= threshold
        then {{ passk._at_least_tasks() }}
      {{ passk._more_to_measure(0.25) }}
    end as to_settle
  from told_thresholds
)
{%- endmacro %}
