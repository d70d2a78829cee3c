{%- set names = passk._contract_names() %}

with staged as (
  select *
  from {{ ref('stg_passk__attempts') }}
  where reject_reason is null
),

duplicates as (
  select * from {{ ref('int_passk__duplicate_attempts') }}
)

select
  {% for name in names[:-1] -%}
  staged.{{ name }},
  {% endfor -%}
  {% for slice in passk._slices() -%}
  staged.slice_{{ loop.index }},
  {% endfor -%}
  staged.{{ names[-1] }}
from staged
where
  not exists (
    select 1
    from duplicates
    where
      duplicates.run_id = staged.run_id
      and duplicates.suite = staged.suite
      and duplicates.task_id = staged.task_id
      and duplicates.attempt = staged.attempt
  )
union all
select
  {{ names[:-1] | join(',\n  ') }},
  {% for slice in passk._slices() -%}
  coalesce(cast({{ slice.expression }} as {{ dbt.type_string() }}), '(untagged)') as slice_{{ loop.index }},
  {% endfor -%}
  {{ names[-1] }}
from duplicates
where is_kept = 1
