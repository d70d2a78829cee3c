with task_costs as (
  select * from {{ ref('int_passk__task_costs') }}
),

measured_runs as (
  select distinct
    run_id,
    suite,
    measure
  from task_costs
)

select
  counts.run_id,
  counts.suite,
  counts.task_id,
  measured_runs.measure,
  counts.family,
  case when counts.family is null then counts.task_id end as lone_task,
  counts.n,
  counts.c,
  counts.excluded,
  {%- for name in ['passes', 'failures', 'excluded'] %}
  coalesce(task_costs.measured_{{ name }}, 0) as measured_{{ name }},
  coalesce(task_costs.spent_on_{{ name }}, 0e0) as spent_on_{{ name }},
  {%- endfor %}
  task_costs.spent_on_passes / nullif(task_costs.measured_passes, 0) as cost_of_pass,
  task_costs.spent_on_failures / nullif(task_costs.measured_failures, 0) as cost_of_failure,
  {#- Each kind of attempt that the task has must be measured at least once. #}
  counts.n > 0
  and (counts.c = 0 or coalesce(task_costs.measured_passes, 0) > 0)
  and (counts.c = counts.n or coalesce(task_costs.measured_failures, 0) > 0) as is_measured,
  (
    counts.c * coalesce(task_costs.spent_on_passes / nullif(task_costs.measured_passes, 0), 0e0)
    + (counts.n - counts.c) * coalesce(task_costs.spent_on_failures / nullif(task_costs.measured_failures, 0), 0e0)
  ) / nullif(counts.n, 0) as cost_of_attempt
from measured_runs
inner join {{ ref('int_passk__task_counts') }} as counts
  on measured_runs.run_id = counts.run_id and measured_runs.suite = counts.suite
left join task_costs
  on counts.run_id = task_costs.run_id
  and counts.suite = task_costs.suite
  and counts.task_id = task_costs.task_id
  and measured_runs.measure = task_costs.measure
where counts.slice_name = 'all' and counts.attempts > 0
