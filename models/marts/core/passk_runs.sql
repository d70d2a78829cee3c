with counts as (
  select *
  from {{ ref('int_passk__task_counts') }}
  where slice_name = 'all'
),

{# Expected attempts; a task may have none of them. #}
expectations as (
  select
    expected.run_id,
    expected.suite,
    cast(sum(expected.expected_attempts) as {{ dbt.type_bigint() }}) as expected_attempts
  from {{ ref('int_passk__expected_attempts') }} as expected
  group by expected.run_id, expected.suite
),

missing as (
  select
    run_id,
    suite,
    cast(sum(missing_attempts) as {{ dbt.type_bigint() }}) as missing_attempts,
    cast(sum(case when attempts = 0 then 1 else 0 end) as {{ dbt.type_bigint() }}) as untried_tasks
  from {{ ref('int_passk__missing_attempts') }}
  group by run_id, suite
),

totals as (
  select
    run_id,
    suite,
    cast(sum(case when attempts > 0 then 1 else 0 end) as {{ dbt.type_bigint() }}) as tasks,
    cast(sum(case when attempts > 0 and n = 0 then 1 else 0 end) as {{ dbt.type_bigint() }}) as uncounted_tasks,
    cast(sum(case when attempts = 0 then 1 else 0 end) as {{ dbt.type_bigint() }}) as refused_tasks,
    cast(sum(attempts) as {{ dbt.type_bigint() }}) as attempts,
    cast(sum(n) as {{ dbt.type_bigint() }}) as n,
    cast(sum(c) as {{ dbt.type_bigint() }}) as c,
    cast(sum(excluded) as {{ dbt.type_bigint() }}) as excluded,
    min(case when attempts > 0 then n end) as min_n,
    max(case when attempts > 0 then n end) as max_n,
    min(started_at) as started_at,
    max(last_started_at) as last_started_at,
    sum(duration_s) as duration_s,
    sum(cost_usd) as cost_usd,
    cast(sum(input_tokens) as {{ dbt.type_bigint() }}) as input_tokens,
    cast(sum(output_tokens) as {{ dbt.type_bigint() }}) as output_tokens,
    max(loaded_at) as loaded_at
  from counts
  group by run_id, suite
),

joined as (
  select
    totals.*,
    runs.agent,
    runs.agent_version,
    runs.model,
    runs.other_agent,
    runs.other_agent_version,
    runs.other_model,
    expectations.expected_attempts,
    rejections.rejected,
    rejections.rejected_unnamed,
    case when expectations.expected_attempts is not null then coalesce(missing.missing_attempts, 0) end as missing_attempts,
    coalesce(missing.untried_tasks, 0) as untried_tasks
  from totals
  inner join {{ ref('int_passk__runs') }} as runs
    on totals.run_id = runs.run_id and totals.suite = runs.suite
  inner join {{ ref('int_passk__run_rejections') }} as rejections
    on totals.run_id = rejections.run_id and totals.suite = rejections.suite
  left join expectations
    on totals.run_id = expectations.run_id and totals.suite = expectations.suite
  left join missing
    on totals.run_id = missing.run_id and totals.suite = missing.suite
  where totals.attempts > 0
),

warned as (
  select
    *,
    case
      when min_n < max_n
        then 'n differs between tasks, from ' || cast(min_n as {{ dbt.type_string() }}) || ' to '
          || cast(max_n as {{ dbt.type_string() }}) || '. '
      else ''
    end
    || case
      when uncounted_tasks = 1 then '1 task has no counted attempt. '
      when uncounted_tasks > 1 then {{ passk._whole('uncounted_tasks') }} || ' tasks have no counted attempt. '
      else ''
    end
    || case
      when refused_tasks = 1 then '1 task is left out: all its attempts conflict. '
      when refused_tasks > 1 then {{ passk._whole('refused_tasks') }} || ' tasks are left out: all their attempts conflict. '
      else ''
    end
    || case
      when missing_attempts > 0
        then cast(missing_attempts as {{ dbt.type_string() }}) || ' of '
          || cast(expected_attempts as {{ dbt.type_string() }}) || ' attempts that were to be made are missing. '
      else ''
    end
    || case
      when untried_tasks = 1 then '1 task that was to be tried has no attempt. '
      when untried_tasks > 1 then {{ passk._whole('untried_tasks') }} || ' tasks that were to be tried have no attempt. '
      else ''
    end
    || case
      when rejected = 1 then '1 row was rejected. '
      when rejected > 1 then {{ passk._whole('rejected') }} || ' rows were rejected. '
      else ''
    end
    || case
      when rejected_unnamed = 1 then '1 rejected row does not say whose it is. '
      when rejected_unnamed > 1 then {{ passk._whole('rejected_unnamed') }} || ' rejected rows do not say whose they are. '
      else ''
    end
    || case
      when agent <> other_agent or agent_version <> other_agent_version
        then 'The run has more than one agent or version. '
      else ''
    end
    || case when model <> other_model then 'The run has more than one model. ' else '' end as warning_text
  from joined
)

select
  run_id,
  suite,
  agent,
  agent_version,
  model,
  tasks,
  attempts,
  n,
  c,
  excluded,
  rejected,
  rejected_unnamed,
  expected_attempts,
  missing_attempts,
  min_n,
  max_n,
  cast(c as {{ passk.type_double() }}) / nullif(n, 0) as pass_rate,
  started_at,
  last_started_at,
  duration_s,
  cost_usd,
  input_tokens,
  output_tokens,
  case when warning_text <> '' then trim(warning_text) end as warnings,
  loaded_at
from warned
