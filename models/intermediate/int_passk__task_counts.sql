{{
  config(
    materialized='incremental',
    incremental_strategy='passk_replace',
    unique_key=['run_id', 'suite', 'task_id'],
    on_schema_change='sync_all_columns',
  )
}}

{%- set ordered = var('passk_ordered_metrics', true) %}
{%- set keys = ['run_id', 'suite', 'task_id'] %}
{%- set slices = passk._slices() %}
{%- set increment = passk._is_increment() %}

with staged as (
  select *
  from {{ ref('stg_passk__attempts') }}
  where reject_reason is null
),

{% if increment -%}
changed as (
  {{ passk._changed_tasks(this) }}
),

attempts as (
  select staged.*
  from staged
  inner join changed
    on staged.run_id = changed.run_id and staged.suite = changed.suite and staged.task_id = changed.task_id
),
{%- else -%}
attempts as (
  select * from staged
),
{%- endif %}

{#- One scan. A mask that holds as many attempts as there are rows proves that no number comes twice. #}
scanned as (
  select
    run_id,
    suite,
    task_id,
    {{ passk._task_sums() }},
    {{ passk._mask('1 = 1') }} as attempt_mask,
    {% if ordered -%}
    {{ passk._mask("outcome = 'passed'") }} as pass_mask,
    {{ passk._mask("outcome = 'failed'") }} as fail_mask
    {%- else -%}
    cast(null as {{ passk.type_mask() }}) as pass_mask,
    cast(null as {{ passk.type_mask() }}) as fail_mask
    {%- endif %}
  from attempts
  group by run_id, suite, task_id
),

in_one_mask as (
  select *
  from scanned
  where {{ passk._mask_count('attempt_mask') }} = attempts
),

{% for slice in slices -%}
slice_{{ loop.index }}_scanned as (
  select
    attempts.run_id,
    attempts.suite,
    attempts.task_id,
    attempts.slice_{{ loop.index }} as slice_value,
    {{ passk._task_sums() }},
    {% if ordered -%}
    {{ passk._mask("outcome = 'passed'") }} as pass_mask,
    {{ passk._mask("outcome = 'failed'") }} as fail_mask
    {%- else -%}
    cast(null as {{ passk.type_mask() }}) as pass_mask,
    cast(null as {{ passk.type_mask() }}) as fail_mask
    {%- endif %}
  from attempts
  where exists (
    select 1
    from in_one_mask
    where
      {%- for key in keys %}
      in_one_mask.{{ key }} = attempts.{{ key }}{{ ' and' if not loop.last }}
      {%- endfor %}
  )
  group by attempts.run_id, attempts.suite, attempts.task_id, attempts.slice_{{ loop.index }}
),

{% endfor -%}
masked as (
  select
    {{ keys | join(', ') }},
    'all' as slice_name,
    'all' as slice_value,
    {{ passk._task_sum_names() | join(', ') }},
    pass_mask,
    fail_mask
  from in_one_mask
  {%- for slice in slices %}
  union all
  select
    {{ keys | join(', ') }},
    {{ passk._quoted(slice.name) }} as slice_name,
    slice_value,
    {{ passk._task_sum_names() | join(', ') }},
    pass_mask,
    fail_mask
  from slice_{{ loop.index }}_scanned
  {%- endfor %}
),

{#- The slow road, for the other tasks: copies of one attempt found and settled, then the order by a sort. #}
not_in_one_mask as (
  select attempts.*
  from attempts
  where exists (
    select 1
    from scanned
    where
      {%- for key in keys %}
      scanned.{{ key }} = attempts.{{ key }} and
      {%- endfor %}
      {{ passk._mask_count('scanned.attempt_mask') }} <> scanned.attempts
  )
),

copies as (
  {{ passk._numbered_copies('not_in_one_mask') }}
),

settled as (
  select *
  from copies
  where copy_number = 1 and is_unanimous = 1
),

sliced as (
  {{ passk._sliced('settled') }}
),

ranked as (
  select
    *,
    {% if ordered -%}
    sum(case when outcome <> 'excluded' then 1 else 0 end) over (
      partition by run_id, suite, task_id, slice_name, slice_value
      order by attempt
      rows between unbounded preceding and current row
    ) as counted_rank
    {%- else -%}
    cast(null as {{ dbt.type_bigint() }}) as counted_rank
    {%- endif %}
  from sliced
),

sorted_counts as (
  select
    {{ keys | join(', ') }},
    slice_name,
    slice_value,
    {{ passk._task_sums() }},
    cast(min(case when outcome = 'passed' then counted_rank end) as {{ dbt.type_bigint() }}) as first_pass_rank,
    cast(min(case when outcome = 'failed' then counted_rank end) as {{ dbt.type_bigint() }}) as first_fail_rank
  from ranked
  group by {{ keys | join(', ') }}, slice_name, slice_value
),

copied_tasks as (
  select
    {{ keys | join(', ') }},
    cast(sum(case when copy_number > 1 or is_unanimous = 0 then 1 else 0 end) as {{ dbt.type_bigint() }}) as copies,
    max(loaded_at) as loaded_at
  from copies
  group by {{ keys | join(', ') }}
),

unmasked as (
  select
    copied_tasks.run_id,
    copied_tasks.suite,
    copied_tasks.task_id,
    coalesce(sorted_counts.slice_name, 'all') as slice_name,
    coalesce(sorted_counts.slice_value, 'all') as slice_value,
    coalesce(sorted_counts.attempts, 0) as attempts,
    coalesce(sorted_counts.n, 0) as n,
    coalesce(sorted_counts.c, 0) as c,
    coalesce(sorted_counts.excluded, 0) as excluded,
    {%- for name in passk._task_sum_names()[4:-1] %}
    sorted_counts.{{ name }},
    {%- endfor %}
    {#- Of all copies, kept or not: else a batch of refused copies would look new for ever. #}
    copied_tasks.loaded_at,
    sorted_counts.first_pass_rank,
    sorted_counts.first_fail_rank,
    copied_tasks.copies
  from copied_tasks
  left join sorted_counts
    on copied_tasks.run_id = sorted_counts.run_id
    and copied_tasks.suite = sorted_counts.suite
    and copied_tasks.task_id = sorted_counts.task_id
)

select
  {{ keys | join(', ') }},
  slice_name,
  slice_value,
  {{ passk._task_sum_names() | join(',\n  ') }},
  {{ passk._first_rank('pass_mask', '(pass_mask | fail_mask)') if ordered else 'cast(null as bigint)' }} as first_pass_rank,
  {{ passk._first_rank('fail_mask', '(pass_mask | fail_mask)') if ordered else 'cast(null as bigint)' }} as first_fail_rank,
  pass_mask,
  fail_mask,
  cast(0 as {{ dbt.type_bigint() }}) as copies,
  {{ passk._quoted(passk._built_with()) }} as built_with
from masked
union all
select
  {{ keys | join(', ') }},
  slice_name,
  slice_value,
  {{ passk._task_sum_names() | join(',\n  ') }},
  first_pass_rank,
  first_fail_rank,
  cast(null as {{ passk.type_mask() }}) as pass_mask,
  cast(null as {{ passk.type_mask() }}) as fail_mask,
  copies,
  {{ passk._quoted(passk._built_with()) }} as built_with
from unmasked
