{#- The tasks that both runs of a pair have, from CTEs `pairs` (pair_number, suite, baseline_run_id, candidate_run_id, pair_source,
    slice_name) and `counts` (run_id, suite, task_id, slice_name, family, n, c): rows (pair_number, task_id, family, baseline_n, baseline_c, candidate_n, candidate_c),
    with the family that the baseline names, or else the candidate. All pairs of many runs are many times the log, so no side of the
    join has them all. -#}
{% macro _pair_tasks() -%}
select
  pairs.pair_number,
  baseline_tasks.task_id,
  coalesce(baseline_tasks.family, candidate_tasks.family) as family,
  baseline_tasks.n as baseline_n,
  baseline_tasks.c as baseline_c,
  candidate_tasks.n as candidate_n,
  candidate_tasks.c as candidate_c
from pairs
inner join counts as baseline_tasks
  on pairs.baseline_run_id = baseline_tasks.run_id
  and pairs.suite = baseline_tasks.suite
  and pairs.slice_name = baseline_tasks.slice_name
inner join counts as candidate_tasks
  on pairs.candidate_run_id = candidate_tasks.run_id
  and pairs.suite = candidate_tasks.suite
  and baseline_tasks.task_id = candidate_tasks.task_id
  and pairs.slice_name = candidate_tasks.slice_name
{%- endmacro %}
