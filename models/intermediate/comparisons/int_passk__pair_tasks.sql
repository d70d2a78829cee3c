with pairs as (
  select
    suite,
    baseline_run_id,
    candidate_run_id,
    pair_source,
    slice_name,
    row_number() over (order by {{ passk._pair_keys() | join(', ') }}) as pair_number
  from {{ ref('int_passk__pairs') }}
  where pair_source <> 'ranking'
),

counts as (
  select
    run_id,
    suite,
    task_id,
    slice_name,
    family,
    n,
    c
  from {{ ref('int_passk__task_counts') }}
  where {{ passk._is_of_pairs() }} and attempts > 0
),

pair_tasks as (
  {{ passk._pair_tasks() }}
)

select
  pairs.suite,
  pairs.baseline_run_id,
  pairs.candidate_run_id,
  pairs.pair_source,
  pairs.slice_name,
  pair_tasks.pair_number,
  pair_tasks.task_id,
  pair_tasks.baseline_n,
  pair_tasks.baseline_c,
  pair_tasks.candidate_n,
  pair_tasks.candidate_c
from pair_tasks
inner join pairs
  on pair_tasks.pair_number = pairs.pair_number
