{%- set ks = passk._setting('passk_extrapolated_ks') or [] %}

{#- Where no k is asked for, the columns come from the table without limits, because the one with limits may be switched
    off. #}
with metrics as (
  select
    run_id,
    suite,
    agent,
    agent_version,
    model,
    k,
    pass_hat_k,
    heterogeneity,
    loaded_at,
    {{ 'pass_at_k_lower' if ks else 'pass_at_k as pass_at_k_lower' }},
    {{ 'pass_hat_k_upper' if ks else 'pass_hat_k as pass_hat_k_upper' }}
  from {{ ref('passk_suite_metrics' if ks else 'int_passk__suite_metrics') }}
  where slice_name = 'all'
),

asked as (
  {%- if ks %}
  {{ passk._ks_rows(ks) }}
  {%- else %}
  {#- Only the requested k are extrapolated. #}
  select k
  from metrics
  where k < 0
  {%- endif %}
),

{# The mean of a single attempt and the intraclass correlation, both without bias. #}
moments as (
  select
    run_id,
    suite,
    max(case when k = 1 then pass_hat_k end) as pass_rate,
    max(case when k = 2 then heterogeneity end) as heterogeneity,
    max(case when pass_hat_k is not null then k end) as measured_k
  from metrics
  group by run_id, suite
),

runs as (
  select
    moments.*,
    metrics.agent,
    metrics.agent_version,
    metrics.model,
    metrics.pass_at_k_lower,
    metrics.pass_hat_k_upper,
    metrics.loaded_at,
    1 - moments.heterogeneity as apart,
    {#- Whether a Beta distribution with both parameters positive has these moments. #}
    coalesce(
      moments.pass_rate > 0 and moments.pass_rate < 1 and moments.heterogeneity > 0 and moments.heterogeneity < 1,
      false
    ) as is_fitted
  from moments
  inner join metrics
    on moments.run_id = metrics.run_id and moments.suite = metrics.suite and moments.measured_k = metrics.k
),

most_attempts as (
  select max(k) - 1 as most
  from asked
),

{{ passk._numbers_up_to('most_attempts') }},

{# E[p^k] of that Beta distribution is a product over the attempts, and with failures E[(1 - p)^k]. #}
factors as (
  select
    runs.run_id,
    runs.suite,
    asked.k,
    runs.pass_rate * runs.apart + numbers.number * runs.heterogeneity as passes,
    (1 - runs.pass_rate) * runs.apart + numbers.number * runs.heterogeneity as failures,
    runs.apart + numbers.number * runs.heterogeneity as whole
  from runs
  cross join asked
  inner join numbers
    on asked.k > numbers.number
  where runs.is_fitted
),

products as (
  select
    run_id,
    suite,
    k,
    sum(ln(passes / whole)) as log_all_pass,
    sum(ln(failures / whole)) as log_all_fail
  from factors
  group by run_id, suite, k
)

select
  runs.run_id,
  runs.suite,
  runs.agent,
  runs.agent_version,
  runs.model,
  asked.k,
  runs.measured_k,
  'beta_binomial' as basis,
  {#- greatest and least ignore nulls. #}
  case
    when asked.k > runs.measured_k and products.log_all_fail is not null
      then {{ passk._one_minus_exp('products.log_all_fail') }}
  end as pass_at_k,
  case when asked.k > runs.measured_k then {{ passk._exp('products.log_all_pass') }} end as pass_hat_k,
  case when asked.k > runs.measured_k then runs.pass_at_k_lower end as pass_at_k_at_least,
  case when asked.k > runs.measured_k then runs.pass_hat_k_upper end as pass_hat_k_at_most,
  case
    when asked.k <= runs.measured_k then 'it was measured: see passk_suite_metrics'
    when runs.is_fitted then null
    when runs.pass_rate is null or (runs.heterogeneity is null and runs.pass_rate > 0 and runs.pass_rate < 1)
      then 'k = 1 and k = 2 are not both measured'
    when runs.pass_rate <= 0 then 'no attempt passed'
    when runs.pass_rate >= 1 then 'every attempt passed'
    when runs.heterogeneity >= 1 then 'every task passed always or never'
    else 'tasks differ less than chance makes them'
  end as null_reason,
  runs.loaded_at
from runs
cross join asked
left join products
  on runs.run_id = products.run_id and runs.suite = products.suite and asked.k = products.k
