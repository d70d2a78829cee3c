{%- set least = passk._least_tasks() %}

select
  run_id,
  suite,
  'batch_effect' as diagnostic,
  z_batch as statistic,
  abs(z_batch) as deviate,
  2 as sides,
  coalesce(session_tasks, 0) as informing_tasks,
  case
    when coalesce(session_tasks, 0) = 0 then 'not_applicable'
  end as verdict,
  case
    when clock_s is null then 'The log does not say when attempts started.'
    when pause_s is null then 'The run was made in one go: no pause is as long as a hundredth of its time.'
    when coalesce(session_tasks, 0) = 0
      then 'The longest pause, of ' || {{ passk._rounded('pause_s / 3600') }}
        || ' hours, splits no task that both passes and fails.'
    when session_tasks < {{ least }} or z_batch is null then {{ passk._too_few_inform('session_tasks') }}
    else 'The longest pause, ' || {{ passk._rounded('pause_s / 3600') }} || ' of '
      || {{ passk._rounded('clock_s / 3600') }} || ' hours, splits ' || {{ passk._whole('session_tasks') }}
      || ' tasks, whose two sessions differ ' || {{ passk._rounded('overdispersion', 2) }}
      || ' times as much as chance lets them (z = ' || {{ passk._rounded('z_batch', 2) }} || ').'
  end || some_read as finding,
  loaded_at
from {{ ref('int_passk__diagnostic_checks') }}
