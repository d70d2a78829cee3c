{%- set metrics = ['pass_at_k', 'pass_hat_k'] %}

with runs as (
  select * from {{ ref('int_passk__ranked_runs') }}
),

errors as (
  select
    *,
    {{ passk._padded_columns(
      [('pass_at_k', 'pass_at_k', 'related_var_pass_at_k'), ('pass_hat_k', 'pass_hat_k', 'related_var_pass_hat_k')]
    ) }}
  from {{ ref('int_passk__suite_metrics') }}
  where slice_name = 'all'
),

{# The value and the limits of passk_suite_metrics, a row for each metric. #}
limited as (
  {%- for metric in metrics %}
  select
    run_id,
    suite,
    '{{ metric }}' as metric,
    k,
    {{ metric }} as estimate,
    {%- for side, sign, extreme in [('lower', '-', 0), ('upper', '+', 1)] %}
    {{ passk._with_short_tasks(passk._padded_limit(metric, sign), 'eligible_tasks', 'total_tasks', extreme) }} as {{ side }},
    {%- endfor %}
    null_reason
  from errors
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
)

select
  runs.suite,
  runs.run_id,
  runs.agent,
  runs.agent_version,
  runs.model,
  runs.age,
  limited.metric,
  limited.k,
  limited.estimate,
  limited.lower,
  limited.upper,
  {#- Sums of the same values in another order differ in their last digits. #}
  floor(limited.estimate * 1e12 + 0.5e0) as to_rank_by,
  limited.null_reason,
  runs.loaded_at
from runs
inner join limited
  on runs.run_id = limited.run_id and runs.suite = limited.suite
