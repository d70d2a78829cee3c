{#- The key of a log of attempts, at the cost of a group by task: a mask with as many bits as the task has rows proves that
    no number comes twice. Only tasks without such a proof are looked into, attempt by attempt. -#}
{% test passk_attempts_are_unique(model) %}
with tasks as (
  select
    run_id,
    suite,
    task_id,
    count(*) as attempts,
    {{ passk._mask('attempt >= 1') }} as attempt_mask
  from {{ model }}
  group by run_id, suite, task_id
),

unproven_tasks as (
  select
    run_id,
    suite,
    task_id
  from tasks
  where {{ passk._mask_count('attempt_mask') }} <> attempts
),

attempts as (
  select
    log.run_id,
    log.suite,
    log.task_id,
    log.attempt
  from {{ model }} as log
  inner join unproven_tasks
    on log.run_id = unproven_tasks.run_id
    and log.suite = unproven_tasks.suite
    and log.task_id = unproven_tasks.task_id
)

select
  run_id,
  suite,
  task_id,
  attempt,
  count(*) as copies
from attempts
group by run_id, suite, task_id, attempt
having count(*) > 1 or attempt is null
union all
select
  run_id,
  suite,
  task_id,
  cast(null as {{ dbt.type_bigint() }}) as attempt,
  attempts as copies
from tasks
where run_id is null or suite is null or task_id is null
{% endtest %}
