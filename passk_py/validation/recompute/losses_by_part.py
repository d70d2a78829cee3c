"""``passk_lost_reliability``, computed from attempts in polars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from passk_py.metrics.causes.lost_shares import LOST_TYPES, PART, counted_parts, lost_rows
from passk_py.validation.parity import Recomputed
from passk_py.validation.recompute.approximations import SIZE
from passk_py.validation.recompute.metrics import QUANTILE
from passk_py.validation.recompute.runs import RUN

if TYPE_CHECKING:
    from passk_py.warehouse.settings import Settings


def parts(log: pl.LazyFrame, settings: Settings) -> pl.DataFrame:
    """Count the failures of tasks by cause, slice and family: all that the table is made from."""
    slices = {name: f"slice_{number}" for number, name in enumerate(settings.declared_slices, 1)}
    return counted_parts(log, slices, settings.cluster, settings.causes)


def lost_reliability(parts: pl.DataFrame, settings: Settings) -> Recomputed:
    """Compute the table from the counts of some runs."""
    rows = lost_rows(
        parts,
        settings.ks,
        min_eligible_share=settings.min_eligible_share,
        confidence=settings.confidence,
    )
    types: dict[str, type[pl.DataType]] = {**dict.fromkeys(RUN, pl.String), **LOST_TYPES}
    counts = ("eligible_tasks", "total_tasks", "failing_tasks", "failed_attempts")
    return Recomputed(
        pl.DataFrame(list(rows), schema=types, orient="row"),
        (*RUN, *PART, "k"),
        (*counts, "excluded_attempts", "null_reason", "caveat"),
        {
            **dict.fromkeys(("pass_hat_k", "lost", "lost_share", "effective_draws")),
            **dict.fromkeys(("lost_share_lower", "lost_share_upper"), QUANTILE),
            "pass_hat_k_if_passed": SIZE,
        },
    )
