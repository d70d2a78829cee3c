{{
  config(
    materialized='incremental',
    incremental_strategy='passk_replace',
    unique_key=['run_id', 'suite', 'task_id'],
    on_schema_change='sync_all_columns',
  )
}}
{{ passk._depends_on_changes() }}

{%- set ordered = passk._setting('passk_ordered_metrics') %}
{%- set keys = ['run_id', 'suite', 'task_id'] %}
{%- set slices = passk._slices() %}
{%- set since = passk._increment_since() %}

{%- set carried = keys + [
  'attempt', 'outcome', 'started_at', 'duration_s', 'cost_usd', 'input_tokens', 'output_tokens', 'loaded_at'
] %}
{%- for slice in slices %}
  {%- do carried.append('slice_' ~ loop.index) %}
{%- endfor %}

{#- All of the log is named twice on purpose: an engine that meets a CTE twice may write it, the whole log, into memory.
    What an increment reads is small, and better read once, in the columns that every task needs. #}
{%- set all_attempts %}
  select * from {{ ref('stg_passk__attempts') }} where reject_reason is null
{%- endset %}
{%- set attempts = 'changed_attempts' if since else '(' ~ all_attempts ~ ')' %}

{#- One scan. A mask that holds as many attempts as there are rows proves that no number comes twice. #}
with
{% if since -%}
changed_attempts as (
  select
    {%- for column in carried %}
    staged.{{ column }}{{ ',' if not loop.last }}
    {%- endfor %}
  from ({{ all_attempts }}) as staged
  inner join ({{ passk._changed_tasks(since) }}) as changed
    on staged.run_id = changed.run_id and staged.suite = changed.suite and staged.task_id = changed.task_id
),

{% endif -%}
scanned as (
  select
    run_id,
    suite,
    task_id,
    {{ passk._task_sums() }},
    {{ passk._mask('1 = 1') }} as attempt_mask,
    {{ passk._task_masks(ordered) }}
  from {{ attempts }} as attempts
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
    {{ passk._task_masks(ordered) }}
  from {{ attempts }} as attempts
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

{# The slow road, for the other tasks: copies of one attempt found and settled, then the order by comparing numbers. #}
not_in_one_mask as (
  select attempts.*
  from ({{ all_attempts }}) as attempts
  inner join scanned
    on attempts.run_id = scanned.run_id and attempts.suite = scanned.suite and attempts.task_id = scanned.task_id
  where {{ passk._mask_count('scanned.attempt_mask') }} <> scanned.attempts
),

repeated as (
  select
    run_id,
    suite,
    task_id,
    attempt
  from not_in_one_mask
  group by run_id, suite, task_id, attempt
  having count(*) > 1
),

repeated_attempts as (
  select not_in_one_mask.*
  from not_in_one_mask
  inner join repeated
    on not_in_one_mask.run_id = repeated.run_id
    and not_in_one_mask.suite = repeated.suite
    and not_in_one_mask.task_id = repeated.task_id
    and not_in_one_mask.attempt = repeated.attempt
),

copies as (
  {{ passk._numbered_copies('repeated_attempts') }}
),

settled as (
  select {{ carried | join(', ') }}
  from not_in_one_mask
  where
    not exists (
      select 1
      from repeated
      where
        repeated.run_id = not_in_one_mask.run_id
        and repeated.suite = not_in_one_mask.suite
        and repeated.task_id = not_in_one_mask.task_id
        and repeated.attempt = not_in_one_mask.attempt
    )
  union all
  select {{ carried | join(', ') }}
  from copies
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

{# Of all rows, kept or not: else a batch of refused copies would look new for ever. #}
unmasked_tasks as (
  select {{ keys | join(', ') }}, max(loaded_at) as loaded_at
  from not_in_one_mask
  group by {{ keys | join(', ') }}
),

refused as (
  select
    {{ keys | join(', ') }},
    cast(sum(case when copy_number > 1 or is_unanimous = 0 then 1 else 0 end) as {{ dbt.type_bigint() }}) as copies
  from copies
  group by {{ keys | join(', ') }}
),

unmasked as (
  select
    unmasked_tasks.run_id,
    unmasked_tasks.suite,
    unmasked_tasks.task_id,
    coalesce(sorted_counts.slice_name, 'all') as slice_name,
    coalesce(sorted_counts.slice_value, 'all') as slice_value,
    coalesce(sorted_counts.attempts, 0) as attempts,
    coalesce(sorted_counts.n, 0) as n,
    coalesce(sorted_counts.c, 0) as c,
    coalesce(sorted_counts.excluded, 0) as excluded,
    {%- for name in passk._task_sum_names()[4:-1] %}
    sorted_counts.{{ name }},
    {%- endfor %}
    unmasked_tasks.loaded_at,
    ranks.first_pass_rank,
    ranks.first_fail_rank,
    coalesce(refused.copies, 0) as copies
  from unmasked_tasks
  left join sorted_counts
    on unmasked_tasks.run_id = sorted_counts.run_id
    and unmasked_tasks.suite = sorted_counts.suite
    and unmasked_tasks.task_id = sorted_counts.task_id
  left join ranks
    on sorted_counts.run_id = ranks.run_id
    and sorted_counts.suite = ranks.suite
    and sorted_counts.task_id = ranks.task_id
    and sorted_counts.slice_name = ranks.slice_name
    and sorted_counts.slice_value = ranks.slice_value
  left join refused
    on unmasked_tasks.run_id = refused.run_id
    and unmasked_tasks.suite = refused.suite
    and unmasked_tasks.task_id = refused.task_id
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
