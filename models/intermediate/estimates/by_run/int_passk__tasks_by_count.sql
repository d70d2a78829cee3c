{%- set bigint = dbt.type_bigint() %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__runs'), 'upstream.task_rows > 0') }}
)

select
  counts.run_id,
  counts.suite,
  counts.slice_name,
  counts.slice_value,
  counts.n,
  counts.c,
  cast(count(*) as {{ bigint }}) as tasks,
  cast(sum(counts.attempts) as {{ bigint }}) as attempts,
  cast(sum(counts.excluded) as {{ bigint }}) as excluded,
  cast(sum(case when counts.c = 1 and counts.first_pass_rank = counts.n then 1 else 0 end) as {{ bigint }}) as ended_by_pass,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from {{ ref('int_passk__task_counts') }} as counts
inner join changed_runs
  on counts.run_id = changed_runs.run_id and counts.suite = changed_runs.suite
where counts.attempts > 0
group by
  counts.run_id,
  counts.suite,
  counts.slice_name,
  counts.slice_value,
  counts.n,
  counts.c,
  changed_runs.log_version
