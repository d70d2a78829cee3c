"""The costs of runs, beside their reliability."""

from __future__ import annotations

from typing import Final

from passk_py.reports.superset.dashboards.dashboard_parts import (
    Dashboard,
    Filter,
    filter_of_first,
    filter_of_k,
)
from passk_py.reports.superset.datasets import COST
from passk_py.reports.superset.superset_charts import table

_ORDER: Final = (("called", True), ("ordered_at", False), ("run_id", False))

COSTS: Final = Dashboard(
    "costs",
    "Costs of runs in dollars, seconds or tokens, where the log has them. Limits are those for "
    "tasks like these. Without costs, a table has no results.",
    (
        (
            table(
                "Cost of attempts and successes",
                "costs",
                {
                    "run_id": "run",
                    "called": "measure",
                    "mean": "an attempt",
                    "p95": "95 % of attempts",
                    "per_success": "a success",
                    "per_success_lower": "from",
                    "per_success_upper": "to",
                    "share_on_failures": "spent on failures",
                    "null_reason": "why not known",
                },
                order=_ORDER,
                formats={
                    COST: ("mean", "p95", "per_success", "per_success_lower", "per_success_upper"),
                    ".1%": ("share_on_failures",),
                },
                text="A success: all that was spent, on failed attempts too, over the passes. "
                "Not filtered by k.",
            ),
        ),
        (
            table(
                "Cost of tasks, retried or always right",
                "costs over k",
                {
                    "run_id": "run",
                    "called": "measure",
                    "k": "k",
                    "cost_per_solved": "per task solved",
                    "cost_per_solved_lower": "from",
                    "cost_per_solved_upper": "to",
                    "cost_per_reliable": "per task always right",
                    "cost_per_reliable_lower": "from",
                    "cost_per_reliable_upper": "to",
                    "null_reason": "why not known",
                },
                order=_ORDER,
                formats={
                    COST: (
                        "cost_per_solved",
                        "cost_per_solved_lower",
                        "cost_per_solved_upper",
                        "cost_per_reliable",
                        "cost_per_reliable_lower",
                        "cost_per_reliable_upper",
                    )
                },
                text="Solved: retried until it passes, at most k times. Always right: all of k "
                "tries pass.",
            ),
        ),
        (
            table(
                "pass^k and cost, unbeaten runs first",
                "frontier",
                {
                    "run_id": "run",
                    "called": "measure",
                    "k": "k",
                    "pass_hat_k": "pass^k",
                    "pass_hat_k_lower": "from",
                    "pass_hat_k_upper": "to",
                    "mean_cost": "an attempt",
                    "mean_cost_lower": "from",
                    "mean_cost_upper": "to",
                    "meaning": "what it means",
                },
                order=(
                    ("called", True),
                    ("is_on_frontier", False),
                    ("mean_cost", True),
                    ("run_id", True),
                ),
                formats={
                    ".1%": ("pass_hat_k", "pass_hat_k_lower", "pass_hat_k_upper"),
                    COST: ("mean_cost", "mean_cost_lower", "mean_cost_upper"),
                },
                text="Unbeaten: no other run is as good on both and better on one, by the "
                "estimates.",
            ),
        ),
    ),
    (44, 44, 50),
    (
        filter_of_first("Suite", "points", "suite"),
        Filter("Agent", "points", "agent", within=("Suite",)),
        # Not always chosen: without costs it has no values, and Superset would wait for one.
        Filter("Measure", "costs", "called", within=("Suite",)),
        filter_of_k(),
    ),
)
