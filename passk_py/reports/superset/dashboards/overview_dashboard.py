"""The latest run of each agent."""

from __future__ import annotations

from typing import Final

from passk_py.reports.superset.dashboards.dashboard_parts import (
    ESTIMATES,
    Dashboard,
    Filter,
    filter_of_first,
    filter_of_k,
)
from passk_py.reports.superset.superset_charts import condition, curves, table

_NEWEST: Final = condition("age", "==", 1)

OVERVIEW: Final = Dashboard(
    "overview",
    "The latest run of each agent. **pass@k**: at least one of k tries succeeds. "
    "**pass^k**: all k tries succeed. Both are means over the tasks of a suite, with limits for "
    "tasks like these.",
    (
        (
            table(
                "The latest run of each agent",
                "points",
                {
                    "run_id": "run",
                    "agent": "agent",
                    "k": "k",
                    **ESTIMATES,
                    "judgement": "reading",
                },
                order=(("run_id", True),),
                where=(_NEWEST,),
                formats={".1%": tuple(ESTIMATES)},
            ),
        ),
        (
            curves(
                "pass@k and pass^k over k",
                where=(_NEWEST,),
                text="pass@k with dots, pass^k without. The latest run of each agent, at most "
                "six. Not filtered by k.",
            ),
        ),
        (
            table(
                "How much was counted",
                "points",
                {
                    "run_id": "run",
                    "total_tasks": "tasks",
                    "eligible_tasks": "tasks with k attempts",
                    "attempts": "attempts",
                    "excluded": "excluded",
                },
                order=(("run_id", True),),
                where=(_NEWEST,),
            ),
        ),
    ),
    (36, 70, 36),
    (
        filter_of_first("Suite", "points", "suite"),
        Filter("Agent", "points", "agent", within=("Suite",)),
        filter_of_k(but_not=("pass@k and pass^k over k",)),
    ),
)
