{%- set keys = ['run_id', 'suite', 'task_id', 'slice_name', 'slice_value'] %}
{%- set ordered = passk._setting('passk_ordered_metrics') %}

{#- No `with`: engines materialise a CTE that is read twice, so a query of one run would read all runs. #}
select
  {{ keys | join(', ') }},
  attempts,
  attempts - excluded as n,
  c,
  excluded,
  {{ passk._task_totals() | join(',\n  ') }},
  loaded_at,
  {% for verdict in ['pass', 'fail'] -%}
  {% if ordered -%}
  {{ passk._first_rank(verdict ~ '_mask', passk._mask_either('pass_mask', 'fail_mask')) }}
  {%- else -%}
  cast(null as {{ dbt.type_bigint() }})
  {%- endif %} as first_{{ verdict }}_rank,
  {% endfor -%}
  pass_mask,
  fail_mask,
  cast(0 as {{ dbt.type_bigint() }}) as duplicates,
  log_version
from {{ ref('int_passk__task_scans') }}
where is_masked
union all
select
  {%- for key in keys %}
  scans.{{ key }},
  {%- endfor %}
  scans.attempts,
  scans.attempts - scans.excluded as n,
  scans.c,
  scans.excluded,
  {%- for name in passk._task_totals() + ['loaded_at'] %}
  scans.{{ name }},
  {%- endfor %}
  long_tasks.first_pass_rank,
  long_tasks.first_fail_rank,
  cast(null as {{ passk.type_mask() }}) as pass_mask,
  cast(null as {{ passk.type_mask() }}) as fail_mask,
  cast(0 as {{ dbt.type_bigint() }}) as duplicates,
  scans.log_version
from {{ ref('int_passk__long_tasks') }} as long_tasks
inner join {{ ref('int_passk__task_scans') }} as scans
  on {{ passk._same_keys(keys, 'scans', 'long_tasks') }}
where long_tasks.is_masked and not scans.is_masked
union all
select
  {{ keys | join(', ') }},
  attempts,
  attempts - excluded as n,
  c,
  excluded,
  {{ passk._task_totals() | join(',\n  ') }},
  loaded_at,
  first_pass_rank,
  first_fail_rank,
  cast(null as {{ passk.type_mask() }}) as pass_mask,
  cast(null as {{ passk.type_mask() }}) as fail_mask,
  duplicates,
  log_version
from {{ ref('int_passk__unmasked_tasks') }} as unmasked
where
  {#- A build that was stopped between the tables leaves tasks in two. #}
  not exists (
    select 1
    from {{ ref('int_passk__task_scans') }} as scans
    where {{ passk._same_keys(['run_id', 'suite', 'task_id'], 'scans', 'unmasked') }} and scans.is_masked
  )
  and not exists (
    select 1
    from {{ ref('int_passk__long_tasks') }} as long_tasks
    where {{ passk._same_keys(['run_id', 'suite', 'task_id'], 'long_tasks', 'unmasked') }} and long_tasks.is_masked
  )
