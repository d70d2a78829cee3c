{%- set task = 'run_id, suite, task_id' %}
{%- set ordered = passk._setting('passk_ordered_metrics') %}
{%- set slices = passk._slices() %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__log_runs')) }}
),

{# Each slice names the log itself on purpose: an engine that finds a CTE twice may write it, here the whole log, into
   memory. #}
scanned as (
  select
    {{ task }},
    'all' as slice_name,
    'all' as slice_value,
    {{ passk._task_sums() }},
    {{ passk._task_masks(ordered) }}
  from {{ ref('stg_passk__attempts') }}
  where reject_reason is null and {{ passk._is_of_changed_runs(ref('stg_passk__attempts')) }}
  group by {{ task }}
  {%- for slice in slices %}
  union all
  select
    {{ task }},
    {{ passk._quoted(slice.name) }} as slice_name,
    slice_{{ loop.index }} as slice_value,
    {{ passk._task_sums() }},
    {{ passk._task_masks(ordered) }}
  from {{ ref('stg_passk__attempts') }}
  where reject_reason is null and {{ passk._is_of_changed_runs(ref('stg_passk__attempts')) }}
  group by {{ task }}, slice_{{ loop.index }}
  {%- endfor %}
)

select
  scanned.*,
  {#- A mask with as many attempts as there are rows proves that no number occurs twice. It must be the mask of the
      whole task, because duplicates of an attempt may be in two slices. #}
  {% if slices -%}
  max(
    case when scanned.slice_name = 'all' and {{ passk._mask_count('scanned.attempt_mask') }} = scanned.attempts then 1 else 0 end
  ) over (partition by scanned.run_id, scanned.suite, scanned.task_id) = 1
  {%- else -%}
  {{ passk._mask_count('scanned.attempt_mask') }} = scanned.attempts
  {%- endif %} as is_masked,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from scanned
inner join changed_runs
  on scanned.run_id = changed_runs.run_id and scanned.suite = changed_runs.suite
