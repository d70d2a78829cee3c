{%- set task = ['run_id', 'suite', 'task_id'] %}

{#- A task may get masks again once its duplicates are removed. #}
with changed_runs as (
  {{ passk.changed_runs(
    ref('int_passk__task_counts'),
    "upstream.slice_name = 'all' and upstream.pass_mask is null and upstream.c > 0 and upstream.c < upstream.n",
    is_wanted=passk._setting('passk_diagnostics') and passk._setting('passk_ordered_metrics')
  ) }}
),

{# Attempts beyond the masks of the scan may all be excluded: then its masks have all that count. #}
long_tasks as (
  select
    {%- for key in task %}
    scans.{{ key }},
    {%- endfor %}
    scans.attempts - scans.excluded as n,
    scans.c,
    {{ passk._mask_either('scans.pass_mask', 'scans.fail_mask') }} as counted_attempts,
    scans.pass_mask as scanned_mask,
    long_tasks.pass_mask,
    long_tasks.fail_mask
  from {{ ref('int_passk__long_tasks') }} as long_tasks
  inner join {{ ref('int_passk__task_scans') }} as scans
    on {{ passk._same_keys(task + ['slice_name', 'slice_value'], 'scans', 'long_tasks') }}
  inner join changed_runs
    on long_tasks.run_id = changed_runs.run_id and long_tasks.suite = changed_runs.suite
  where
    long_tasks.is_masked
    and long_tasks.slice_name = 'all'
    and scans.c > 0
    and scans.c < scans.attempts - scans.excluded
),

{# Joins the tasks without masks first: engines know that they are few. #}
placed as (
  select
    attempts.run_id,
    attempts.suite,
    attempts.task_id,
    attempts.attempt,
    attempts.outcome,
    unmasked.c,
    unmasked.attempts - unmasked.excluded as n,
    row_number() over (
      partition by attempts.run_id, attempts.suite, attempts.task_id
      order by attempts.attempt
    ) as place,
    lag(attempts.outcome) over (
      partition by attempts.run_id, attempts.suite, attempts.task_id
      order by attempts.attempt
    ) as previous
  from {{ ref('int_passk__attempts') }} as attempts
  inner join {{ ref('int_passk__unmasked_tasks') }} as unmasked
    on attempts.run_id = unmasked.run_id
    and attempts.suite = unmasked.suite
    and attempts.task_id = unmasked.task_id
  inner join changed_runs
    on unmasked.run_id = changed_runs.run_id and unmasked.suite = changed_runs.suite
  where
    attempts.outcome <> 'excluded'
    and unmasked.slice_name = 'all'
    and unmasked.c > 0
    and unmasked.c < unmasked.attempts - unmasked.excluded
),

orders as (
  {{ passk._long_orders('long_tasks', task + ['n', 'c', 'counted_attempts', 'scanned_mask']) }}
  union all
  select
    {{ task | join(', ') }},
    n,
    c,
    {{ passk._counted_attempts() }} as counted_attempts,
    {{ passk._mask("outcome = 'passed'") }} as scanned_mask,
    cast(sum(case when outcome <> previous then 1 else 0 end) as {{ dbt.type_bigint() }}) as switches,
    cast(sum(case when outcome = 'passed' then place else 0 end) as {{ dbt.type_bigint() }}) as rank_sum
  from placed
  group by {{ task | join(', ') }}, n, c
)

select
  {%- for key in task %}
  orders.{{ key }},
  {%- endfor %}
  orders.n,
  orders.c,
  orders.switches,
  orders.rank_sum,
  orders.counted_attempts,
  orders.scanned_mask as pass_mask,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from orders
inner join changed_runs
  on orders.run_id = changed_runs.run_id and orders.suite = changed_runs.suite
