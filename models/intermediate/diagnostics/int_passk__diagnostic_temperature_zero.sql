{%- set least = passk._least_tasks() %}

select
  run_id,
  suite,
  'temperature_zero' as diagnostic,
  case
    when output_tasks >= {{ least }} then cast(same_output_tasks as {{ passk.type_double() }}) / output_tasks
    else cast(passed_tasks + failed_tasks as {{ passk.type_double() }}) / nullif(repeated_tasks, 0)
  end as statistic,
  cast(null as {{ passk.type_double() }}) as deviate,
  0 as sides,
  case when output_tasks >= {{ least }} then output_tasks else repeated_tasks end as informing_tasks,
  case
    when output_tasks >= {{ least }} and 2 * same_output_tasks >= output_tasks then 'warning'
    when output_tasks >= {{ least }} then 'ok'
    when repeated_tasks < {{ least }} then 'insufficient'
    {#- Both verdicts occur, but hardly any task has both. #}
    when 100 * mixed_tasks <= repeated_tasks and passed_tasks > 0 and failed_tasks > 0 then 'warning'
    else 'ok'
  end as verdict,
  case
    when output_tasks >= {{ least }}
      then 'In ' || {{ passk._whole('same_output_tasks') }} || ' of ' || {{ passk._whole('output_tasks') }}
        || ' tasks every attempt has the same output.' || some_read
    when repeated_tasks < {{ least }} then {{ passk._too_few_inform('repeated_tasks') }}
    else 'In ' || {{ passk._whole('passed_tasks + failed_tasks') }} || ' of ' || {{ passk._whole('repeated_tasks') }}
      || ' tasks every attempt has the same verdict (all passed in ' || {{ passk._whole('passed_tasks') }}
      || ', all failed in ' || {{ passk._whole('failed_tasks') }} || '); what they produced is not known.'
  end as finding,
  loaded_at
from {{ ref('int_passk__diagnostic_checks') }}
