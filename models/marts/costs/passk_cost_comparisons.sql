{%- set keys = ['suite', 'baseline_run_id', 'candidate_run_id', 'pair_source', 'measure'] %}
{%- set bigint = dbt.type_bigint() %}

{# A pair that is only ranked is compared nowhere else either. -#}
with pairs as (
  select *
  from {{ ref('int_passk__pairs') }}
  where pair_source <> 'ranking' and slice_name = 'all'
),

spending as {{ passk._made_once() }}(
  select * from {{ ref('int_passk__task_spending') }}
),

run_costs as (
  select
    run_id,
    suite,
    measure,
    null_reason,
    measured_tasks
  from {{ ref('int_passk__run_costs') }}
),

{# A measure that either run has. #}
measured as (
  select distinct
    pairs.suite,
    pairs.baseline_run_id,
    pairs.candidate_run_id,
    pairs.pair_source,
    run_costs.measure
  from pairs
  inner join run_costs
    on pairs.suite = run_costs.suite
    and (pairs.baseline_run_id = run_costs.run_id or pairs.candidate_run_id = run_costs.run_id)
),

terms as {{ passk._made_once() }}(
  select
    {%- for key in keys %}
    measured.{{ key }},
    {%- endfor %}
    coalesce(baselines.family, candidates.family) as family,
    case when coalesce(baselines.family, candidates.family) is null then baselines.task_id end as lone_task,
    candidates.cost_of_attempt as x,
    baselines.cost_of_attempt as y,
    0 as reach
  from measured
  inner join spending as baselines
    on measured.baseline_run_id = baselines.run_id
    and measured.suite = baselines.suite
    and measured.measure = baselines.measure
  inner join spending as candidates
    on measured.candidate_run_id = candidates.run_id
    and measured.suite = candidates.suite
    and measured.measure = candidates.measure
    and baselines.task_id = candidates.task_id
  where baselines.is_measured and candidates.is_measured
),

{{ passk._ratio_steps(keys) }},

joined as (
  select
    {%- for key in keys %}
    measured.{{ key }},
    {%- endfor %}
    coalesce(baseline_costs.measured_tasks, 0) as baseline_tasks,
    coalesce(ratios.tasks, 0) as common_tasks,
    ratios.families,
    ratios.mean_y as baseline,
    ratios.mean_x as candidate,
    ratios.estimate - 1 as relative_change,
    ratios.lower - 1 as relative_change_lower,
    ratios.upper - 1 as relative_change_upper,
    case
      when baseline_costs.measure is null then 'no attempt of the baseline has ' || measured.measure
      when candidate_costs.measure is null then 'no attempt of the candidate has ' || measured.measure
      when baseline_costs.null_reason is not null then 'in the baseline ' || baseline_costs.null_reason
      when candidate_costs.null_reason is not null then 'in the candidate ' || candidate_costs.null_reason
      when not ({{ passk._are_nearly_all('coalesce(ratios.tasks, 0)', 'baseline_costs.measured_tasks') }})
        then 'only ' || {{ passk._whole('coalesce(ratios.tasks, 0)') }}
          || ' of ' || {{ passk._whole('baseline_costs.measured_tasks') }} || ' tasks of the baseline are in both runs, '
          || 'fewer than {{ passk._nearly_all_percent() }} %'
      when ratios.estimate is null then 'the baseline cost nothing'
    end as null_reason
  from measured
  left join run_costs as baseline_costs
    on measured.baseline_run_id = baseline_costs.run_id
    and measured.suite = baseline_costs.suite
    and measured.measure = baseline_costs.measure
  left join run_costs as candidate_costs
    on measured.candidate_run_id = candidate_costs.run_id
    and measured.suite = candidate_costs.suite
    and measured.measure = candidate_costs.measure
  left join ratios
    on {{ passk._same_keys(keys, 'measured', 'ratios') }}
),

judged as (
  select
    *,
    case
      when null_reason is not null then 'insufficient'
      {#- Equal costs must not differ by rounding. #}
      when relative_change_upper < -1e-9 then 'less'
      when relative_change_lower > 1e-9 then 'more'
      else 'inconclusive'
    end as verdict
  from joined
),

{# In whole percent, and with its direction, such as `84 % cheaper`. #}
in_percent as (
  select
    {%- for change in ['relative_change', 'relative_change_lower', 'relative_change_upper'] %}
    {{ passk._percent(change) }} as {{ change }}_percent,
    {{ passk._direction_said(change) }} as {{ change }}_direction,
    {%- endfor %}
    *
  from judged
),

said as (
  select
    *,
    case
      when null_reason is not null then 'No comparison of ' || measure || ': ' || null_reason || '.'
      when relative_change_lower > -0.005e0 and relative_change_upper < 0.005e0
        then 'The same ' || measure || ' to the percent.'
      when relative_change = -1
        then '100 % ' || relative_change_direction || ': in the candidate all are 0, so that there are no limits.'
      when relative_change_lower is null
        then relative_change_percent || ' % ' || relative_change_direction || ', of too few tasks for limits.'
      when verdict = 'inconclusive'
        then relative_change_percent || ' % ' || relative_change_direction || ', which chance alone can explain: from '
          || relative_change_lower_percent || ' % ' || relative_change_lower_direction || ' to '
          || relative_change_upper_percent || ' % ' || relative_change_upper_direction || '.'
      else relative_change_percent || ' % ' || relative_change_direction || ' ('
        || case when verdict = 'less' then relative_change_upper_percent else relative_change_lower_percent end || ' to '
        || case when verdict = 'less' then relative_change_lower_percent else relative_change_upper_percent end || ').'
    end as meaning
  from in_percent
)

select
  {% for key in keys %}said.{{ key }}, {% endfor %}
  baselines.agent as baseline_agent,
  baselines.agent_version as baseline_agent_version,
  candidates.agent as candidate_agent,
  candidates.agent_version as candidate_agent_version,
  said.baseline_tasks,
  said.common_tasks,
  said.families,
  {%- for column in ['baseline', 'candidate', 'relative_change', 'relative_change_lower', 'relative_change_upper'] %}
  case when said.null_reason is null then said.{{ column }} end as {{ column }},
  {%- endfor %}
  said.verdict,
  said.null_reason,
  said.meaning,
  {{ passk._latest_of_pair() }} as loaded_at
from said
{{ passk._join_runs_of('said') }}
