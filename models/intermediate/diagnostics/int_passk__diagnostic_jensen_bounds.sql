{%- set least = passk._least_tasks() %}

select
  run_id,
  suite,
  'jensen_bounds' as diagnostic,
  z_alike as statistic,
  0 - z_alike as deviate,
  1 as sides,
  eligible_informative_tasks as informing_tasks,
  case when k = 1 then 'not_applicable' end as verdict,
  case
    when k = 1 then 'At k = 1 both bounds are the estimate.'
    when eligible_informative_tasks < {{ least }} then {{ passk._too_few_inform('eligible_informative_tasks') }}
    when z_alike is null
      then 'The mean pass rate allows hardly any pass^k at k = ' || {{ passk._whole('k') }}
        || ', so that it can not be too low.'
    else 'pass^k at k = ' || {{ passk._whole('k') }} || ' is ' || {{ passk._rounded('abs(delta_k)') }}
      || case when delta_k < 0 then ' below' else ' above' end || ' the least that the mean pass rate allows (z = '
      || {{ passk._rounded('z_alike', 2) }} || ').'
  end as finding,
  loaded_at
from {{ ref('int_passk__diagnostic_checks') }}
