"""The tasks of a suite over its runs."""

from __future__ import annotations

from typing import Final

from passk_py.reports.superset.dashboards.dashboard_parts import (
    ESTIMATES,
    Dashboard,
    Filter,
    filter_of_first,
    filter_of_k,
)
from passk_py.reports.superset.superset_charts import condition, heat_map, table

# Pictures can't show more runs and tasks; the tables beside them have all.
_MOST_RUNS: Final = 16
_MOST_TASKS: Final = 40
_ORDER: Final = (("ordered_at", False), ("run_id", False))

TASKS: Final = Dashboard(
    "tasks",
    "Which tasks fail in which runs, and one task over the runs. The map has at most the "
    f"{_MOST_TASKS} tasks that fail most and the {_MOST_RUNS} newest runs. Light: no attempt "
    "failed. Dark: all failed.",
    (
        (
            table(
                "One task over the runs",
                "points of tasks",
                {"run_id": "run", "task_id": "task", "k": "k", **ESTIMATES},
                order=_ORDER,
                formats={".1%": tuple(ESTIMATES)},
            ),
        ),
        (
            table(
                "How much was counted",
                "points of tasks",
                {
                    "run_id": "run",
                    "c": "passed",
                    "n": "of",
                    "excluded": "excluded",
                    "null_reason": "why a metric is not known",
                },
                order=_ORDER,
            ),
        ),
        (
            heat_map(
                "The share of attempts that failed",
                "tasks",
                "failed",
                x="run",
                y="task",
                where=(
                    condition("place", "<=", _MOST_TASKS),
                    condition("age_in_suite", "<=", _MOST_RUNS),
                    condition("n", ">", 0),
                ),
                text="Light: none failed. Dark: all failed. Not filtered by task or k.",
            ),
        ),
    ),
    (40, 30, 115),
    (
        filter_of_first("Suite", "points", "suite"),
        Filter(
            "Task",
            "tasks",
            "task_id",
            "hardest first",
            must_choose=True,
            within=("Suite",),
            but_not=("The share of attempts that failed",),
        ),
        filter_of_k(but_not=("The share of attempts that failed",)),
    ),
)
