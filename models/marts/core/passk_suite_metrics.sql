{%- set estimates = ['pass_at_k', 'pass_hat_k'] %}
{%- set curve = 'run_id, suite, slice_name, slice_value' %}
{%- set z = passk.normal_quantile() %}
{#- Fewer informative tasks say too little about how the tasks differ. #}
{%- set least_informative = 10 %}

with metrics as (
  select
    *,
    {{ passk._as_double('eligible_tasks') }} as tasks
  from {{ ref('int_passk__suite_metrics') }}
),

errors as (
  select
    *,
    {{ passk._padded_columns(
      [('pass_at_k', 'pass_at_k', 'related_var_pass_at_k'), ('pass_hat_k', 'pass_hat_k', 'related_var_pass_hat_k')]
    ) }},
    {%- for metric in estimates %}
    sqrt(within_{{ metric }} + {{ passk._floor_of_suite('k', 'least_n') }}) / tasks as error_{{ metric }}_suite,
    sqrt(var_sum_{{ metric }}_bayes) / tasks as error_{{ metric }}_bayes,
    {#- Families may vary less than tasks by chance. #}
    case when related_var_{{ metric }} > var_{{ metric }} then related_var_{{ metric }} else var_{{ metric }} end
      as most_var_{{ metric }},
    {%- endfor %}
    case when informative_tasks >= {{ least_informative }} then {{ passk.student_quantile('floor(units - 0.5e0)') }} end
      as tasks_quantile,
    {{ passk._padded_mean('pass_rate', 'units') }} as padded_pass_rate,
    pass_rate - pass_hat_k + delta_k as bound
  from metrics
),

{# The same with two more tasks, one never solved and one always solved. Where all or nearly all tasks are alike, the
   others are rarely seen, and without these two the limits miss the true value in up to 99 of 100 logs. #}
padded as (
  select
    *,
    {%- for name, own, x, y in [
      ('var_pass_rate', 'related_var_pass_rate', 'pass_rate', 'pass_rate'),
      ('var_pass_hat_k', 'related_var_pass_hat_k', 'pass_hat_k', 'pass_hat_k'),
      ('cov', 'related_cov_pass_hat_k_pass_rate', 'pass_hat_k', 'pass_rate')
    ] %}
    ((units - 1) * {{ own }} * (units / tasks) + 0.5e0 + 2 * units / (units + 2) * ({{ x }} - 0.5e0) * ({{ y }} - 0.5e0))
    / (units + 1) as padded_{{ name }},
    {%- endfor %}
    units + 2 as padded_units
  from errors
),

indexed as (
  select
    *,
    case
      when k = 1 then 0 * padded_pass_rate
      else padded_pass_hat_k - {{ passk._small_power('padded_pass_rate', 'k') }}
        + k * (k - 1) / 2e0 * {{ passk._small_power('padded_pass_rate', '(k - 2)') }} * padded_var_pass_rate / padded_units
    end as padded_delta_k
  from padded
),

bounded as (
  select
    *,
    padded_pass_rate - padded_pass_hat_k + padded_delta_k as padded_bound,
    padded_delta_k / nullif(padded_pass_rate - padded_pass_hat_k + padded_delta_k, 0) as padded_heterogeneity,
    {#- The change of delta_k with the mean pass@1 of a task. #}
    k * power(pass_rate, k - 1) as delta_slope,
    k * {{ passk._small_power('padded_pass_rate', '(k - 1)') }} as padded_delta_slope
  from indexed
),

sloped as (
  select
    *,
    delta_slope + heterogeneity * (1 - delta_slope) as heterogeneity_slope,
    padded_delta_slope + padded_heterogeneity * (1 - padded_delta_slope) as padded_heterogeneity_slope
  from bounded
),

{# The variance of pass^k of a task minus the slope times its c / n, 0 at k = 1; rounding may make it negative. #}
varied as (
  select
    *,
    {%- for form, of, cov in [('', 'related_', 'related_cov_pass_hat_k_pass_rate'), ('padded_', 'padded_', 'padded_cov')] %}
    {%- for name in ['delta', 'heterogeneity'] %}
    {%- set rate, hat, slope = of ~ 'var_pass_rate', of ~ 'var_pass_hat_k', form ~ name ~ '_slope' %}
    {%- set variance = hat ~ ' + ' ~ slope ~ ' * (' ~ slope ~ ' * ' ~ rate ~ ' - 2 * ' ~ cov ~ ')' %}
    case when k = 1 or {{ variance }} < 0 then 0 * {{ rate }} else {{ variance }} end as {{ form }}{{ name }}_variance,
    {%- endfor %}
    {%- endfor %}
    nullif(padded_bound, 0) as padded_bound_or_null
  from sloped
),

reaches as (
  select
    *,
    tasks_quantile * sqrt(delta_variance / tasks) as delta_reach,
    padded_quantile * sqrt(padded_delta_variance / padded_units) as padded_delta_reach,
    tasks_quantile * sqrt(heterogeneity_variance / tasks) / nullif(bound, 0) as heterogeneity_reach,
    padded_quantile * sqrt(padded_heterogeneity_variance / padded_units) / padded_bound_or_null as padded_heterogeneity_reach
  from varied
),

limited as (
  select
    *,
    {%- for metric in estimates %}
    {%- for side, sign, extreme in [('lower', '-', 0), ('upper', '+', 1)] %}
    {%- for name, limit in [
      (metric, passk._padded_limit(metric, sign)),
      (metric ~ '_suite', passk._clipped(metric ~ ' ' ~ sign ~ ' ' ~ z ~ ' * error_' ~ metric ~ '_suite', 0, 1)),
      (metric ~ '_bayes', passk._clipped(metric ~ '_bayes ' ~ sign ~ ' ' ~ z ~ ' * error_' ~ metric ~ '_bayes', 0, 1)),
    ] %}
    {{ passk._with_short_tasks(limit, 'tasks', 'total_tasks', extreme) }}
      as {{ name }}_{{ side }},
    {%- endfor %}
    {%- endfor %}
    {#- Where tasks are alike the variance is 0, except for rounding. #}
    within_{{ metric }} / tasks
    / case when most_var_{{ metric }} > 1e-26 * power({{ metric }}, 2) then most_var_{{ metric }} end
      as {{ metric }}_within_share,
    {%- endfor %}
    {#- The more extreme of the two intervals. #}
    {%- for estimate, reach in [('delta_k', 'delta_reach'), ('heterogeneity', 'heterogeneity_reach')] %}
    {%- for side, sign, beyond in [('lower', '-', '<'), ('upper', '+', '>')] %}
    {%- set plain, padded = estimate ~ ' ' ~ sign ~ ' ' ~ reach, 'padded_' ~ estimate ~ ' ' ~ sign ~ ' padded_' ~ reach %}
    case when {{ plain }} {{ beyond }} {{ padded }} or {{ plain }} is null then {{ plain }} else {{ padded }} end
      as {{ estimate }}_{{ side }},
    {%- endfor %}
    {%- endfor %}
    case when pass_hat_k > 0 then power(pass_hat_k, {{ passk._as_double(1) }} / k) else pass_hat_k end
      as pass_hat_k_per_attempt
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
  families,
  case when families is not null then units end as effective_families,
  least_n,
  informative_tasks,
  attempts,
  n,
  c,
  excluded,
  {%- for metric in estimates %}
  {{ metric }},
  {%- for name in ['lower', 'upper', 'suite_lower', 'suite_upper', 'within_share', 'bayes', 'bayes_lower', 'bayes_upper'] %}
  {{ metric }}_{{ name }},
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
