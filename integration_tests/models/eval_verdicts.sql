-- Verdicts of judges: one that mostly says what the harness said, three times, and one that is often of another opinion.
with results as (
  select
    release,
    benchmark,
    case_id,
    trial,
    is_resolved,
    line
  from {{ ref('eval_results') }}
),

gradings as (
  select 1 as grading
  union all
  select 2 as grading
  union all
  select 3 as grading
),

judged as (
  select
    results.release as run_id,
    results.benchmark as suite,
    results.case_id as task_id,
    results.trial as attempt,
    case
      when mod(results.line, 31) = 0 then 'unsure'
      when mod(results.line + gradings.grading, 7) = 0 then case when results.is_resolved then 'false' else 'true' end
      when results.is_resolved then 'true'
      else 'false'
    end as verdict,
    case when mod(results.line, 37) = 0 then 'log' else 'gpt' end as judge,
    10 * results.line + gradings.grading as source_line
  from results
  cross join gradings
  where mod(results.line, 4) > 0
)

select *
from judged
union all
select
  run_id,
  suite,
  task_id,
  attempt + case when mod(source_line, 41) = 0 then 100 else 0 end as attempt,
  case when mod(source_line, 3) = 0 then 'fail' else verdict end as verdict,
  null as judge,
  100000 + source_line as source_line
from judged
where mod(source_line, 10) = 1
