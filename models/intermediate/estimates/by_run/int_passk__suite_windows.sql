{%- set keys = ['run_id', 'suite', 'slice_name', 'slice_value'] %}
{%- set bigint = dbt.type_bigint() %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__tasks_by_count'), is_wanted=passk._setting('passk_ordered_metrics')) }}
),

counts as (
  select counts.*
  from {{ ref('int_passk__task_counts') }} as counts
  inner join changed_runs
    on counts.run_id = changed_runs.run_id and counts.suite = changed_runs.suite
  where counts.attempts > 0
),

streaks as (
  select streaks.*
  from {{ ref('int_passk__streaks') }} as streaks
  inner join changed_runs
    on streaks.run_id = changed_runs.run_id and streaks.suite = changed_runs.suite
),

{# Windows from masks and from streaks, as sums over their tasks. #}
window_sums as (
  {{ passk._mask_window_sums('counts', keys, passk._setting('passk_ks')) }}
  union all
  select
    {{ keys | join(', ') }},
    k,
    cast(count(nullif(windows, 0)) as {{ bigint }}) as tasks,
    sum({{ passk.pass_at_k_window('fail_windows', 'windows') }}) as pass_at_k,
    sum({{ passk.pass_hat_k_window('pass_windows', 'windows') }}) as pass_hat_k
  from ({{ passk.window_counts('streaks', keys + ['task_id'], passk._setting('passk_ks')) }}) as windows
  group by {{ keys | join(', ') }}, k
),

windows as (
  select
    {{ keys | join(', ') }},
    k,
    cast(sum(tasks) as {{ bigint }}) as window_tasks,
    sum(pass_at_k) / nullif(sum(tasks), 0) as pass_at_k_window,
    sum(pass_hat_k) / nullif(sum(tasks), 0) as pass_hat_k_window
  from window_sums
  group by {{ keys | join(', ') }}, k
),

ranks as (
  select
    {{ keys | join(', ') }},
    n,
    first_pass_rank,
    first_fail_rank,
    cast(count(*) as {{ bigint }}) as tasks
  from counts
  group by {{ keys | join(', ') }}, n, first_pass_rank, first_fail_rank
),

grid as (
  {{ passk._ks_rows(passk._setting('passk_ks')) }}
),

first_k as (
  select
    {% for key in keys %}ranks.{{ key }}, {% endfor %}
    grid.k,
    sum(ranks.tasks * {{ passk.pass_at_k_first_k('ranks.first_pass_rank', 'ranks.n', 'grid.k') }})
    / sum(case when ranks.n >= grid.k then ranks.tasks end) as pass_at_k_first_k,
    sum(ranks.tasks * {{ passk.pass_hat_k_first_k('ranks.first_fail_rank', 'ranks.n', 'grid.k') }})
    / sum(case when ranks.n >= grid.k then ranks.tasks end) as pass_hat_k_first_k
  from ranks
  cross join grid
  group by {% for key in keys %}ranks.{{ key }}, {% endfor %}grid.k
)

select
  {% for key in keys %}first_k.{{ key }}, {% endfor %}
  first_k.k,
  windows.window_tasks,
  windows.pass_at_k_window,
  windows.pass_hat_k_window,
  first_k.pass_at_k_first_k,
  first_k.pass_hat_k_first_k,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from first_k
inner join changed_runs
  on first_k.run_id = changed_runs.run_id and first_k.suite = changed_runs.suite
left join windows
  on first_k.run_id = windows.run_id
  and first_k.suite = windows.suite
  and first_k.slice_name = windows.slice_name
  and first_k.slice_value = windows.slice_value
  and first_k.k = windows.k
