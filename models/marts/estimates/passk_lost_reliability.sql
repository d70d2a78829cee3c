with sums as (
  select *
  from {{ ref('int_passk__lost_sums') }}
  where dimension <> 'all'
),

metrics as (
  select *
  from {{ ref('int_passk__suite_metrics') }}
  where slice_name = 'all'
),

joined as (
  select
    metrics.run_id,
    metrics.suite,
    metrics.agent,
    metrics.agent_version,
    metrics.model,
    sums.dimension,
    sums.slice_name,
    sums.part,
    sums.k,
    metrics.eligible_tasks,
    metrics.total_tasks,
    sums.failing_tasks,
    sums.failed_attempts,
    sums.excluded_attempts,
    metrics.pass_hat_k,
    sums.loss,
    sums.gain,
    {%- for column in ['lost_share', 'units', 'squares'] %}
    case when metrics.null_reason is null then sums.{{ column }} end as {{ column }},
    {%- endfor %}
    metrics.null_reason,
    case
      when metrics.null_reason is null and metrics.eligible_tasks < metrics.total_tasks
        then {{ passk._short_tasks_reason('metrics.eligible_tasks', 'metrics.total_tasks', k='metrics.k') }}
          || ', which are left out'
    end as caveat,
    metrics.loaded_at
  from sums
  inner join metrics
    on sums.run_id = metrics.run_id and sums.suite = metrics.suite and sums.k = metrics.k
),

{# As the limits of a mean, with two draws more: all of the loss of one is the part's, and nothing of the other's. #}
errors as (
  select
    *,
    {{ passk._padded_mean('lost_share', 'units') }} as middle,
    {{ passk.student_quantile('floor(units + 1.5e0)') }}
    * sqrt((squares + {{ passk._padded_squares('lost_share', 'units') }}) / ((units + 1) * (units + 2))) as reach
  from joined
)

select
  run_id,
  suite,
  agent,
  agent_version,
  model,
  dimension,
  slice_name,
  part,
  k,
  eligible_tasks,
  total_tasks,
  failing_tasks,
  failed_attempts,
  excluded_attempts,
  pass_hat_k,
  case when null_reason is null then loss / eligible_tasks end as lost,
  lost_share,
  {%- for side, sign in [('lower', '-'), ('upper', '+')] %}
  {#- A family is a draw itself. #}
  case when dimension <> 'family' then {{ passk._clipped('middle ' ~ sign ~ ' reach', 0, 1) }} end as lost_share_{{ side }},
  {%- endfor %}
  units as effective_draws,
  case when null_reason is null then pass_hat_k + gain / eligible_tasks end as pass_hat_k_if_passed,
  coalesce(
    null_reason, case when lost_share is null then 'nothing is lost: no counted attempt of these tasks failed' end
  ) as null_reason,
  caveat,
  loaded_at
from errors
