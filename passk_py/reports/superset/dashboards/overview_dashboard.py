"""The latest run of each agent."""

from __future__ import annotations

from typing import Final

from passk_py.reports.superset.dashboards.dashboard_parts import (
    ESTIMATES,
    Dashboard,
    Filter,
    filter_of_k,
    filter_of_newest,
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
                    "total_tasks": "tasks",
                    "attempts": "attempts",
                    "excluded": "excluded",
                },
                order=(("run_id", True),),
                where=(_NEWEST,),
                formats={".1%": tuple(ESTIMATES)},
            ),
        ),
        (
            *(
                curves(
                    f"{metric} over k",
                    "points",
                    metric,
                    by="run",
                    where=(_NEWEST,),
                    text="The latest run of each agent, at most eight. Not filtered by k.",
                )
                for metric in ("pass@k", "pass^k")
            ),
        ),
    ),
    (40, 50),
    (
        filter_of_newest("Suite", "points", "suite"),
        Filter("Agent", "points", "agent", within=("Suite",)),
        filter_of_k(but_not=("pass@k over k", "pass^k over k")),
    ),
)
