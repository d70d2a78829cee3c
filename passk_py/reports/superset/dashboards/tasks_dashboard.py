"""The tasks of a suite over its runs."""

from __future__ import annotations

from typing import Final

from passk_py.reports.superset.dashboards.dashboard_parts import (
    ESTIMATES,
    Dashboard,
    Filter,
    filter_of_k,
    filter_of_newest,
)
from passk_py.reports.superset.superset_charts import condition, heat_map, table

# Of these, pictures can show no more: the tables beside them have all.
_MOST_RUNS: Final = 16
_MOST_TASKS: Final = 60

TASKS: Final = Dashboard(
    "tasks",
    "Which tasks fail in which runs, and one task over the runs. The map has at most the "
    f"{_MOST_TASKS} tasks that fail most and the {_MOST_RUNS} newest runs.",
    (
        (
            table(
                "One task over the runs",
                "points of tasks",
                {
                    "run_id": "run",
                    "task_id": "task",
                    "c": "passed",
                    "n": "of",
                    "excluded": "excluded",
                    "k": "k",
                    **ESTIMATES,
                    "null_reason": "why not known",
                },
                order=(("ordered_at", False), ("run_id", False)),
                formats={".1%": tuple(ESTIMATES)},
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
                text="Not filtered by task or k.",
            ),
        ),
    ),
    (40, 130),
    (
        filter_of_newest("Suite", "points", "suite"),
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
