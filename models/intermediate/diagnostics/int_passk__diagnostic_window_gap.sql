{%- set least = passk._least_tasks() %}
{#- A difference within rounding has no direction. #}
{%- set rounding = '1e-9' %}

select
  run_id,
  suite,
  'window_gap' as diagnostic,
  window_gap as statistic,
  abs(z_window) as deviate,
  2 as sides,
  window_tasks as informing_tasks,
  case
    when not is_ordered or k = 1 then 'not_applicable'
  end as verdict,
  case
    when not is_ordered then {{ passk._no_order() }}
    when k = 1 then 'At k = 1 no attempts stand in a row.'
    when window_tasks < {{ least }} or z_window is null then {{ passk._too_few_inform('window_tasks') }}
    else 'Sliding windows of k attempts all pass ' || {{ passk._rounded('abs(window_gap)') }} || ' '
      || case when window_gap < -{{ rounding }} then 'less' else 'more' end || ' often than pass^k has it, at k = '
      || {{ passk._whole('k') }} || ' over ' || {{ passk._whole('window_tasks') }} || ' tasks (z = '
      || {{ passk._rounded('z_window', 2) }} || ').'
  end as finding,
  loaded_at
from {{ ref('int_passk__diagnostic_checks') }}
