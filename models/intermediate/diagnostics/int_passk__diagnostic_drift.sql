{%- set least = passk._least_tasks() %}
{#- A difference within rounding has no direction. #}
{%- set rounding = '1e-9' %}

select
  run_id,
  suite,
  'drift' as diagnostic,
  z_trend as statistic,
  abs(z_trend) as deviate,
  2 as sides,
  trend_tasks as informing_tasks,
  case when not is_ordered then 'not_applicable' end as verdict,
  case
    when not is_ordered then {{ passk._no_order() }}
    when trend_tasks < {{ least }} or z_trend is null then {{ passk._too_few_inform('trend_tasks') }}
    else 'Passes come ' || {{ passk._rounded('abs(rank_shift)', 2) }} || ' places '
      || case when rank_shift < -{{ rounding }} then 'earlier' else 'later' end || ' than chance puts them, over '
      || {{ passk._whole('trend_tasks') }} || ' tasks (z = ' || {{ passk._rounded('z_trend', 2) }} || ').'
  end as finding,
  loaded_at
from {{ ref('int_passk__diagnostic_checks') }}
