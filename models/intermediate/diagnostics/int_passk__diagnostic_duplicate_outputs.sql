select
  run_id,
  suite,
  'duplicate_outputs' as diagnostic,
  cast(copied_tasks as {{ passk.type_double() }}) / nullif(output_tasks, 0) as statistic,
  cast(null as {{ passk.type_double() }}) as deviate,
  0 as sides,
  output_tasks as informing_tasks,
  case
    when output_tasks = 0 then 'not_applicable'
    {#- One or two tasks with a short answer are not a fault of the log. #}
    when 10 * copied_tasks >= output_tasks then 'warning'
    else 'ok'
  end as verdict,
  case
    when output_tasks = 0 then 'No task has two attempts with a digest of their output.'
    else {{ passk._whole('output_attempts') }} || ' attempts have ' || {{ passk._whole('distinct_outputs') }}
      || ' different outputs within their tasks; in ' || {{ passk._whole('copied_tasks') }} || ' of '
      || {{ passk._whole('output_tasks') }} || ' tasks at most half of them differ.'
  end || some_read as finding,
  loaded_at
from {{ ref('int_passk__diagnostic_checks') }}
