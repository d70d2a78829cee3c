{%- set least = passk._least_tasks() %}

select
  run_id,
  suite,
  'retry_until_pass' as diagnostic,
  case
    when tried_again_tasks > 0 then cast(tried_again_tasks as {{ passk.type_double() }}) / read_tasks
    when is_ordered then cast(ended_by_pass as {{ passk.type_double() }}) / nullif(ragged_tasks, 0)
  end as statistic,
  cast(null as {{ passk.type_double() }}) as deviate,
  0 as sides,
  case
    when tried_again_tasks > 0 then read_tasks
    when is_ordered then ragged_tasks
    else 0
  end as informing_tasks,
  case
    when tried_again_tasks > 0 then 'warning'
    when not is_ordered or counted_tasks = 0 then 'not_applicable'
    when ragged_tasks = 0 then 'ok'
    when ragged_tasks < {{ least }} then 'insufficient'
    {#- Tasks of two attempts that lost one to an error end in their only pass as often as they pass. #}
    when
      2 * ended_by_pass > ragged_tasks
      and ended_by_pass > ended_by_pass_expected + 3 * sqrt(ended_by_pass_variance) + 1e-9
      then 'warning'
    else 'ok'
  end as verdict,
  case
    when tried_again_tasks > 0
      then 'The log says that ' || {{ passk._whole('tried_again_tasks') }} || ' of ' || {{ passk._whole('read_tasks') }}
        || ' tasks were tried again because they failed: the tag reruns.' || some_read
    when not is_ordered then {{ passk._no_order() }}
    when counted_tasks = 0 then 'No attempt counts.'
    when ragged_tasks = 0 then 'Every task has the same number of counted attempts, ' || {{ passk._whole('max_n') }} || '.'
    else {{ passk._whole('ended_by_pass') }} || ' of ' || {{ passk._whole('ragged_tasks') }}
      || ' tasks with fewer counted attempts than others end in their only pass.'
  end as finding,
  loaded_at
from {{ ref('int_passk__diagnostic_checks') }}
