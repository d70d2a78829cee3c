"""Costs of runs, and runs that no other beats on both cost and reliability."""

from __future__ import annotations

from typing import Final

from passk_py.reports.superset.datasets.dataset_parts import (
    AGED_RUNS,
    ROWS,
    Column,
    Dataset,
    limited,
    point,
)

COST: Final = ",.3r"
"""Dollars, seconds and tokens alike: three digits, in d3's notation."""

_OF_RUNS: Final = f"""\
select
  costs.*,
  case costs.measure
    when 'cost_usd' then 'cost, $'
    when 'duration_s' then 'time, s'
    else replace(costs.measure, '_', ' ')
  end as called,
  runs.ordered_at,
  runs.age
from {{table}} as costs
inner join ({AGED_RUNS}) as runs
  on costs.run_id = runs.run_id and costs.suite = runs.suite"""

_ADDED: Final = (
    Column("called", "string", "The measure with its unit."),
    Column("ordered_at", "timestamp", "When the run began, or else was loaded: its place in time."),
    Column("age", "bigint", "1 is the newest run of the suite and agent, 2 the one before."),
)

COST_DATASETS: Final = (
    Dataset(
        "costs",
        "passk_costs",
        (
            *limited("an attempt", "mean", "Mean cost of an attempt.", COST),
            *limited("95 % of attempts", "p95", "Cost that 95 % of attempts stay within.", COST),
            *limited("a success", "per_success", "All that was spent, over the passes.", COST),
            point("spent on failures", "share_on_failures", "Share spent on failed attempts."),
            ROWS,
        ),
        _OF_RUNS,
        _ADDED,
    ),
    Dataset(
        "costs over k",
        "passk_cost_curves",
        (
            *limited("tries", "tries", "Tries of a task that is retried.", COST),
            *limited("a solved task", "cost_per_solved", "Cost of a task solved by retries.", COST),
            *limited(
                "a reliable task",
                "cost_per_reliable",
                "Cost of a task that passes k in a row.",
                COST,
            ),
            ROWS,
        ),
        _OF_RUNS,
        _ADDED,
    ),
    Dataset(
        "frontier",
        "passk_frontier",
        (
            *limited("pass^k", "pass_hat_k", "All k tries succeed."),
            *limited("cost of an attempt", "mean_cost", "Mean cost of an attempt.", COST),
            ROWS,
        ),
        _OF_RUNS,
        _ADDED,
        ("beaten_by",),
    ),
)
