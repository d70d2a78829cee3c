{#- A task may get masks again once its duplicates are removed. #}
with changed_runs as (
  {{ passk.changed_runs(
    ref('int_passk__unmasked_tasks'),
    "made.slice_name = 'all' and made.c > 0 and made.c < made.attempts - made.excluded",
    is_wanted=passk._setting('passk_diagnostics') and passk._setting('passk_ordered_metrics')
  ) }}
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
    changed_runs.log_version,
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
)

select
  run_id,
  suite,
  task_id,
  n,
  c,
  cast(sum(case when outcome <> previous then 1 else 0 end) as {{ dbt.type_bigint() }}) as switches,
  cast(sum(case when outcome = 'passed' then place else 0 end) as {{ dbt.type_bigint() }}) as rank_sum,
  {{ passk._counted_attempts() }} as counted_attempts,
  {{ passk._mask("outcome = 'passed'") }} as pass_mask,
  log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from placed
group by run_id, suite, task_id, n, c, log_version
