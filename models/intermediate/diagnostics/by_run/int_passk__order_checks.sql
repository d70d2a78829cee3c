{%- set run = 'run_id, suite' %}
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

orders as (
  select
    {{ run }},
    n,
    c,
    switches,
    rank_sum
  from ({{ passk._mask_orders('informative', ['run_id', 'suite', 'n', 'c']) }}) as masked_orders
  union all
  select
    slow_orders.run_id,
    slow_orders.suite,
    slow_orders.n,
    slow_orders.c,
    slow_orders.switches,
    slow_orders.rank_sum
  from {{ ref('int_passk__slow_orders') }} as slow_orders
  inner join changed_runs
    on slow_orders.run_id = changed_runs.run_id and slow_orders.suite = changed_runs.suite
),

order_states as (
  select
    {{ run }},
    n,
    c,
    cast(count(*) as {{ bigint }}) as tasks,
    cast(sum(switches) as {{ double }}) as switches,
    cast(sum(rank_sum) as {{ double }}) as rank_sum
  from orders
  group by {{ run }}, n, c
),

moments as (
  select
    *,
    {{ passk.switches_expected('n', 'c') }} as switches_expected,
    {{ passk.switches_variance('n', 'c') }} as switches_variance,
    {{ passk.rank_sum_expected('n', 'c') }} as rank_sum_expected,
    {{ passk.rank_sum_variance('n', 'c') }} as rank_sum_variance
  from order_states
),

{# Two attempts with one pass switch in either order. #}
sums as (
  select
    {{ run }},
    cast(sum(case when switches_variance > 0 then tasks else 0 end) as {{ bigint }}) as runs_tasks,
    sum(case when switches_variance > 0 then switches end) as switches,
    sum(case when switches_variance > 0 then tasks * switches_expected end) as switches_expected,
    sum(tasks * switches_variance) as switches_variance,
    cast(sum(tasks) as {{ bigint }}) as trend_tasks,
    sum(rank_sum - tasks * rank_sum_expected) as rank_excess,
    sum(tasks * c) as passes,
    sum(tasks * rank_sum_variance) as rank_variance
  from moments
  group by {{ run }}
)

select
  changed_runs.run_id,
  changed_runs.suite,
  coalesce(sums.runs_tasks, 0) as runs_tasks,
  sums.switches,
  sums.switches_expected,
  (sums.switches - sums.switches_expected) / sqrt(nullif(sums.switches_variance, 0)) as z_runs,
  coalesce(sums.trend_tasks, 0) as trend_tasks,
  sums.rank_excess / nullif(sums.passes, 0) as rank_shift,
  sums.rank_excess / sqrt(nullif(sums.rank_variance, 0)) as z_trend,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from changed_runs
left join sums
  on changed_runs.run_id = sums.run_id and changed_runs.suite = sums.suite
