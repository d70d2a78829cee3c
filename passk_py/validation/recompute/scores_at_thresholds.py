"""``passk_threshold_metrics``, computed from the scores of attempts in polars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from passk_py.metrics.score_thresholds import (
    SCORED_PLACE,
    THRESHOLD_TYPES,
    scored_tasks,
    threshold_rows,
)
from passk_py.validation.parity import Recomputed
from passk_py.validation.recompute.metrics import QUANTILE

if TYPE_CHECKING:
    from passk_py.warehouse.settings import Settings


def counts(log: pl.LazyFrame, settings: Settings) -> pl.DataFrame:
    """Count the scores of tasks that reach each threshold: all that the table is made from."""
    slices = {name: f"slice_{number}" for number, name in enumerate(settings.slices, 1)}
    return scored_tasks(log, settings.score_thresholds, slices, settings.cluster)


def threshold_metrics(tasks: pl.DataFrame, settings: Settings) -> Recomputed:
    """Compute the table from the counts of some runs."""
    rows = threshold_rows(
        tasks,
        settings.ks,
        by_family=settings.cluster is not None,
        min_eligible_share=settings.min_eligible_share,
        confidence=settings.confidence,
    )
    attempts = ("counted_attempts", "scored_attempts", "passes")
    return Recomputed(
        pl.DataFrame(list(rows), schema=THRESHOLD_TYPES, orient="row"),
        (*SCORED_PLACE, "metric", "k"),
        (
            *attempts,
            *("eligible_tasks", "total_tasks", "least_n", "families", "null_reason", "caveat"),
        ),
        {
            **dict.fromkeys(
                ("coverage", "effective_families", "estimate", "suite_lower", "suite_upper")
            ),
            **dict.fromkeys(("lower", "upper"), QUANTILE),
        },
    )
