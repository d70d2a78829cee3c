{%- set bigint = dbt.type_bigint() %}
{%- set line = ['suite', 'last_run_id', 'metric', 'k'] %}
{%- set z = passk.normal_quantile() %}

{#- Places are 1 to R, so their mean is (R + 1) / 2 and their sum of squares R (R^2 - 1) / 12; one run has no line. -#}
with run_values as (
  {%- for metric in ['pass_at_k', 'pass_hat_k'] %}
  select
    suite,
    last_run_id,
    '{{ metric }}' as metric,
    k,
    first_run_id,
    {{ passk._as_double('runs') }} as runs,
    left_out_runs,
    last_tasks,
    last_eligible_tasks,
    common_tasks,
    tasks,
    least_n,
    {{ metric }} as run_value,
    place - ({{ passk._as_double('runs') }} + 1) / 2 as from_middle,
    nullif({{ passk._as_double('runs') }} * (runs * runs - 1) / 12, 0) as squares
  from {{ ref('int_passk__trend_values') }}
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

fitted as (
  select
    *,
    avg(run_value) over (partition by {{ line | join(', ') }}) as mean_value,
    sum(from_middle * run_value) over (partition by {{ line | join(', ') }}) / squares as slope
  from run_values
),

lines as (
  select
    {{ line | join(', ') }},
    max(first_run_id) as first_run_id,
    cast(max(runs) as {{ bigint }}) as runs,
    max(squares) as squares,
    cast(max(left_out_runs) as {{ bigint }}) as left_out_runs,
    max(last_tasks) as last_tasks,
    max(last_eligible_tasks) as last_eligible_tasks,
    max(common_tasks) as common_tasks,
    max(tasks) as tasks,
    max(least_n) as least_n,
    max(mean_value) as mean_value,
    max(slope) as slope,
    sum(power(run_value - mean_value - slope * from_middle, 2)) as residuals
  from fitted
  group by {{ line | join(', ') }}
),

answered as (
  select
    *,
    case
      when not {{ passk._has_enough_tasks('last_eligible_tasks', 'last_tasks') }}
        then {{ passk._short_tasks_reason('last_eligible_tasks', 'last_tasks', ' of the last run') }}
      when runs < 5
        then 'a trend takes at least 5 runs with n >= ' || {{ passk._whole('k') }} || ' in the same tasks, and there '
          || case when runs = 1 then 'is ' else 'are ' end || {{ passk._whole('runs') }}
      when not ({{ passk._are_nearly_all('common_tasks', 'last_tasks') }})
        then 'only ' || {{ passk._whole('common_tasks') }} || ' of ' || {{ passk._whole('last_tasks') }}
          || ' tasks of the last run are in every run'
      when not {{ passk._has_enough_tasks('tasks', 'common_tasks') }}
        then {{ passk._short_tasks_reason('tasks', 'common_tasks', ' of every run') }}
    end as null_reason
  from lines
),

{# A task with n < k may have risen or fallen by 1 in the middle: by (R^2 - R mod 2) / 8 / squares a run. #}
limited as (
  select
    *,
    case
      when null_reason is null
        then sqrt(
            power({{ passk.student_quantile('runs - 2') }}, 2) * residuals / (runs - 2) / squares
            + {{ z }} * {{ z }} * {{ passk._floor_of_suite('k', 'least_n') }} / tasks / tasks / squares
          )
    end as reach,
    floor({{ passk._as_double('runs * runs') }} / 4) / 2 / squares as most_of_a_task
  from answered
),

trends as (
  select
    *,
    case when null_reason is null then slope end as known_slope,
    {{ passk._with_short_tasks('slope - reach', 'tasks', 'common_tasks', '0 - most_of_a_task') }} as slope_lower,
    {{ passk._with_short_tasks('slope + reach', 'tasks', 'common_tasks', 'most_of_a_task') }} as slope_upper
  from limited
),

judged as (
  select
    *,
    {{ passk._metric_name() }} as metric_name,
    case
      when slope_lower > 0 then 'rising'
      when slope_upper < 0 then 'falling'
      when slope_lower is not null then 'no_trend'
    end as verdict
  from trends
)

select
  judged.suite,
  runs.agent,
  judged.metric,
  judged.k,
  judged.first_run_id,
  judged.last_run_id,
  judged.runs,
  judged.left_out_runs,
  judged.common_tasks,
  judged.tasks,
  case when judged.null_reason is null then judged.mean_value end as mean_value,
  judged.known_slope as slope,
  judged.slope_lower,
  judged.slope_upper,
  judged.verdict,
  judged.null_reason,
  case
    when judged.null_reason is not null then 'Not known: ' || judged.null_reason || '.'
    else
      case judged.verdict
        when 'rising' then judged.metric_name || ' rises'
        when 'falling' then judged.metric_name || ' falls'
        else judged.metric_name || ' shows no trend'
      end
      || ' over ' || {{ passk._whole('judged.runs') }} || ' runs'
      || case
        when judged.left_out_runs > 0 then ' (' || {{ passk._whole('judged.left_out_runs') }} || ' left out)'
        else ''
      end
      || ': ' || {{ passk._decimals('judged.known_slope') }} || ' a run ('
      || {{ passk._decimals('judged.slope_lower') }} || ' to ' || {{ passk._decimals('judged.slope_upper') }} || ').'
  end as meaning,
  runs.loaded_at
from judged
inner join {{ ref('int_passk__run_order') }} as runs
  on judged.suite = runs.suite and judged.last_run_id = runs.run_id
