{#- Few tasks have duplicates, so only their rows are read. #}
with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__unmasked_tasks'), 'upstream.duplicates > 0') }}
),

copied_tasks as {{ passk._made_once() }}(
  select
    unmasked.run_id,
    unmasked.suite,
    unmasked.task_id,
    changed_runs.log_version
  from {{ ref('int_passk__unmasked_tasks') }} as unmasked
  inner join changed_runs
    on unmasked.run_id = changed_runs.run_id and unmasked.suite = changed_runs.suite
  where unmasked.duplicates > 0 and unmasked.slice_name = 'all'
),

attempts as {{ passk._made_once() }}(
  select
    {%- for name in passk._contract_names() %}
    staged.{{ name }},
    {%- endfor %}
    copied_tasks.log_version
  from {{ ref('stg_passk__attempts') }} as staged
  inner join copied_tasks
    on staged.run_id = copied_tasks.run_id
    and staged.suite = copied_tasks.suite
    and staged.task_id = copied_tasks.task_id
  where staged.reject_reason is null
),

numbered as (
  {{ passk._numbered_copies('attempts') }}
)

select
  {{ passk._contract_names() | join(',\n  ') }},
  copy_count,
  case when copy_number = 1 and is_unanimous = 1 then 1 else 0 end as is_kept,
  is_unanimous,
  log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from numbered
where copy_count > 1
