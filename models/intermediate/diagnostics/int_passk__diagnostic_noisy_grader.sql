select
  run_id,
  suite,
  'noisy_grader' as diagnostic,
  flip_rate as statistic,
  cast(null as {{ passk.type_double() }}) as deviate,
  0 as sides,
  coalesce(graded_twice_tasks, 0) as informing_tasks,
  case
    when coalesce(pairs, 0) = 0 then 'not_applicable'
    when disagreements > 0 then 'warning'
    else 'ok'
  end as verdict,
  case
    when output_tasks = 0 then 'No task has two attempts with a digest of their output.'
    when pairs = 0 then 'No output came twice within a task, so that no two verdicts can be compared.'
    when disagreements = 0
      then 'None of ' || {{ passk._whole('pairs') }} || ' pairs of equal outputs has two verdicts.'
    else {{ passk._whole('disagreements') }} || ' of ' || {{ passk._whole('pairs') }}
      || ' pairs of equal outputs have two verdicts. If the grader errs at random, a verdict is wrong with a chance of'
      || ' about '
      || {{ passk._rounded('flip_rate') }} || '. At k = ' || {{ passk._whole('k') }} || ' pass^k is then at most '
      || {{ passk._rounded('power(1 - flip_rate, k)') }} || ', and pass@k of an impossible task '
      || {{ passk._rounded('1 - power(1 - flip_rate, k)') }} || '.'
  end || some_read as finding,
  loaded_at
from {{ ref('int_passk__diagnostic_checks') }}
