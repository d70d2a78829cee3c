{%- set axis = passk._difficulty() %}
{%- set log = ref('int_passk__attempts') %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__runs'), 'upstream.task_rows > 0', is_wanted=axis is not none) }}
),

told as (
  select
    run_id,
    suite,
    task_id,
    {% if axis -%}
    {{ passk._try_cast('cast(' ~ axis.expression ~ ' as ' ~ dbt.type_string() ~ ')', passk.type_double()) }}
    {%- else -%}
    cast(null as {{ passk.type_double() }})
    {%- endif %} as length
  from {{ log }}
  where {{ passk._is_of_changed_runs(log) if axis else '1 = 0' }}
),

{# The attempts of a task mostly agree. Only what is above 0 has a logarithm. #}
averaged as (
  select
    run_id,
    suite,
    task_id,
    {#- The mean of equal numbers may be off by rounding. #}
    case when min(length) = max(length) then min(length) else avg(length) end as length
  from (
    select
      run_id,
      suite,
      task_id,
      case when length > 0 and {{ passk._is_finite('length') }} then length end as length
    from told
  ) as known
  group by run_id, suite, task_id
)

select
  averaged.run_id,
  averaged.suite,
  averaged.task_id,
  averaged.length,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from averaged
inner join changed_runs
  on averaged.run_id = changed_runs.run_id and averaged.suite = changed_runs.suite
