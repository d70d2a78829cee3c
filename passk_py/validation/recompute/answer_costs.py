"""The tables of costs and of lengths that an answer is read from, made without dbt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from passk_py.metrics.comparisons.compared_runs import with_agents
from passk_py.metrics.costs.cost_tables import table_of_costs
from passk_py.metrics.costs.frontier import table_of_frontier
from passk_py.metrics.costs.spending import MEASURES, measured_log, task_spending
from passk_py.metrics.costs.tails import cost_tails
from passk_py.metrics.difficulty.horizons import HORIZON_TYPES, horizon_rows
from passk_py.validation.recompute.costs import changes
from passk_py.validation.recompute.horizons_of_runs import lengths
from passk_py.validation.recompute.pairs import expected_pairs
from passk_py.validation.recompute.runs import RUN

if TYPE_CHECKING:
    from passk_py.warehouse.settings import Settings


def cost_columns(settings: Settings) -> list[str]:
    """Name the columns of an attempt that say its costs."""
    return list(dict.fromkeys(name for measure in settings.costs for name in MEASURES[measure]))


def tables_of_costs(
    log: pl.DataFrame, runs: pl.DataFrame, rankings: pl.DataFrame, settings: Settings
) -> dict[str, pl.DataFrame]:
    """Sum up what the runs cost, and put them beside each other; nothing where no attempt says it.

    ``rankings`` has the ranks at the k of the answer.
    """
    if all(log[name].null_count() == log.height for name in cost_columns(settings)):
        return {}
    measured = measured_log(log, settings.costs, 1.0, None)
    spending = task_spending(measured, settings.costs)
    costs = table_of_costs(
        spending,
        cost_tails(measured, spending, settings.costs, settings.confidence),
        min_eligible_share=settings.min_eligible_share,
        confidence=settings.confidence,
        by_family=False,
    )
    changed = changes(spending.lazy(), costs, expected_pairs(runs, settings), settings).frame
    return {
        "passk_costs": costs,
        "passk_cost_comparisons": with_agents(changed, runs).with_columns(
            loaded_at=pl.lit(None, pl.Datetime)
        ),
        "passk_frontier": table_of_frontier(rankings, costs),
    }


def table_of_horizons(log: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Find how long tasks may be at the deployment k: all that the answer reads of lengths."""
    rows = horizon_rows(
        lengths(log.lazy(), settings),
        ks=[settings.deployment_k],
        min_eligible_share=settings.min_eligible_share,
        confidence=settings.confidence,
    )
    types: dict[str, type[pl.DataType]] = {**dict.fromkeys(RUN, pl.String), **HORIZON_TYPES}
    return pl.DataFrame(list(rows), schema=types, orient="row").with_columns(
        difficulty=pl.lit(settings.difficulty_name, pl.String)
    )
