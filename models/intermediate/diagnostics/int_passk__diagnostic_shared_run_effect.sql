{%- set least = passk._least_tasks() %}

select
  run_id,
  suite,
  'shared_run_effect' as diagnostic,
  cochran_q as statistic,
  z_suite_pass as deviate,
  1 as sides,
  suite_pass_tasks as informing_tasks,
  case
    when not is_ordered or (suite_pass_tasks < {{ least }} and informative_tasks >= {{ least }}) then 'not_applicable'
  end as verdict,
  case
    when not is_ordered then {{ passk._no_order() }}
    when suite_pass_tasks < {{ least }} and informative_tasks >= {{ least }}
      then 'The counted attempts of the tasks have different numbers: the largest group of informative tasks '
        || 'that share them has ' || {{ passk._whole('suite_pass_tasks') }} || ', and {{ least }} are needed.'
    when suite_pass_tasks < {{ least }} or cochran_q is null then {{ passk._too_few_inform('suite_pass_tasks') }}
    else 'From pass to pass over the suite, ' || {{ passk._whole('suite_passes') }} || ' of them, the passes of '
      || {{ passk._whole('suite_pass_tasks') }} || ' tasks vary ' || {{ passk._rounded('phi', 2) }}
      || ' times as much as chance lets them (Q = ' || {{ passk._rounded('cochran_q', 1) }} || ').'
  end as finding,
  loaded_at
from {{ ref('int_passk__diagnostic_checks') }}
