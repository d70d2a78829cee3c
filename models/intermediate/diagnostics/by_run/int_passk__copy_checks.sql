{%- set run = 'run_id, suite' %}
{%- set task = 'run_id, suite, task_id' %}
{%- set bigint = dbt.type_bigint() %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__read_tasks'), is_wanted=passk._setting('passk_diagnostics')) }}
),

attempts as (
  select
    attempts.run_id,
    attempts.suite,
    attempts.task_id,
    attempts.seed,
    attempts.output_hash,
    {#- 1 for an attempt of a test that was tried again because it failed; the tag holds the number of repetitions. #}
    cast(case when {{ passk._tag('attempts.tags', 'reruns') }} <> '0' then 1 else 0 end as {{ bigint }}) as tried_again,
    cast(case when attempts.outcome = 'passed' then 1 else 0 end as {{ bigint }}) as passed
  from {{ ref('int_passk__read_attempts') }} as attempts
  inner join changed_runs
    on attempts.run_id = changed_runs.run_id and attempts.suite = changed_runs.suite
  where attempts.seed is not null or attempts.output_hash is not null or attempts.tags is not null
),

seed_groups as (
  select
    {{ task }},
    seed,
    count(*) as copies
  from attempts
  where seed is not null
  group by {{ task }}, seed
),

seed_tasks as (
  select
    {{ task }},
    sum(copies) as attempts,
    count(*) as distinct_seeds
  from seed_groups
  group by {{ task }}
),

seeds as (
  select
    {{ run }},
    cast(sum(case when attempts > 1 then 1 else 0 end) as {{ bigint }}) as seed_tasks,
    cast(sum(case when attempts > 1 then attempts else 0 end) as {{ bigint }}) as seed_attempts,
    cast(sum(attempts - distinct_seeds) as {{ bigint }}) as repeated_seeds,
    cast(sum(case when distinct_seeds < attempts then 1 else 0 end) as {{ bigint }}) as repeated_seed_tasks
  from seed_tasks
  group by {{ run }}
),

output_groups as (
  select
    {{ task }},
    output_hash,
    count(*) as copies,
    sum(passed) as passes
  from attempts
  where output_hash is not null
  group by {{ task }}, output_hash
),

output_tasks as (
  select
    {{ task }},
    sum(copies) as attempts,
    count(*) as distinct_outputs,
    sum(copies * (copies - 1) / 2) as pairs,
    sum(passes * (copies - passes)) as disagreements
  from output_groups
  group by {{ task }}
),

outputs as (
  select
    {{ run }},
    cast(sum(case when attempts > 1 then 1 else 0 end) as {{ bigint }}) as output_tasks,
    cast(sum(case when attempts > 1 then attempts else 0 end) as {{ bigint }}) as output_attempts,
    cast(sum(case when attempts > 1 then distinct_outputs else 0 end) as {{ bigint }}) as distinct_outputs,
    cast(sum(case when attempts > 1 and 2 * distinct_outputs <= attempts then 1 else 0 end) as {{ bigint }})
      as copied_tasks,
    cast(sum(case when attempts > 1 and distinct_outputs = 1 then 1 else 0 end) as {{ bigint }}) as same_output_tasks,
    cast(sum(case when pairs > 0 then 1 else 0 end) as {{ bigint }}) as graded_twice_tasks,
    cast(sum(pairs) as {{ bigint }}) as pairs,
    cast(sum(disagreements) as {{ bigint }}) as disagreements
  from output_tasks
  group by {{ run }}
),

tried_tasks as (
  select
    {{ task }},
    max(tried_again) as tried_again
  from attempts
  group by {{ task }}
),

retries as (
  select
    {{ run }},
    cast(sum(tried_again) as {{ bigint }}) as tried_again_tasks
  from tried_tasks
  group by {{ run }}
),

read_counts as (
  select
    tasks.run_id,
    tasks.suite,
    cast(count(*) as {{ bigint }}) as read_tasks
  from {{ ref('int_passk__read_tasks') }} as tasks
  inner join changed_runs
    on tasks.run_id = changed_runs.run_id and tasks.suite = changed_runs.suite
  group by tasks.run_id, tasks.suite
)

select
  changed_runs.run_id,
  changed_runs.suite,
  read_counts.read_tasks,
  {%- for name in ['seed_tasks', 'seed_attempts', 'repeated_seeds', 'repeated_seed_tasks'] %}
  seeds.{{ name }},
  {%- endfor %}
  {%- for name in [
    'output_tasks', 'output_attempts', 'distinct_outputs', 'copied_tasks', 'same_output_tasks', 'graded_twice_tasks', 'pairs',
    'disagreements'
  ] %}
  outputs.{{ name }},
  {%- endfor %}
  {#- A run whose log does not record retries has no known retries. #}
  nullif(retries.tried_again_tasks, 0) as tried_again_tasks,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from changed_runs
inner join read_counts
  on changed_runs.run_id = read_counts.run_id and changed_runs.suite = read_counts.suite
left join seeds
  on changed_runs.run_id = seeds.run_id and changed_runs.suite = seeds.suite
left join outputs
  on changed_runs.run_id = outputs.run_id and changed_runs.suite = outputs.suite
left join retries
  on changed_runs.run_id = retries.run_id and changed_runs.suite = retries.suite
