{%- set bigint = dbt.type_bigint() %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__tasks_by_count'), is_wanted=passk._setting('passk_diagnostics')) }}
),

counted as (
  select
    counts.run_id,
    counts.suite,
    counts.task_id,
    counts.family,
    max(counts.family) over (partition by counts.run_id, counts.suite) is not null as is_declared,
    {{ passk._as_double('counts.c') }} / counts.n as score
  from {{ ref('int_passk__task_counts') }} as counts
  inner join changed_runs
    on counts.run_id = changed_runs.run_id and counts.suite = changed_runs.suite
  inner join {{ ref('int_passk__read_tasks') }} as read_tasks
    on {{ passk._same_keys(['run_id', 'suite', 'task_id'], 'counts', 'read_tasks') }}
  where counts.slice_name = 'all' and counts.n > 0
),

{# Where the run's tasks have no families, they are grouped by what their names begin with. #}
scored as (
  select
    run_id,
    suite,
    task_id,
    is_declared,
    {#- A family that is not declared is what the name begins with, before digits and the marks between. #}
    case
      when is_declared then family
      else nullif({{ passk._without_end('task_id', '0123456789-_./:# ') }}, '')
    end as family,
    score
  from counted
),

means as (
  select
    run_id,
    suite,
    avg(score) as score
  from scored
  group by run_id, suite
),

centered as (
  select
    scored.run_id,
    scored.suite,
    scored.family,
    scored.is_declared,
    case when scored.family is null then scored.task_id end as lone_task,
    scored.score - means.score as surplus
  from scored
  inner join means
    on scored.run_id = means.run_id and scored.suite = means.suite
),

families as (
  select
    run_id,
    suite,
    is_declared,
    {{ passk._as_double('count(*)') }} as tasks,
    sum(surplus) as surplus,
    sum(surplus * surplus) as squares,
    sum(surplus * surplus * surplus * surplus) as fourths
  from centered
  group by run_id, suite, is_declared, family, lone_task
),

summed as (
  select
    run_id,
    suite,
    is_declared,
    cast(sum(tasks) as {{ bigint }}) as family_tasks,
    cast(count(*) as {{ bigint }}) as families,
    sum(tasks * tasks) as squares_of_sizes,
    sum(1 / tasks) as inverse_sizes,
    sum(squares) as squares,
    sum(fourths) as fourths,
    sum(surplus * surplus) as squares_of_sums,
    sum(surplus * surplus / tasks) as squares_between
  from families
  group by run_id, suite, is_declared
)

{#- A run without an eligible task has a row too. #}
select
  changed_runs.run_id,
  changed_runs.suite,
  coalesce(summed.family_tasks, 0) as family_tasks,
  coalesce(summed.families, 0) as families,
  coalesce(summed.is_declared, false) as is_declared,
  summed.squares_of_sizes,
  summed.inverse_sizes,
  summed.squares,
  summed.fourths,
  summed.squares_of_sums,
  summed.squares_between,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from changed_runs
left join summed
  on changed_runs.run_id = summed.run_id and changed_runs.suite = summed.suite
