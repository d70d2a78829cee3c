{{ config(materialized='passk_incremental', unique_key=['run_id', 'suite', 'task_id']) }}
{%- if passk._attempts_kind() == 'landing' %}
-- depends_on: {{ source('passk_landing', 'removed_tasks') }}
{%- endif %}

{%- set keys = ['run_id', 'suite', 'task_id'] %}
{%- set ordered = passk._setting('passk_ordered_metrics') %}
{%- set slices = passk._slices() %}
{%- set since = passk._increment_since(passk._built()) %}

{#- What landed is only ever added to or removed, so new attempts are added to what a table knows of their task, and the
    old ones are read again for tasks that lost some. Of anyone's own table nothing is known but that a task changed. #}
{%- set adds_up = since and passk._attempts_kind() == 'landing' %}
{%- set has_removed = adds_up and passk._any_row(passk._removed(keys, since)) %}

{%- if since and not has_removed and not passk._any_row(passk._arrived(since)) %}
{{ passk._nothing_new() }}
{%- else %}

{%- if not passk._adds_to_tables() %}
  {%- set since, adds_up, has_removed = none, false, false %}
{%- endif %}
{%- set reread = none %}
{%- if has_removed %}
  {%- set reread = passk._removed(keys, since) %}
{%- elif since and not adds_up %}
  {%- set reread = passk._changed(keys, since) %}
{%- endif %}

{%- set columns = keys + [
  'attempt', 'outcome', 'started_at', 'duration_s', 'cost_usd', 'input_tokens', 'output_tokens', 'loaded_at'
] %}
{%- for slice in slices %}
  {%- do columns.append('slice_' ~ loop.index) %}
{%- endfor %}

{#- All of the log is named in each slice on purpose: an engine that meets a CTE twice may write it, the whole log, into
    memory. What an increment reads is small, and better read once. #}
{%- set attempts = 'new_attempts' if since else ref('stg_passk__attempts') %}

with
{% if reread -%}
reread as (
  {{ reread }}
),

{% endif -%}

{% if since -%}
new_attempts as (
  {%- if adds_up %}
  select {{ columns | join(', ') }}
  from {{ ref('stg_passk__attempts') }} as attempts
  where reject_reason is null and {{ passk._arrived_after(since) }}
  {%- if reread %}
    and not exists (
      select 1
      from reread
      where {{ passk._same_keys(keys, 'reread', 'attempts') }}
    )
  {%- endif %}
  {%- endif %}
  {%- if adds_up and reread %}
  union all
  {%- endif %}
  {%- if reread %}
  select
    {%- for column in columns %}
    attempts.{{ column }}{{ ',' if not loop.last }}
    {%- endfor %}
  from {{ ref('stg_passk__attempts') }} as attempts
  inner join reread
    on {{ passk._same_keys(keys, 'reread', 'attempts') }}
  where attempts.reject_reason is null
  {%- endif %}
),

{% endif -%}

scanned as (
  select
    {{ keys | join(', ') }},
    'all' as slice_name,
    'all' as slice_value,
    {{ passk._task_sums() }},
    {{ passk._task_masks(ordered) }}
  from {{ attempts }}
  {{ 'where reject_reason is null' if not since }}
  group by {{ keys | join(', ') }}
  {%- for slice in slices %}
  union all
  select
    {{ keys | join(', ') }},
    {{ passk._quoted(slice.name) }} as slice_name,
    slice_{{ loop.index }} as slice_value,
    {{ passk._task_sums() }},
    {{ passk._task_masks(ordered) }}
  from {{ attempts }}
  {{ 'where reject_reason is null' if not since }}
  group by {{ keys | join(', ') }}, slice_{{ loop.index }}
  {%- endfor %}
),

{% if adds_up -%}
known as (
  select *
  from {{ this }} as known
  where
    exists (
      select 1
      from scanned
      where {{ passk._same_keys(keys, 'scanned', 'known') }}
    )
    {%- if reread %}
    and not exists (
      select 1
      from reread
      where {{ passk._same_keys(keys, 'reread', 'known') }}
    )
    {%- endif %}
),

all_scans as (
  {%- set names = keys + ['slice_name', 'slice_value'] + passk._task_sum_names() + passk._task_mask_names() %}
  select {{ names | join(', ') }} from scanned
  union all
  select {{ names | join(', ') }} from known
),

added_up as (
  select
    {{ keys | join(', ') }},
    slice_name,
    slice_value,
    {{ passk._task_sums_of_sums() }},
    {%- for mask in passk._task_mask_names() %}
    {{ passk._mask_union(mask) }} as {{ mask }}{{ ',' if not loop.last }}
    {%- endfor %}
  from all_scans
  group by {{ keys | join(', ') }}, slice_name, slice_value
)
{%- else -%}
added_up as (
  select * from scanned
)
{%- endif %}

select
  {{ keys | join(', ') }},
  slice_name,
  slice_value,
  {{ passk._task_sum_names() | join(',\n  ') }},
  {{ passk._task_mask_names() | join(',\n  ') }},
  {#- A mask that holds as many attempts as there are rows proves that no number comes twice. It must of the whole task:
      copies of an attempt may be in two slices. #}
  {% if slices -%}
  max(case when slice_name = 'all' and {{ passk._mask_count('attempt_mask') }} = attempts then 1 else 0 end)
    over (partition by {{ keys | join(', ') }}) = 1
  {%- else -%}
  {{ passk._mask_count('attempt_mask') }} = attempts
  {%- endif %} as is_masked,
  {{ passk._quoted(passk._built_with()) }} as built_with
from added_up
{%- if since %}
{{ passk._replaces(passk._new_keys(keys) ~ (' union ' ~ reread if has_removed else '')) }}
{%- endif %}
{%- endif %}
