{#- Whether a metric is not too far below the mean of the runs before. CTEs up to `judged_rolling_drops`. -#}
{% macro _judged_rolling_drops(carried) -%}
{%- set text = dbt.type_string() %}
{%- set metric_name = passk._metric_name() %}
rolling_drops as (
  select
    gates.*,
    lines.earlier_runs,
    lines.left_out_runs,
    lines.own_tasks,
    lines.own_eligible_tasks,
    lines.is_enough_of_own,
    lines.previous_tasks,
    lines.common_tasks,
    case when lines.earlier_runs >= 3 and lines.is_enough_of_own then lines.tasks end as tasks,
    lines.is_enough,
    lines.candidate as candidate_estimate,
    lines.baseline as baseline_estimate,
    case when lines.is_enough_of_own and lines.is_enough and lines.earlier_runs >= 3 then lines.candidate - lines.baseline end as estimate,
    lines.difference_lower as estimate_lower,
    lines.difference_upper as estimate_upper,
    coalesce(bounds.excluded, 0) as excluded,
    coalesce(bounds.change_if_failed, 0) as change_if_against,
    coalesce(bounds.change_if_passed, 0) as change_if_for
  from gates
  left join {{ ref('int_passk__rolling_gates') }} as lines
    on {{ passk._same_keys(['gate', 'run_id', 'suite'], 'gates', 'lines') }}
  left join bounds
    on gates.run_id = bounds.run_id
    and bounds.other_run_id = ''
    and gates.suite = bounds.suite
    and bounds.slice_name = {{ passk._quoted(passk._judged_slice('all')) }}
    and gates.metric = bounds.metric
    and gates.k = bounds.k
  where gates.rule_type = 'rolling_drop' and gates.has_run
),

moved_rolling_drops as (
  select
    *,
    {{ passk._moves_of_limits('common_tasks', 'change_if_against', 'change_if_for') }}
  from rolling_drops
),

told_rolling_drops as (
  select
    *,
    case
      when not ({{ passk._are_nearly_all('common_tasks', 'previous_tasks') }}) then 'inconclusive'
      when estimate_lower - loss >= -threshold then 'pass'
      when estimate_upper + gain < -threshold then 'fail'
      else 'inconclusive'
    end as result,
    {{ metric_name }} as metric_name
  from moved_rolling_drops
),

judged_rolling_drops as (
  select
    {{ carried | join(',\n    ') }},
    cast(null as {{ text }}) as baseline_run_id,
    'all' as slice_name,
    'all' as slice_value,
    tasks,
    estimate,
    estimate_lower,
    estimate_upper,
    result,
    case
      when not is_enough_of_own
        then 'There is no difference of ' || metric_name || ': '
          || {{ passk._short_tasks_reason('own_eligible_tasks', 'own_tasks') }} || '.'
      {#- From three runs on their spread says how far the next one may be. #}
      when earlier_runs < 3 then 'There '
        || case earlier_runs when 0 then 'is no earlier run' when 1 then 'is 1 earlier run' else 'are 2 earlier runs' end
        || ' of the agent over these tasks; a rolling baseline takes at least 3.'
      when not ({{ passk._are_nearly_all('common_tasks', 'previous_tasks') }})
        then 'Only ' || {{ passk._whole('common_tasks') }} || ' of ' || {{ passk._whole('previous_tasks') }}
          || ' tasks of the run before are in every run, fewer than {{ passk._nearly_all_percent() }} %.'
      when not is_enough
        then 'There is no difference of ' || metric_name || ': '
          || {{ passk._short_tasks_reason('tasks', 'common_tasks', ' of every run') }} || '.'
      when estimate_lower is null then 'Too few tasks are in every run for an interval.'
      else metric_name || ' is ' || {{ passk._decimals('candidate_estimate') }} || ', in the '
        || {{ passk._whole('earlier_runs') }} || ' runs before it '
        || case
          when left_out_runs = 1 then '(1 of other tasks left out) '
          when left_out_runs > 1 then '(' || {{ passk._whole('left_out_runs') }} || ' of other tasks left out) '
          else ''
        end
        || {{ passk._decimals('baseline_estimate') }}
        || ': a difference of ' || {{ passk._decimals('estimate') }} || {{ passk._gate_interval() }}
        || {{ passk._over_tasks('common_tasks') }}
        || {{ passk._beside_drop_bar('had failed', 'had passed') }}
    end as reason,
    case
      when result <> 'inconclusive' then null
      when not is_enough_of_own then 'At least ' || {{ passk._whole('k') }} || ' counted attempts of every task.'
      when earlier_runs < 3 then 'At least 3 earlier runs of the agent over these tasks.'
      when not ({{ passk._are_nearly_all('common_tasks', 'previous_tasks') }}) then 'A run over the tasks of the run before.'
      when not is_enough then 'At least ' || {{ passk._whole('k') }} || ' counted attempts of every task in every run.'
      when estimate_lower is null then 'Runs over more tasks.'
      when estimate_lower >= -threshold or estimate_upper < -threshold then {{ passk._excluded_again() }}
      else 'More attempts of each task, more tasks, or more earlier runs.'
    end as to_settle
  from told_rolling_drops
)
{%- endmacro %}
