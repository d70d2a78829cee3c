{%- set run = 'run_id, suite' %}
{%- set task = 'run_id, suite, task_id' %}
{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}

with changed_runs as (
  {{ passk.changed_runs(
    ref('int_passk__tasks_by_count'),
    is_wanted=passk._setting('passk_diagnostics') and passk._setting('passk_ordered_metrics')
  ) }}
),

informative as (
  select counts.*
  from {{ ref('int_passk__task_counts') }} as counts
  inner join changed_runs
    on counts.run_id = changed_runs.run_id and counts.suite = changed_runs.suite
  where counts.slice_name = 'all' and counts.c > 0 and counts.c < counts.n
),

slow_orders as (
  select slow_orders.*
  from {{ ref('int_passk__slow_orders') }} as slow_orders
  inner join changed_runs
    on slow_orders.run_id = changed_runs.run_id and slow_orders.suite = changed_runs.suite
),

numbered as (
  {% if passk._mask_bits() -%}
  select
    {{ task }},
    n,
    c,
    {{ passk._mask_either('pass_mask', 'fail_mask') }} as counted_attempts,
    pass_mask
  from informative
  where pass_mask is not null
  union all
  {% endif -%}
  select {{ task }}, n, c, counted_attempts, pass_mask
  from slow_orders
  where {{ passk._are_counted('counted_attempts', 'n') }}
),

number_sets as (
  select
    {{ run }},
    counted_attempts,
    n,
    cast(count(*) as {{ bigint }}) as tasks,
    cast(sum(c) as {{ bigint }}) as passes,
    cast(sum(c * c) as {{ bigint }}) as task_square_sum
  from numbered
  group by {{ run }}, counted_attempts, n
),

{# Only the sets that are in as many tasks as any have to be sorted. #}
most_tasks as (
  select
    {{ run }},
    max(tasks) as tasks
  from number_sets
  group by {{ run }}
),

ranked_sets as (
  select
    number_sets.*,
    row_number() over (
      partition by number_sets.run_id, number_sets.suite
      order by number_sets.n desc, number_sets.counted_attempts asc
    ) as place
  from number_sets
  inner join most_tasks
    on number_sets.run_id = most_tasks.run_id
    and number_sets.suite = most_tasks.suite
    and number_sets.tasks = most_tasks.tasks
),

most_common_set as (
  select
    numbered.run_id,
    numbered.suite,
    numbered.task_id,
    numbered.pass_mask
  from numbered
  inner join ranked_sets
    on numbered.run_id = ranked_sets.run_id
    and numbered.suite = ranked_sets.suite
    and numbered.counted_attempts = ranked_sets.counted_attempts
  where ranked_sets.place = 1
),

square_sums as (
  {{ passk._square_sums('most_common_set', ref('int_passk__attempts')) }}
),

suite_passes as (
  select
    ranked_sets.run_id,
    ranked_sets.suite,
    ranked_sets.tasks,
    ranked_sets.n,
    {{ passk.cochran_q(
      'ranked_sets.n', 'square_sums.square_sum', 'ranked_sets.passes', 'ranked_sets.task_square_sum'
    ) }} as cochran_q
  from ranked_sets
  inner join square_sums
    on ranked_sets.run_id = square_sums.run_id and ranked_sets.suite = square_sums.suite
  where ranked_sets.place = 1
)

select
  changed_runs.run_id,
  changed_runs.suite,
  coalesce(suite_passes.tasks, 0) as suite_pass_tasks,
  suite_passes.n as suite_passes,
  suite_passes.cochran_q,
  {{ passk._chi_square_deviate(
    'suite_passes.cochran_q', passk._as_double('nullif(suite_passes.n - 1, 0)')
  ) }} as z_suite_pass,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from changed_runs
left join suite_passes
  on changed_runs.run_id = suite_passes.run_id and changed_runs.suite = suite_passes.suite
