{{ config(materialized='ephemeral') }}
{#- Fewer informative tasks say too little about how the tasks differ. #}
{%- set least_informative = 10 %}

with metrics as (
  select
    *,
    {{ passk._as_double('eligible_tasks') }} as tasks
  from {{ ref('int_passk__suite_metrics') }}
),

means as (
  select
    *,
    {{ passk._padded_columns([('pass_hat_k', 'pass_hat_k', 'related_var_pass_hat_k')]) }},
    {{ passk._padded_mean('pass_rate', 'units') }} as padded_pass_rate,
    case when informative_tasks >= {{ least_informative }} then {{ passk.student_quantile('floor(units - 0.5e0)') }} end
      as tasks_quantile,
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
  from means
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
)

{# The more extreme of the two intervals. #}
select
  {%- for name, plain, padded, beyond in [
    ('delta_k_lower', 'delta_k - delta_reach', 'padded_delta_k - padded_delta_reach', '<'),
    ('delta_k_upper', 'delta_k + delta_reach', 'padded_delta_k + padded_delta_reach', '>'),
    ('heterogeneity_lower', 'heterogeneity - heterogeneity_reach', 'padded_heterogeneity - padded_heterogeneity_reach', '<'),
    ('heterogeneity_upper', 'heterogeneity + heterogeneity_reach', 'padded_heterogeneity + padded_heterogeneity_reach', '>')
  ] %}
  case when {{ plain }} {{ beyond }} {{ padded }} or {{ plain }} is null then {{ plain }} else {{ padded }} end
    as {{ name }},
  {%- endfor %}
  run_id,
  suite,
  slice_name,
  slice_value,
  k
from reaches
