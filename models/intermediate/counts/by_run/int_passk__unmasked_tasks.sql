{%- set ordered = passk._setting('passk_ordered_metrics') %}
{%- set keys = ['run_id', 'suite', 'task_id'] %}
{%- set columns = keys + [
  'attempt', 'outcome', 'started_at', 'duration_s', 'cost_usd', 'input_tokens', 'output_tokens', 'loaded_at', 'family'
] %}
{%- for slice in passk._slices() %}
  {%- do columns.append('slice_' ~ loop.index) %}
{%- endfor %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__long_tasks'), 'not upstream.is_masked') }}
),

unmasked as {{ passk._made_once() }}(
  select
    tasks.run_id,
    tasks.suite,
    tasks.task_id,
    changed_runs.log_version
  from {{ ref('int_passk__long_tasks') }} as tasks
  inner join changed_runs
    on tasks.run_id = changed_runs.run_id and tasks.suite = changed_runs.suite
  where not tasks.is_masked and tasks.slice_name = 'all'
),

attempts as {{ passk._made_once() }}(
  select
    attempts.*,
    unmasked.log_version
  from {{ ref('stg_passk__attempts') }} as attempts
  inner join unmasked
    on attempts.run_id = unmasked.run_id and attempts.suite = unmasked.suite and attempts.task_id = unmasked.task_id
  where attempts.reject_reason is null
),

repeated as (
  select
    run_id,
    suite,
    task_id,
    attempt
  from attempts
  group by run_id, suite, task_id, attempt
  having count(*) > 1
),

repeated_attempts as (
  select attempts.*
  from attempts
  inner join repeated
    on attempts.run_id = repeated.run_id
    and attempts.suite = repeated.suite
    and attempts.task_id = repeated.task_id
    and attempts.attempt = repeated.attempt
),

numbered as (
  {{ passk._numbered_copies('repeated_attempts') }}
),

settled as (
  select {{ columns | join(', ') }}
  from attempts
  where
    not exists (
      select 1
      from repeated
      where
        repeated.run_id = attempts.run_id
        and repeated.suite = attempts.suite
        and repeated.task_id = attempts.task_id
        and repeated.attempt = attempts.attempt
    )
  union all
  select {{ columns | join(', ') }}
  from numbered
  where copy_number = 1 and is_unanimous = 1
),

sliced as (
  {{ passk._sliced('settled') }}
),

sorted_counts as (
  select
    {{ keys | join(', ') }},
    slice_name,
    slice_value,
    {{ passk._task_sums() }},
    min(case when outcome = 'passed' then attempt end) as first_pass,
    min(case when outcome = 'failed' then attempt end) as first_fail
  from sliced
  group by {{ keys | join(', ') }}, slice_name, slice_value
),

ranks as (
  select
    sliced.run_id,
    sliced.suite,
    sliced.task_id,
    sliced.slice_name,
    sliced.slice_value,
    {%- for verdict in ['pass', 'fail'] %}
    cast(sum(
      case when sliced.outcome <> 'excluded' and sliced.attempt <= sorted_counts.first_{{ verdict }} then 1 end
    ) as {{ dbt.type_bigint() }}) as first_{{ verdict }}_rank{%- if not loop.last %},{% endif %}
    {%- endfor %}
  from sliced
  inner join sorted_counts
    on sliced.run_id = sorted_counts.run_id
    and sliced.suite = sorted_counts.suite
    and sliced.task_id = sorted_counts.task_id
    and sliced.slice_name = sorted_counts.slice_name
    and sliced.slice_value = sorted_counts.slice_value
  {%- if not ordered %}
  where 1 = 0
  {%- endif %}
  group by sliced.run_id, sliced.suite, sliced.task_id, sliced.slice_name, sliced.slice_value
),

{# Over all rows, kept or not. #}
latest as (
  select
    {{ keys | join(', ') }},
    max(log_version) as log_version,
    max(loaded_at) as loaded_at,
    cast(count(*) as {{ dbt.type_bigint() }}) as log_rows
  from attempts
  group by {{ keys | join(', ') }}
),

rejected as (
  select
    {{ keys | join(', ') }},
    cast(sum(case when copy_number > 1 or is_unanimous = 0 then 1 else 0 end) as {{ dbt.type_bigint() }}) as duplicates
  from numbered
  group by {{ keys | join(', ') }}
)

select
  latest.run_id,
  latest.suite,
  latest.task_id,
  coalesce(sorted_counts.slice_name, 'all') as slice_name,
  coalesce(sorted_counts.slice_value, 'all') as slice_value,
  coalesce(sorted_counts.attempts, 0) as attempts,
  coalesce(sorted_counts.c, 0) as c,
  coalesce(sorted_counts.excluded, 0) as excluded,
  {%- for name in passk._task_totals() %}
  sorted_counts.{{ name }},
  {%- endfor %}
  latest.loaded_at,
  ranks.first_pass_rank,
  ranks.first_fail_rank,
  coalesce(rejected.duplicates, 0) as duplicates,
  latest.log_rows,
  latest.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from latest
left join sorted_counts
  on latest.run_id = sorted_counts.run_id
  and latest.suite = sorted_counts.suite
  and latest.task_id = sorted_counts.task_id
left join ranks
  on sorted_counts.run_id = ranks.run_id
  and sorted_counts.suite = ranks.suite
  and sorted_counts.task_id = ranks.task_id
  and sorted_counts.slice_name = ranks.slice_name
  and sorted_counts.slice_value = ranks.slice_value
left join rejected
  on latest.run_id = rejected.run_id
  and latest.suite = rejected.suite
  and latest.task_id = rejected.task_id
