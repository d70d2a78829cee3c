{{ config(unique_key=['run_id', 'suite']) }}

{#- Landed rows are only ever added or removed, so the added and removed rows say which runs have changed. For a user's
    own table only the arrival of rows is known, and without a time not even that: then every run counts as changed. #}
{%- set since = passk._last_change() %}

with changes as (
  select
    run_id,
    suite,
    loaded_at as changed_at
  from {{ ref('stg_passk__attempts') }}
  where reject_reason is null and {{ passk._changed_since(since, 'loaded_at') }}
  {%- if passk._attempts_kind() == 'landing' %}
  union all
  select
    run_id,
    suite,
    removed_at as changed_at
  from {{ ref('stg_passk__removed_tasks') }}
  where {{ passk._changed_since(since, 'removed_at') }}
  {%- endif %}
)

select
  run_id,
  suite,
  max(changed_at) as changed_at,
  '{{ invocation_id }}' as log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from changes
group by run_id, suite
