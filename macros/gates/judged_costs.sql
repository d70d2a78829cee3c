{#- Whether costs are low enough, with the limits that passk_costs and passk_cost_comparisons have. -#}

{#- CTEs up to `judged_costs`: an attempt on average, 95 % of attempts, a success. -#}
{% macro _judged_costs(carried) -%}
costs as (
  {%- for statistic, column in [('mean', 'mean'), ('p95', 'p95'), ('per_success', 'per_success')] %}
  select
    run_id,
    suite,
    '{{ statistic }}_' || measure as metric,
    measure,
    measured_tasks,
    families,
    effective_families,
    c,
    {{ column }} as estimate,
    {{ column }}_lower as estimate_lower,
    {{ column }}_upper as estimate_upper,
    coalesce(null_reason, case when {{ column }} is null and c > 0 then caveat end) as null_reason
  from {{ ref('passk_costs') }}
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

told_costs as (
  select
    gates.*,
    costs.measure,
    costs.measured_tasks as tasks,
    costs.c,
    costs.null_reason,
    costs.estimate,
    costs.estimate_lower,
    costs.estimate_upper,
    case when costs.families is null then costs.measured_tasks else costs.families end as units,
    case when costs.families is null then 'tasks' else 'families of tasks' end as unit_name,
    case
      when costs.estimate_upper <= gates.threshold then 'pass'
      when costs.estimate_lower > gates.threshold then 'fail'
      else 'inconclusive'
    end as result,
    costs.estimate / gates.threshold as from_bar,
    case when costs.estimate > gates.threshold then costs.estimate_lower else costs.estimate_upper end
    / nullif(costs.estimate, 0) as to_limit
  from gates
  left join costs
    on gates.run_id = costs.run_id and gates.suite = costs.suite and gates.metric = costs.metric
  where gates.rule_type = 'cost' and gates.has_run
),

judged_costs as (
  select
    {{ carried | join(',\n    ') }},
    cast(null as {{ dbt.type_string() }}) as baseline_run_id,
    'all' as slice_name,
    'all' as slice_value,
    tasks,
    estimate,
    estimate_lower,
    estimate_upper,
    result,
    case
      when tasks is null then 'No attempt of the run says it.'
      when null_reason is not null then 'There is no such figure: ' || null_reason || '.'
      when estimate is null then 'No attempt passed.'
      else {{ passk._cost_figure_said('cost', 0) }} || {{ passk._rounded('estimate', 4) }}
        || {{ passk._cost_figure_said('cost', 1) }} || ' (' || {{ passk._cost_limit_said('estimate_lower') }} || ' to '
        || {{ passk._cost_limit_said('estimate_upper') }} || ')'
        || case
          when result = 'pass' then ': even the upper limit is within ' || threshold_text || '.'
          when result = 'fail' then ': even the lower limit is above ' || threshold_text || '.'
          when estimate_lower is null and estimate_upper is null then ': too little is known to judge by ' || threshold_text || '.'
          else ', and ' || threshold_text || ' lies between these limits.'
        end
    end as reason,
    case
      when result <> 'inconclusive' then null
      when tasks is null or null_reason is not null then 'Attempts that say it.'
      when estimate is null then 'A run that passes.'
      {{ passk._more_costs_to_measure("substring(metric, 1, 3) = 'p95'") }}
    end as to_settle
  from told_costs
)
{%- endmacro %}


{#- CTEs up to `judged_cost_increases`: an attempt on average, beside that of a baseline. -#}
{% macro _judged_cost_increases(carried) -%}
told_increases as (
  select
    gates.*,
    pairs.baseline_run_id,
    comparisons.common_tasks as tasks,
    comparisons.null_reason,
    comparisons.baseline as baseline_cost,
    comparisons.candidate as candidate_cost,
    comparisons.relative_change as estimate,
    comparisons.relative_change_lower as estimate_lower,
    comparisons.relative_change_upper as estimate_upper,
    case when comparisons.families is null then comparisons.common_tasks else comparisons.families end as units,
    case when comparisons.families is null then 'tasks' else 'families of tasks' end as unit_name,
    case
      when comparisons.relative_change_upper <= gates.threshold then 'pass'
      when comparisons.relative_change_lower > gates.threshold then 'fail'
      else 'inconclusive'
    end as result,
    (1 + comparisons.relative_change) / (1 + gates.threshold) as from_bar,
    (1 + case when comparisons.relative_change > gates.threshold then comparisons.relative_change_lower else comparisons.relative_change_upper end)
    / nullif(1 + comparisons.relative_change, 0) as to_limit
  from gates
  left join {{ ref('int_passk__pairs') }} as pairs
    on gates.run_id = pairs.candidate_run_id
    and gates.suite = pairs.suite
    and pairs.slice_name = 'all'
    and {{ passk._is_pair_of_gate('pairs') }}
  left join {{ ref('passk_cost_comparisons') }} as comparisons
    on pairs.suite = comparisons.suite
    and pairs.baseline_run_id = comparisons.baseline_run_id
    and pairs.candidate_run_id = comparisons.candidate_run_id
    and gates.metric = 'mean_' || comparisons.measure
  where gates.rule_type = 'cost_increase' and gates.has_run
),

judged_cost_increases as (
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
      when tasks is null then 'Neither run says it.'
      when null_reason is not null then 'There is no change: ' || null_reason || '.'
      when estimate = -1 then 'All are 0 in the run, for which there is no interval.'
      when estimate_lower is null then 'Too few tasks are in both runs for an interval.'
      else {{ passk._cost_figure_said('cost_increase', 0) }} || {{ passk._rounded('candidate_cost', 4) }}
        || {{ passk._cost_figure_said('cost_increase', 1) }} || ', in the baseline ' || {{ passk._rounded('baseline_cost', 4) }} || ': a change of '
        || {{ passk._rounded('100 * estimate', 1) }} || ' % (' || {{ passk._rounded('100 * estimate_lower', 1) }} || ' to '
        || {{ passk._rounded('100 * estimate_upper', 1) }} || ')'
        || case
          when result = 'pass' then ': even the upper limit is within the allowed one.'
          when result = 'fail' then ': even the lower limit is above the allowed one.'
          else ', and the allowed one lies between these limits.'
        end
    end as reason,
    case
      when result <> 'inconclusive' then null
      when baseline_run_id is null then {{ passk._name_a_baseline() }}
      when tasks is null or null_reason is not null then 'Attempts of both runs that say it, over the same tasks.'
      {{ passk._more_costs_to_measure('1 = 0') }}
    end as to_settle
  from told_increases
)
{%- endmacro %}


{#- Pieces of the sentences: a figure of a metric such as `mean_cost_usd`, as what comes before the number and what comes after. -#}
{% macro _cost_figure(metric) -%}
  {%- set statistic = 'per_success' if metric.startswith('per_success_') else metric.split('_')[0] -%}
  {%- set words = passk._rule_schema().measures[metric[(statistic | length) + 1:]] -%}
  {%- if statistic == 'p95' -%}
    {{ return(['95 % of attempts ' ~ words.verbs ~ ' at most ', ' ' ~ words.unit]) }}
  {%- elif statistic == 'per_success' -%}
    {{ return(['A success ' ~ words.verb ~ ' ', ' ' ~ words.unit]) }}
  {%- endif -%}
  {{ return(['An attempt ' ~ words.verb ~ ' ', ' ' ~ words.unit ~ ' on average']) }}
{%- endmacro %}


{#- The same in SQL, for the metrics of the rules of a type. -#}
{% macro _cost_figure_said(rule_type, place) -%}
case metric
        {%- for metric in passk._gates() | selectattr('rule_type', 'equalto', rule_type) | map(attribute='metric') | unique %}
        when '{{ metric }}' then '{{ passk._cost_figure(metric)[place] }}'
        {%- endfor %}
      end
{%- endmacro %}


{#- A limit in words, which there may not be. -#}
{% macro _cost_limit_said(limit) -%}
coalesce({{ passk._rounded(limit, 4) }}, 'an unknown limit')
{%- endmacro %}


{#- The last branches of a case: how many tasks like these would move the limit to the threshold, on the scale of the logarithm, were
    the estimate to stay. From columns `estimate`, `estimate_lower`, `estimate_upper`, `units`, `unit_name`, `from_bar` (estimate
    over threshold) and `to_limit` (limit over estimate). -#}
{% macro _more_costs_to_measure(is_quantile) -%}
when {{ is_quantile }} or estimate_upper is null or to_limit is null then 'More ' || unit_name || ' like these.'
      when abs(ln(from_bar)) * 10 <= abs(ln(to_limit)) then 'Hardly anything: the estimate is too near the threshold.'
      else {{ passk._about('units * power(ln(to_limit) / ln(from_bar), 2)', 'unit_name', fails='from_bar > 1') }}
{%- endmacro %}
