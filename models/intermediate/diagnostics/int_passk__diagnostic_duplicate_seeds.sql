select
  run_id,
  suite,
  'duplicate_seeds' as diagnostic,
  cast(repeated_seeds as {{ passk.type_double() }}) / nullif(seed_attempts, 0) as statistic,
  cast(null as {{ passk.type_double() }}) as deviate,
  0 as sides,
  coalesce(seed_tasks, 0) as informing_tasks,
  case
    when coalesce(seed_tasks, 0) = 0 then 'not_applicable'
    when repeated_seeds > 0 then 'warning'
    else 'ok'
  end as verdict,
  case
    when coalesce(seed_tasks, 0) = 0 then 'No task has two attempts with a seed.'
    else {{ passk._whole('repeated_seeds') }} || ' of ' || {{ passk._whole('seed_attempts') }}
      || ' attempts repeat a seed of their task, in ' || {{ passk._whole('repeated_seed_tasks') }} || ' of '
      || {{ passk._whole('seed_tasks') }} || ' tasks.'
  end || some_read as finding,
  loaded_at
from {{ ref('int_passk__diagnostic_checks') }}
