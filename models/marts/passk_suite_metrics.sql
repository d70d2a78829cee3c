{%- set metrics = ['pass_at_k', 'pass_hat_k'] %}
{%- set curve = 'run_id, suite, slice_name, slice_value' %}
{%- set z = passk.normal_quantile() %}
{#- Fewer tasks that are neither perfect nor hopeless say too little about how the tasks differ. #}
{%- set least_informative = 10 %}

with metrics as (
  select
    *,
    {{ passk._as_double('eligible_tasks') }} as tasks
  from {{ ref('int_passk__suite_metrics') }}
),

{# Slopes: how much delta_k and heterogeneity move with the mean pass@1 of a task. #}
errors as (
  select
    *,
    {{ passk.student_quantile('eligible_tasks + 1') }} as padded_quantile,
    {%- for metric in metrics %}
    {{ passk._padded_mean(metric, 'eligible_tasks') }} as padded_{{ metric }},
    {{ passk._padded_error(metric, 'var_' ~ metric, 'eligible_tasks') }} as error_{{ metric }},
    sqrt(within_{{ metric }} + {{ passk._floor_of_suite('k', 'least_n') }}) / tasks as error_{{ metric }}_suite,
    sqrt(var_sum_{{ metric }}_bayes) / tasks as error_{{ metric }}_bayes,
    {%- endfor %}
    case
      when informative_tasks >= {{ least_informative }} then {{ passk.student_quantile('eligible_tasks - 1') }}
    end as tasks_quantile,
    k * power(pass_rate, k - 1) as delta_slope,
    pass_rate - pass_hat_k + delta_k as bound
  from metrics
),

sloped as (
  select
    *,
    delta_slope + heterogeneity * (1 - delta_slope) as heterogeneity_slope
  from errors
),

{# Of pass^k of a task less the slope times its c / n; rounding may leave it below 0. At k = 1 there is no difference. #}
varied as (
  select
    *,
    case
      when k = 1 then 0 * var_pass_rate
      else var_pass_hat_k + delta_slope * (delta_slope * var_pass_rate - 2 * cov_pass_hat_k_pass_rate)
    end as delta_variance,
    var_pass_hat_k + heterogeneity_slope * (heterogeneity_slope * var_pass_rate - 2 * cov_pass_hat_k_pass_rate)
      as heterogeneity_variance
  from sloped
),

reaches as (
  select
    *,
    tasks_quantile * sqrt(case when delta_variance < 0 then 0 else delta_variance end / tasks) as delta_reach,
    tasks_quantile * sqrt(case when heterogeneity_variance < 0 then 0 else heterogeneity_variance end / tasks)
      as heterogeneity_reach
  from varied
),

limited as (
  select
    *,
    {%- for metric in metrics %}
    {%- for name, middle, reach in [
      (metric, 'padded_' ~ metric, 'padded_quantile * error_' ~ metric),
      (metric ~ '_suite', metric, z ~ ' * error_' ~ metric ~ '_suite'),
      (metric ~ '_bayes', metric ~ '_bayes', z ~ ' * error_' ~ metric ~ '_bayes'),
    ] %}
    {{ passk._with_short_tasks(passk._clipped(middle ~ ' - ' ~ reach, 0, 1), 'tasks', 'total_tasks', 0) }} as {{ name }}_lower,
    {{ passk._with_short_tasks(passk._clipped(middle ~ ' + ' ~ reach, 0, 1), 'tasks', 'total_tasks', 1) }} as {{ name }}_upper,
    {%- endfor %}
    within_{{ metric }} / tasks / nullif(var_{{ metric }}, 0) as {{ metric }}_within_share,
    {%- endfor %}
    delta_k - delta_reach as delta_k_lower,
    delta_k + delta_reach as delta_k_upper,
    heterogeneity - heterogeneity_reach / nullif(bound, 0) as heterogeneity_lower,
    heterogeneity + heterogeneity_reach / nullif(bound, 0) as heterogeneity_upper,
    case
      when pass_hat_k > 0 then power(pass_hat_k, {{ passk._as_double(1) }} / k)
      else pass_hat_k
    end as pass_hat_k_per_attempt
  from reaches
),

{# The shape is that of the whole curve: read off where k = 2, the intraclass correlation. #}
shaped as (
  select
    *,
    max(case when k = 2 then heterogeneity_lower end) over (partition by {{ curve }}) as least_shape,
    max(case when k = 2 then heterogeneity_upper end) over (partition by {{ curve }}) as most_shape
  from limited
)

select
  run_id,
  suite,
  agent,
  agent_version,
  model,
  slice_name,
  slice_value,
  k,
  eligible_tasks,
  total_tasks,
  least_n,
  informative_tasks,
  attempts,
  n,
  c,
  excluded,
  {%- for metric in metrics %}
  {{ metric }},
  {%- for name in [
    '_lower', '_upper', '_suite_lower', '_suite_upper', '_within_share', '_bayes', '_bayes_lower', '_bayes_upper'
  ] %}
  {{ metric }}{{ name }},
  {%- endfor %}
  {%- endfor %}
  pass_hat_k_per_attempt,
  pass_at_k_plugin,
  pass_hat_k_plugin,
  pass_at_k_window,
  pass_hat_k_window,
  pass_at_k_first_k,
  pass_hat_k_first_k,
  pass_at_k_pooled,
  pass_hat_k_pooled,
  delta_k,
  delta_k_lower,
  delta_k_upper,
  delta_k_plugin,
  delta_k_max,
  heterogeneity,
  heterogeneity_lower,
  heterogeneity_upper,
  case
    when least_shape is null then null
    when most_shape < 0.25e0 then 'steep'
    when least_shape > 0.6e0 then 'flat'
    when least_shape >= 0.25e0 and most_shape <= 0.6e0 then 'mixed'
    else 'undetermined'
  end as curve_shape,
  reading,
  null_reason,
  caveat,
  loaded_at
from shaped
