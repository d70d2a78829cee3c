{%- set keys = ['run_id', 'suite', 'metric', 'k'] %}
{%- set z = passk.normal_quantile() %}
{%- set shares = ['passes', 'failures'] %}

with graders as (
  select
    suite,
    max(null_reason) as null_reason,
    max(effective_passes) as effective_passes,
    max(effective_failures) as effective_failures,
    max(case when assumed = 'estimate' then told_apart end) as told_apart
  from {{ ref('int_passk__grader_points') }}
  group by suite
),

metrics as (
  {%- for metric in ['pass_at_k', 'pass_hat_k'] %}
  select
    metrics.run_id,
    metrics.suite,
    metrics.agent,
    metrics.agent_version,
    metrics.model,
    '{{ metric }}' as metric,
    metrics.k,
    metrics.eligible_tasks,
    metrics.total_tasks,
    metrics.{{ metric }} as raw,
    metrics.null_reason as short_reason,
    metrics.loaded_at
  from {{ ref('int_passk__suite_metrics') }} as metrics
  where metrics.slice_name = 'all'
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

joined as (
  select
    metrics.*,
    graders.effective_passes,
    graders.effective_failures,
    sums.families,
    sums.units,
    sums.unit_variance,
    sums.at_passes_lower,
    sums.at_passes_upper,
    sums.at_failures_lower,
    sums.at_failures_upper,
    case when metrics.short_reason is null and graders.told_apart > 0 then sums.corrected end as mean,
    {#- The least and the most that a task can score, in place of 0 and 1. #}
    case when metrics.metric = 'pass_hat_k' then 0e0 else 1 - sums.leverage end as least_score,
    case when metrics.metric = 'pass_hat_k' then sums.leverage else 1e0 end as most_score,
    case
      when metrics.short_reason is not null then metrics.short_reason
      when graders.null_reason is not null then graders.null_reason
      when graders.told_apart is null or graders.told_apart <= 0 then 'the grader is no better than chance'
      when sums.corrected is null then 'the grader errs too often for this k: a correction would be larger than the score'
    end as null_reason
  from metrics
  inner join graders
    on metrics.suite = graders.suite
  left join {{ ref('int_passk__corrected_sums') }} as sums
    on {{ passk._same_keys(keys, 'metrics', 'sums') }}
),

padded as (
  select
    *,
    (units * mean + least_score + most_score) / (units + 2) as middle,
    {{ passk.student_quantile('floor(units + 1.5e0)') }} as task_quantile
  from joined
),

errors as (
  select
    *,
    sqrt((
      coalesce((units - 1) * unit_variance, 0e0) + units * power(mean - middle, 2)
      + power(least_score - middle, 2) + power(most_score - middle, 2)
    ) / ((units + 1) * (units + 2))) as task_error,
    {%- for share in shares %}
    (at_{{ share }}_upper - at_{{ share }}_lower) / (2 * {{ z }}) as {{ share }}_error,
    {%- for side, of_side in [('lower', 'mean - at_' ~ share ~ '_lower'), ('upper', 'at_' ~ share ~ '_upper - mean')] %}
    case when {{ of_side }} > 0 then {{ of_side }} else 0e0 end as {{ share }}_{{ side }}_reach,
    {%- endfor %}
    {%- endfor %}
    {{ passk._clipped('mean', 0, 1) }} as corrected
  from padded
),

reaches as (
  select
    *,
    {%- for side, sign, task_side in [('lower', '-', 'mean - middle'), ('upper', '+', 'middle - mean')] %}
    case
      when at_passes_{{ side }} is not null and at_failures_{{ side }} is not null
        then sqrt(power(passes_{{ side }}_reach, 2) + power(failures_{{ side }}_reach, 2))
    end as label_{{ side }}_reach,
    {{ task_side }} + task_quantile * task_error as task_{{ side }}_reach,
    {%- endfor %}
    sqrt(
      task_error * task_error + passes_error * passes_error + failures_error * failures_error
    ) as standard_error,
    {#- The error with one label: it falls with the root of their number. #}
    {%- for share in shares %}
    abs({{ share }}_error) * sqrt(effective_{{ share }}) as {{ share }}_spread,
    {%- endfor %}
    {{ passk._as_double(passk._setting('passk_plan_width')) }} / (2 * {{ z }}) as wanted_error
  from errors
),

limited as (
  select
    *,
    {%- for side, sign, extreme in [('lower', '-', 0), ('upper', '+', 1)] %}
    {%- set reach = 'sqrt(power(label_' ~ side ~ '_reach, 2) + power(task_' ~ side ~ '_reach, 2))' %}
    {#- A limit that the labels leave open is that of all scores. A mean beyond 0 or 1 proves no more than 0 or 1 does. #}
    case
      when mean is null then null
      when label_{{ side }}_reach is null then {{ extreme }}e0
      else {{ passk._with_short_tasks(
        passk._clipped('corrected ' ~ sign ~ ' ' ~ reach, 0, 1), passk._as_double('eligible_tasks'), 'total_tasks', extreme
      ) }}
    end as corrected_{{ side }},
    case
      when mean is null then null
      when label_{{ side }}_reach is null then {{ extreme }}e0
      else {{ passk._clipped('corrected ' ~ sign ~ ' label_' ~ side ~ '_reach', 0, 1) }}
    end as labels_{{ side }},
    {%- endfor %}
    {#- Each kind of label by what it adds to the error (Neyman). #}
    passes_spread * (passes_spread + failures_spread) / power(wanted_error, 2) - effective_passes as passes_missing,
    failures_spread * (passes_spread + failures_spread) / power(wanted_error, 2) - effective_failures as failures_missing
  from reaches
)

select
  run_id,
  suite,
  agent,
  agent_version,
  model,
  metric,
  k,
  eligible_tasks,
  total_tasks,
  case when mean is not null then families end as families,
  raw,
  corrected,
  case when mean is not null then standard_error end as standard_error,
  corrected_lower,
  corrected_upper,
  {%- for name, value in [('', 'corrected'), ('_lower', 'labels_lower'), ('_upper', 'labels_upper')] %}
  case when raw < 1 then ({{ value }} - raw) / (1 - raw) end as share_lost_to_grader{{ name }},
  {%- endfor %}
  {%- for share in shares %}
  case
    when mean is null or {{ share }}_missing is null then null
    else cast(case when {{ share }}_missing > 0 then ceil({{ share }}_missing - 1e-6) else 0 end as {{ dbt.type_bigint() }})
  end as {{ share }}_to_label,
  {%- endfor %}
  null_reason,
  loaded_at
from limited
