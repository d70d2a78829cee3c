{%- set least = passk._least_tasks() %}

select
  run_id,
  suite,
  'serial_dependence' as diagnostic,
  z_runs as statistic,
  abs(z_runs) as deviate,
  2 as sides,
  runs_tasks as informing_tasks,
  case when not is_ordered then 'not_applicable' end as verdict,
  case
    when not is_ordered then {{ passk._no_order() }}
    when runs_tasks < {{ least }} or z_runs is null then {{ passk._too_few_inform('runs_tasks') }}
    else 'The verdict changes ' || {{ passk._whole('cast(switches as ' ~ dbt.type_bigint() ~ ')') }} || ' times within '
      || {{ passk._whole('runs_tasks') }} || ' tasks, where chance gives ' || {{ passk._rounded('switches_expected', 1) }}
      || ' (z = ' || {{ passk._rounded('z_runs', 2) }} || ').'
  end as finding,
  loaded_at
from {{ ref('int_passk__diagnostic_checks') }}
