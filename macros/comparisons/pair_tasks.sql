{#- The tasks of pairs of runs, from CTEs `pairs` (pair_number, suite, baseline_run_id, candidate_run_id) and `counts` (run_id,
    suite, task_id, family, n, c): rows (pair_number, task_id, family, baseline_n, baseline_c, candidate_n, candidate_c), with
    nulls on the side that does not have the task. The baseline names the family, or else the candidate. -#}
{% macro _pair_tasks() -%}
select
  coalesce(baseline_tasks.pair_number, candidate_tasks.pair_number) as pair_number,
  coalesce(baseline_tasks.task_id, candidate_tasks.task_id) as task_id,
  coalesce(baseline_tasks.family, candidate_tasks.family) as family,
  baseline_tasks.n as baseline_n,
  baseline_tasks.c as baseline_c,
  candidate_tasks.n as candidate_n,
  candidate_tasks.c as candidate_c
from (
  {{ passk._tasks_of_side('baseline') }}
) as baseline_tasks
full outer join (
  {{ passk._tasks_of_side('candidate') }}
) as candidate_tasks
  on baseline_tasks.pair_number = candidate_tasks.pair_number and baseline_tasks.task_id = candidate_tasks.task_id
{%- endmacro %}


{% macro _tasks_of_side(side) -%}
select
    pairs.pair_number,
    counts.task_id,
    counts.family,
    counts.n,
    counts.c
  from pairs
  inner join counts
    on pairs.{{ side }}_run_id = counts.run_id and pairs.suite = counts.suite
{%- endmacro %}
