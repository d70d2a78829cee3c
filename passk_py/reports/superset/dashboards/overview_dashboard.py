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
_HAT: Final = condition("metric", "==", "pass_hat_k")

OVERVIEW: Final = Dashboard(
    "overview",
    "The latest run of each agent. **pass@k**: at least one of k tries succeeds. "
    "**pass^k**: all k tries succeed. Both are means over the tasks of a suite, with limits for "
    "tasks like these. The order of runs and the trends are about pass^k.",
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
                "The order of runs by pass^k",
                "rankings",
                {
                    "run_id": "run",
                    "k": "k",
                    "estimate": "pass^k",
                    "lower": "from",
                    "upper": "to",
                    "rank_lower": "rank from",
                    "rank_upper": "rank to",
                    "ranked_runs": "of",
                    "best": "may be the best",
                    "estimate_of_top": "top without luck",
                },
                order=(("estimated_rank", True), ("run_id", True)),
                where=(_HAT, condition("estimate", "IS NOT NULL")),
                formats={".1%": ("estimate", "lower", "upper", "estimate_of_top")},
                text="The ranks that a run may have on these tasks, all of them together at the "
                "level of passk_confidence. Top without luck: the highest of many values is too "
                "high more often than too low; this one is not.",
            ),
        ),
        (
            table(
                "From run to run",
                "trends",
                {
                    "agent": "agent",
                    "k": "k",
                    "runs": "runs",
                    "trend": "trend",
                    "slope": "pass^k, each run",
                    "slope_lower": "from",
                    "slope_upper": "to",
                    "null_reason": "why not known",
                },
                order=(("agent", True), ("last_run_id", True)),
                where=(_HAT,),
                formats={"+.1%": ("slope", "slope_lower", "slope_upper")},
                text="A straight line through the latest runs of each agent. An agent with one "
                "run has none.",
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
    (36, 70, 44, 36, 36),
    (
        filter_of_first("Suite", "points", "suite"),
        Filter("Agent", "points", "agent", within=("Suite",)),
        filter_of_k(but_not=("pass@k and pass^k over k",)),
    ),
)
