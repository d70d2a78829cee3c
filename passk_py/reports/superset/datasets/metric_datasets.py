"""Runs, tasks, and their metrics."""

from __future__ import annotations

from typing import Final

from passk_py.reports.superset.datasets.dataset_parts import (
    AGED_RUNS,
    DEPLOYMENT_FIRST,
    IS_DEPLOYMENT_K,
    LONGEST,
    NEWEST_FIRST,
    ROWS,
    RUN_COLUMNS,
    Column,
    Dataset,
    Metric,
    band,
    estimates,
    first,
    label,
    limited,
    point,
    total,
)

_POINTS: Final = f"""\
select
  metrics.*,
  {label("metrics.run_id", "runs.age_in_suite")} as run,
  runs.ordered_at,
  runs.age,
  runs.age_in_suite,
  runs.suite_age,
  case when metrics.k = deployment.k then 1 else 0 end as is_deployment_k,
  coalesce(metrics.reading, metrics.null_reason) as judgement
from {{schema}}passk_suite_metrics as metrics
inner join ({AGED_RUNS}) as runs
  on metrics.run_id = runs.run_id and metrics.suite = runs.suite
cross join (select max(k) as k from {{schema}}passk_tasks) as deployment
where metrics.slice_name = 'all'"""

_TASKS: Final = f"""\
select
  tasks.*,
  {label("tasks.run_id", "runs.age_in_suite")} as run,
  {label("tasks.task_id", "hardest.place")} as task,
  runs.ordered_at,
  runs.age,
  runs.age_in_suite,
  runs.suite_age,
  hardest.place
from {{schema}}passk_tasks as tasks
inner join ({AGED_RUNS}) as runs
  on tasks.run_id = runs.run_id and tasks.suite = runs.suite
left join (
  select
    suite,
    task_id,
    row_number() over (
      partition by suite
      order by cast(sum(c) as double precision) / sum(n), task_id
    ) as place
  from {{schema}}passk_tasks
  where n > 0
  group by suite, task_id
) as hardest
  on tasks.suite = hardest.suite and tasks.task_id = hardest.task_id"""

_TASK_POINTS: Final = f"""\
select
  metrics.*,
  runs.ordered_at
from {{schema}}passk_task_metrics as metrics
inner join ({AGED_RUNS}) as runs
  on metrics.run_id = runs.run_id and metrics.suite = runs.suite"""

METRIC_DATASETS: Final = (
    Dataset(
        "points",
        "passk_suite_metrics",
        (
            *estimates("as a mean over the tasks of a suite"),
            *limited("delta_k", "delta_k", "How unequal the tasks are."),
            *band("pass@k", "pass_at_k"),
            *band("pass^k", "pass_hat_k"),
            DEPLOYMENT_FIRST,
            NEWEST_FIRST,
            ROWS,
        ),
        _POINTS,
        (
            *RUN_COLUMNS,
            IS_DEPLOYMENT_K,
            Column("judgement", "string", "The reading, or why there is none."),
        ),
    ),
    Dataset(
        "runs",
        "passk_runs",
        (
            total("tasks", "tasks", "Tasks, added over runs."),
            total("attempts", "attempts", "Attempts, added over runs."),
            total("counted attempts", "n", "Attempts that passed or failed, added over runs."),
            total("passed attempts", "c", "Attempts that passed, added over runs."),
            total("excluded attempts", "excluded", "Attempts that don't count, added over runs."),
            ROWS,
        ),
    ),
    Dataset(
        "tasks",
        "passk_tasks",
        (
            point("passed", "pass_rate", "The share of a task's counted attempts that passed."),
            point("failed", "1 - pass_rate", "The share of a task's counted attempts that failed."),
            point("pass@k", "pass_at_k", "At least one of k tries succeeds."),
            point("pass^k", "pass_hat_k", "All k tries succeed."),
            Metric("tasks", "count(*)", "How many tasks.", ",d"),
            first("hardest first", "suite_age", "place"),
        ),
        _TASKS,
        (
            *RUN_COLUMNS,
            Column(
                "task",
                "string",
                f"The task_id, on axes; one of more than {LONGEST} characters as its two ends and "
                "place.",
            ),
            Column("place", "bigint", "1 is the task of the suite that fails most over all runs."),
        ),
    ),
    Dataset(
        "points of tasks",
        "passk_task_metrics",
        (*estimates("of one task"), ROWS),
        _TASK_POINTS,
        (Column("ordered_at", "timestamp", "When the run began, or else was loaded."),),
    ),
)
