{%- set least = passk._least_tasks() %}

select
  run_id,
  suite,
  'dominant_tasks' as diagnostic,
  cast(dominant_tasks as {{ passk.type_double() }}) / nullif(eligible_tasks, 0) as statistic,
  cast(null as {{ passk.type_double() }}) as deviate,
  0 as sides,
  eligible_tasks as informing_tasks,
  case
    when eligible_tasks < {{ least }} then 'insufficient'
    {#- This is not a test: a suite may have few tasks that fail although nothing is wrong with the log. #}
    else 'ok'
  end as verdict,
  case
    when eligible_tasks < {{ least }} then {{ passk._too_few_inform('eligible_tasks') }}
    when dominant_tasks is null
      then 'Nothing is lost at k = ' || {{ passk._whole('k') }} || ': every attempt that counts passed.'
    else {{ passk._whole('dominant_tasks') }} || ' of ' || {{ passk._whole('eligible_tasks') }}
      || ' tasks make more than half of the lost reliability at k = ' || {{ passk._whole('k') }}
      || '; none loses more than ' || worst_task_id || ', '
      || case when worst_share < 9.5e-4 then 'less than 0.001' else {{ passk._rounded('worst_share') }} end || ' of it'
      || case
        when worst_tasks > 1 then ', and ' || {{ passk._whole('worst_tasks - 1') }} || ' more lose as much.'
        else '.'
      end
  end as finding,
  loaded_at
from {{ ref('int_passk__diagnostic_checks') }}
