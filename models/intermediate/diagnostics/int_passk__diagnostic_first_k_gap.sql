{%- set least = passk._least_tasks() %}
{#- A difference within rounding has no direction. #}
{%- set rounding = '1e-9' %}

select
  run_id,
  suite,
  'first_k_gap' as diagnostic,
  first_k_gap as statistic,
  abs(z_first_k) as deviate,
  2 as sides,
  first_k_tasks as informing_tasks,
  case
    when not is_ordered then 'not_applicable'
  end as verdict,
  case
    when not is_ordered then {{ passk._no_order() }}
    when first_k_tasks < {{ least }} or z_first_k is null then {{ passk._too_few_inform('first_k_tasks') }}
    else 'The first k attempts all pass ' || {{ passk._rounded('abs(first_k_gap)') }} || ' '
      || case when first_k_gap < -{{ rounding }} then 'less' else 'more' end || ' often than pass^k has it, at k = '
      || {{ passk._whole('k') }} || ' over ' || {{ passk._whole('first_k_tasks') }} || ' tasks (z = '
      || {{ passk._rounded('z_first_k', 2) }} || ').'
  end as finding,
  loaded_at
from {{ ref('int_passk__diagnostic_checks') }}
