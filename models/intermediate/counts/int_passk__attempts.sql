{{ config(materialized='view') }}
{%- set names = passk._contract_names() %}

{#- Neither by `not exists`, for which DuckDB before 2.0 groups the whole log by these keys, nor with the duplicates in
    a CTE, before which DuckDB does not stop at a limit. No row repeats: one that finds a duplicate goes. -#}
with staged as (
  select *
  from {{ ref('stg_passk__attempts') }}
  where reject_reason is null
)

select
  {% for name in names[:-1] -%}
  staged.{{ name }},
  {% endfor -%}
  {% for slice in passk._slices() -%}
  staged.slice_{{ loop.index }},
  {% endfor -%}
  staged.family,
  staged.{{ names[-1] }}
from staged
left join {{ ref('int_passk__duplicate_attempts') }} as duplicates
  on staged.run_id = duplicates.run_id
  and staged.suite = duplicates.suite
  and staged.task_id = duplicates.task_id
  and staged.attempt = duplicates.attempt
where duplicates.run_id is null
union all
select
  {{ names[:-1] | join(',\n  ') }},
  {% for slice in passk._slices() -%}
  coalesce(cast({{ slice.expression }} as {{ dbt.type_string() }}), '(untagged)') as slice_{{ loop.index }},
  {% endfor -%}
  {{ passk._family_column() }},
  {{ names[-1] }}
from {{ ref('int_passk__duplicate_attempts') }}
where is_kept = 1
