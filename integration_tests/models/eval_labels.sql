-- Verdicts of people on some attempts: mostly what the harness said, now and then the opposite, twice, or no verdict at all.
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

sampled as (
  select
    release as run_id,
    benchmark as suite,
    case_id as task_id,
    trial + case when mod(line, 41) = 0 then 100 else 0 end as attempt,
    case
      when mod(line, 29) = 0 then 'unsure'
      when mod(line, 7) = 0 and is_resolved then 'fail'
      when mod(line, 13) = 0 then 'pass'
      when is_resolved then 'pass'
      else 'fail'
    end as verdict,
    'ann' as labeller,
    'labels.csv' as source_file,
    line as source_line
  from results
  where mod(line, 3) > 0
)

select *
from sampled
union all
select
  run_id,
  suite,
  task_id,
  attempt,
  case when mod(source_line, 2) = 0 then verdict else 'pass' end as verdict,
  'bob' as labeller,
  source_file,
  10000 + source_line as source_line
from sampled
where mod(source_line, 17) = 0
