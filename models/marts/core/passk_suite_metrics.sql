{%- set estimates = ['pass_at_k', 'pass_hat_k'] %}
{%- set keys = ['run_id', 'suite', 'slice_name', 'slice_value', 'k'] %}
{%- set curve = 'limited.run_id, limited.suite, limited.slice_name, limited.slice_value' %}
{%- set z = passk.normal_quantile() %}

with metrics as (
  select
    *,
    {{ passk._as_double('eligible_tasks') }} as tasks
  from {{ ref('int_passk__suite_metrics') }}
),

errors as (
  select
    *,
    {%- for metric in estimates %}
    sqrt(within_{{ metric }} + {{ passk._floor_of_suite('k', 'least_n') }}) / tasks as error_{{ metric }}_suite,
    sqrt(var_sum_{{ metric }}_bayes) / tasks as error_{{ metric }}_bayes,
    {#- Families may vary less than tasks by chance. #}
    case when related_var_{{ metric }} > var_{{ metric }} then related_var_{{ metric }} else var_{{ metric }} end
      as most_var_{{ metric }},
    {%- endfor %}
    {{ passk._padded_columns(
      [('pass_at_k', 'pass_at_k', 'related_var_pass_at_k'), ('pass_hat_k', 'pass_hat_k', 'related_var_pass_hat_k')]
    ) }}
  from metrics
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
    case when pass_hat_k > 0 then power(pass_hat_k, {{ passk._as_double(1) }} / k) else pass_hat_k end
      as pass_hat_k_per_attempt
  from errors
),

{# The shape is that of the whole curve: read off where k = 2, the intraclass correlation. #}
shaped as (
  select
    limited.*,
    limits.delta_k_lower,
    limits.delta_k_upper,
    limits.heterogeneity_lower,
    limits.heterogeneity_upper,
    max(case when limited.k = 2 then limits.heterogeneity_lower end) over (partition by {{ curve }}) as least_shape,
    max(case when limited.k = 2 then limits.heterogeneity_upper end) over (partition by {{ curve }}) as most_shape
  from limited
  inner join {{ ref('int_passk__heterogeneity_limits') }} as limits
    on {{ passk._same_keys(keys, 'limited', 'limits') }}
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
