{#- Whether a metric is not too far below a baseline's, with the limits that passk_comparisons has, from a CTE `comparisons`. CTEs up to `judged_drops`. -#}
{% macro _judged_drops(carried) -%}
{%- set metric_name = passk._metric_name() %}
{%- set interval = passk._gate_interval() %}
drops as (
  select
    gates.*,
    comparisons.baseline_run_id,
    comparisons.eligible_tasks as tasks,
    comparisons.common_tasks,
    comparisons.common_tasks + comparisons.baseline_only_tasks as baseline_tasks,
    comparisons.null_reason,
    comparisons.baseline as baseline_estimate,
    comparisons.candidate as candidate_estimate,
    comparisons.difference as estimate,
    {%- for end in ['lower', 'upper'] %}
    case
      when gates.scope = 'suite' then comparisons.difference_suite_{{ end }}
      else comparisons.difference_{{ end }}
    end as estimate_{{ end }},
    {%- endfor %}
    coalesce(candidate_bounds.excluded, 0) + coalesce(baseline_bounds.excluded, 0) as excluded,
    {{ passk._needed_tasks(passk._floor_of_difference('gates.k', 'comparisons.least_n'), 'nullif(gates.threshold, 0)') }}
      as needed_tasks,
    {{ passk._gate_units('comparisons') }},
    coalesce(candidate_bounds.change_if_failed, 0) - coalesce(baseline_bounds.change_if_passed, 0) as change_if_against,
    coalesce(candidate_bounds.change_if_passed, 0) - coalesce(baseline_bounds.change_if_failed, 0) as change_if_for
  from gates
  left join comparisons
    on gates.run_id = comparisons.candidate_run_id
    and gates.suite = comparisons.suite
    and gates.metric = comparisons.metric
    and gates.k = comparisons.k
    and {{ passk._is_pair_of_gate('comparisons') }}
  {%- for side, other in [('candidate', 'baseline'), ('baseline', 'candidate')] %}
  left join bounds as {{ side }}_bounds
    on comparisons.{{ side }}_run_id = {{ side }}_bounds.run_id
    and comparisons.{{ other }}_run_id = {{ side }}_bounds.other_run_id
    and comparisons.suite = {{ side }}_bounds.suite
    and {{ side }}_bounds.slice_name = {{ passk._quoted(passk._judged_slice('all')) }}
    and comparisons.metric = {{ side }}_bounds.metric
    and comparisons.k = {{ side }}_bounds.k
  {%- endfor %}
  where gates.rule_type = 'drop' and gates.has_run
),

moved_drops as (
  select
    *,
    {{ passk._moves_of_limits('common_tasks', 'change_if_against', 'change_if_for') }}
  from drops
),

told_drops as (
  select
    *,
    case
      when not ({{ passk._are_nearly_all('common_tasks', 'baseline_tasks') }}) then 'inconclusive'
      when estimate_lower - loss >= -threshold then 'pass'
      when estimate_upper + gain < -threshold then 'fail'
      else 'inconclusive'
    end as result,
    {{ metric_name }} as metric_name,
    case when estimate < -threshold then estimate_upper else estimate_lower end - estimate as reach,
    -threshold - estimate as distance
  from moved_drops
),

judged_drops as (
  select
    {{ carried | join(',\n    ') }},
    coalesce(baseline_run_id, baseline) as baseline_run_id,
    'all' as slice_name,
    'all' as slice_value,
    tasks,
    estimate,
    estimate_lower,
    estimate_upper,
    result,
    case
      {{ passk._why_no_baseline() }}
      when estimate is null then 'There is no difference of ' || metric_name || ': ' || null_reason || '.'
      when not ({{ passk._are_nearly_all('common_tasks', 'baseline_tasks') }})
        then 'Only ' || {{ passk._whole('common_tasks') }} || ' of ' || {{ passk._whole('baseline_tasks') }}
          || ' tasks of the baseline are in both runs, fewer than {{ passk._nearly_all_percent() }} %.'
      when estimate_lower is null then 'Too few tasks are in both runs for an interval.'
      else metric_name || ' is ' || {{ passk._decimals('candidate_estimate') }} || ', in the baseline '
        || {{ passk._decimals('baseline_estimate') }} || ': a difference of ' || {{ passk._decimals('estimate') }}
        || {{ interval }}
        || {{ passk._over_tasks('common_tasks') }}
        || {{ passk._beside_drop_bar(
          'of both runs had counted against it', 'of both runs had counted for it', passk._too_few_tasks()
        ) }}
    end as reason,
    case
      when result <> 'inconclusive' then null
      when baseline_run_id is null then {{ passk._name_a_baseline() }}
      when null_reason = 'the suite has no attempt of the baseline' then {{ passk._another_baseline() }}
      when estimate is null then 'At least ' || {{ passk._whole('k') }} || ' counted attempts of every task in both runs.'
      when not ({{ passk._are_nearly_all('common_tasks', 'baseline_tasks') }}) then {{ passk._over_baseline_tasks() }}
      when estimate_lower is null
        then coalesce({{ passk._at_least_tasks() }}, 'A run over more tasks.')
      when estimate_lower >= -threshold or estimate_upper < -threshold then {{ passk._excluded_again() }}
      when {{ passk._settled_without_short_tasks('common_tasks', -1, '-threshold') }}
        then 'At least ' || {{ passk._whole('k') }} || ' counted attempts of every task in both runs.'
      when units < needed_tasks and estimate >= -threshold
        then {{ passk._at_least_tasks() }}
      {{ passk._more_to_measure(0.5) }}
    end as to_settle
  from told_drops
)
{%- endmacro %}
