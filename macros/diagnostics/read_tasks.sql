{#- Which tasks of a large run are read for what says more than their counts. -#}

{#- The rows of a run above which what was read of it is kept: a tenth of them, unless few tasks have so many, so that keeping
    costs little beside the log. A smaller run is read again. -#}
{% macro _most_reread_rows() -%}
  {{ return(10 * passk._most_read_attempts()) }}
{%- endmacro %}


{#- CTEs from one of tasks (run_id, suite, task_id, n) up to `read_tasks` (run_id, suite, task_id), those of which attempts are
    read.

    What is wrong with a log is wrong in many of its tasks, so that some thousands of attempts are enough: those of the tasks
    whose digests come first, because any other order may go by what the tasks are. -#}
{% macro _read_tasks(run_tasks) -%}
{%- set run = 'run_id, suite' -%}
{%- set task = 'run_id, suite, task_id' -%}
run_sizes as (
  select
    {{ run }},
    sum(n) as attempts
  from {{ run_tasks }} as run_tasks
  group by {{ run }}
),

digests as (
  select
    run_tasks.run_id,
    run_tasks.suite,
    run_tasks.task_id,
    run_tasks.n,
    {{ dbt.hash('run_tasks.task_id') }} as digest
  from {{ run_tasks }} as run_tasks
  inner join run_sizes
    on run_tasks.run_id = run_sizes.run_id and run_tasks.suite = run_sizes.suite
  where run_sizes.attempts > {{ passk._most_read_attempts() }}
),

{#- Counted by the first characters of their digests, so that only the tasks that may be read have to be sorted. #}
slots as (
  select
    {{ run }},
    substring(digest, 1, 2) as slot,
    sum(n) as attempts,
    count(*) as tasks
  from digests
  group by {{ run }}, substring(digest, 1, 2)
),

slot_sums as (
  select
    {{ run }},
    slot,
    sum(attempts) over (partition by {{ run }} order by slot rows unbounded preceding) as attempts,
    sum(tasks) over (partition by {{ run }} order by slot rows unbounded preceding) as tasks
  from slots
),

last_slots as (
  select
    {{ run }},
    min(case
      when attempts > {{ passk._most_read_attempts() }} and tasks >= {{ passk._least_read_tasks() }} then slot
    end) as slot
  from slot_sums
  group by {{ run }}
),

ranked_tasks as (
  select
    digests.run_id,
    digests.suite,
    digests.task_id,
    digests.n,
    row_number() over (
      partition by digests.run_id, digests.suite
      order by digests.digest, {{ passk._by_bytes('digests.task_id') }}
    ) as place
  from digests
  inner join last_slots
    on digests.run_id = last_slots.run_id and digests.suite = last_slots.suite
  where last_slots.slot is null or substring(digests.digest, 1, 2) <= last_slots.slot
),

placed_tasks as (
  select
    {{ task }},
    place,
    sum(n) over (partition by {{ run }} order by place rows unbounded preceding) as attempts
  from ranked_tasks
),

read_tasks as (
  select {{ task }}
  from placed_tasks
  where attempts <= {{ passk._most_read_attempts() }} or place <= {{ passk._least_read_tasks() }}
  union all
  select
    run_tasks.run_id,
    run_tasks.suite,
    run_tasks.task_id
  from {{ run_tasks }} as run_tasks
  inner join run_sizes
    on run_tasks.run_id = run_sizes.run_id and run_tasks.suite = run_sizes.suite
  where run_sizes.attempts <= {{ passk._most_read_attempts() }}
)
{%- endmacro %}


{#- 1 for an attempt that passed, else 0. -#}
{% macro _passed(relation) -%}
cast(case when {{ relation }}.outcome = 'passed' then 1 else 0 end as {{ dbt.type_bigint() }})
{%- endmacro %}


{#- 1 for an attempt of a test that was tried again because it failed, else 0: the tag says how often it was. -#}
{% macro _tried_again(relation) -%}
cast(case when {{ passk._tag(relation ~ '.tags', 'reruns') }} <> '0' then 1 else 0 end as {{ dbt.type_bigint() }})
{%- endmacro %}


{#- What is read of an attempt, as columns of a relation: of the log, or of what was read before. -#}
{% macro _read_columns(relation, is_kept=false) -%}
{%- for column in ['run_id', 'suite', 'task_id', 'seed', 'output_hash', 'started_at'] -%}
{{ relation }}.{{ column }},
    {% endfor -%}
{{ relation ~ '.tried_again' if is_kept else passk._tried_again(relation) ~ ' as tried_again' }},
    {{ relation ~ '.passed' if is_kept else passk._passed(relation) ~ ' as passed' }}
{%- endmacro %}


{#- Where the attempts of a relation of tasks are in the log. By one column first, which is cheap and leaves few to compare by all
    three. -#}
{% macro _from_log(tasks, plan) -%}
from {{ ref('int_passk__attempts') }} as attempts
  inner join {{ tasks }} as wanted_tasks
    on {{ passk._same_keys(['run_id', 'suite', 'task_id'], 'attempts', 'wanted_tasks') }}
  where
    attempts.outcome <> 'excluded'
    and attempts.task_id in (select few.task_id from {{ tasks }} as few)
    and {{ passk._is_among(plan, 'attempts.run_id') }}
{%- endmacro %}


{#- What int_passk__read_attempts is made of. First the CTEs up to `read_tasks`, of the runs that its plan says. -#}
{% macro _chosen_tasks(keys, wanted, plan) -%}
runs as (
  {{ passk._to_make(keys, wanted, plan) }}
),

run_tasks as (
  select
    counts.run_id,
    counts.suite,
    counts.task_id,
    counts.n,
    counts.copies
  from {{ ref('int_passk__task_counts') }} as counts
  inner join runs
    on counts.run_id = runs.run_id and counts.suite = runs.suite
  where counts.slice_name = 'all' and counts.attempts > 0
),

{{ passk._read_tasks('run_tasks') }}
{%- endmacro %}


{#- CTEs after `read_tasks`: the attempts that the table has, `kept`, and those that landed since, `arrived`; which of the tasks
    have all of their attempts in these, and which are `lacking_tasks`. -#}
{% macro _known_attempts(since, has_removed) -%}
{%- set task = ['run_id', 'suite', 'task_id'] -%}
kept as (
  select
    {{ passk._read_columns('kept', is_kept=true) }},
    kept.loaded_at
  from {{ this }} as kept
  inner join read_tasks
    on {{ passk._same_keys(task, 'kept', 'read_tasks') }}
),

arrived as (
  select
    {{ passk._read_columns('staged') }},
    staged.loaded_at
  from {{ ref('stg_passk__attempts') }} as staged
  inner join read_tasks
    on {{ passk._same_keys(task, 'staged', 'read_tasks') }}
  where staged.reject_reason is null and staged.outcome <> 'excluded' and {{ passk._arrived_after(since) }}
),

found_tasks as (
  select
    {{ task | join(', ') }},
    count(*) as n
  from (
    select {{ task | join(', ') }} from kept
    union all
    select {{ task | join(', ') }} from arrived
  ) as found
  group by {{ task | join(', ') }}
),

{#- As many as there must be: no attempt that is found has gone, unless its task is named as one that lost some. #}
whole_tasks as (
  select
    run_tasks.run_id,
    run_tasks.suite,
    run_tasks.task_id
  from run_tasks
  inner join found_tasks
    on {{ passk._same_keys(task, 'run_tasks', 'found_tasks') }} and run_tasks.n = found_tasks.n
  where
    run_tasks.copies = 0
    {%- if has_removed %}
    and not exists (
      select 1
      from ({{ passk._removed(task, since) }}) as removed
      where {{ passk._same_keys(task, 'removed', 'run_tasks') }}
    )
    {%- endif %}
),

lacking_tasks as (
  select
    read_tasks.run_id,
    read_tasks.suite,
    read_tasks.task_id
  from read_tasks
  inner join run_tasks
    on {{ passk._same_keys(task, 'read_tasks', 'run_tasks') }}
  left join whole_tasks
    on {{ passk._same_keys(task, 'read_tasks', 'whole_tasks') }}
  where whole_tasks.task_id is null and run_tasks.n > 0
)
{%- endmacro %}


{#- Tasks whose kept attempts are replaced: `lacking`, by those of the log, or `dropped`, because they are read no more. -#}
{% macro _replaced_tasks(keys, wanted, plan, since, has_removed) -%}
{%- set task = ['run_id', 'suite', 'task_id'] -%}
with {{ passk._chosen_tasks(keys, wanted, plan) }},

{{ passk._known_attempts(since, has_removed) }}

select
  {{ task | join(', ') }},
  'lacking' as kind
from lacking_tasks
union all
select
  replaced.run_id,
  replaced.suite,
  replaced.task_id,
  'dropped' as kind
from ({{ passk._tasks_of_runs(this, plan.changed) }}) as replaced
left join read_tasks
  on {{ passk._same_keys(task, 'replaced', 'read_tasks') }}
where read_tasks.task_id is null and replaced.task_id <> ''
{%- endmacro %}


{#- The tasks that a relation has of the runs that the query `changed` gives. -#}
{% macro _tasks_of_runs(relation, changed) -%}
select distinct
  kept.run_id,
  kept.suite,
  kept.task_id
from {{ relation }} as kept
inner join ({{ changed }}) as changed
  on kept.run_id = changed.run_id and kept.suite = changed.suite
{%- endmacro %}
