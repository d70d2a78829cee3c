"""``passk_diagnostics``, computed from attempts in polars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.diagnostics.diagnostics_table import judge, measure
from passk_py.validation.parity import Recomputed
from passk_py.validation.recompute.runs import RUN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.warehouse.settings import Settings

_ROUNDED: Final = pl.lit(1000.0)
"""The error of sums over tasks that cancel, in units of the tolerance."""

APPROXIMATED_P: Final = 1000 * pl.col("p") + 1e-280
"""The error of p, in units of the tolerance: the tail of SQL is an approximation, the error
of a deviate counts as often as it is large, and beyond 37 deviations SQL says 0."""

_SHARES: Final = (
    "duplicate_seeds",
    "duplicate_outputs",
    "noisy_grader",
    "temperature_zero",
    "retry_until_pass",
    "dominant_tasks",
)
"""Diagnostics whose statistic is a share."""


def diagnostics(log: pl.LazyFrame, settings: Settings) -> tuple[Recomputed, list[dict[str, Any]]]:
    """Compute what a run says by itself, and the rows for :func:`judged_diagnostics`."""
    if not settings.diagnostics:
        log = log.filter(pl.lit(value=False))
    rows = measure(
        log,
        k=settings.deployment_k,
        ordered=settings.ordered,
        cluster=settings.cluster,
    )
    types = {
        **dict.fromkeys((*RUN, "diagnostic"), pl.String()),
        **dict.fromkeys(("statistic", "p"), pl.Float64()),
        "tasks": pl.Int64(),
    }
    # Shares of tasks and attempts are quotients; the others are sums over tasks that cancel.
    share = pl.col("diagnostic").is_in(_SHARES)
    measured = Recomputed(
        pl.DataFrame(rows, schema=types),
        (*RUN, "diagnostic"),
        ("tasks",),
        {"statistic": pl.when(share).then(1.0).otherwise(_ROUNDED), "p": APPROXIMATED_P},
    )
    return measured, rows


def judged_diagnostics(
    rows: Sequence[dict[str, Any]], stored: pl.DataFrame, settings: Settings
) -> Recomputed:
    """Compute what follows from the p of all runs, SQL's, so that rounding can't tip a verdict."""
    known = {(row["suite"], row["run_id"], row["diagnostic"]): row for row in rows}
    every = []
    for told in stored.to_dicts():
        row = known.get((told["suite"], told["run_id"], told["diagnostic"]))
        decided = told["verdict"] if told["p_adjusted"] is None else None
        verdict = decided if row is None else row["verdict"]
        finding = "" if row is None else row["finding"]
        every.append({**told, "verdict": verdict, "finding": finding})
    judge([row for row in every if row["verdict"] or row["p"] is not None], settings.confidence)
    types = dict.fromkeys(
        (*RUN, "diagnostic", "verdict", "finding", "meaning", "advice"), pl.String()
    )
    return Recomputed(
        pl.DataFrame(
            [row for row in every if (row["suite"], row["run_id"], row["diagnostic"]) in known],
            schema={**types, "p_adjusted": pl.Float64()},
        ),
        (*RUN, "diagnostic"),
        ("verdict", "meaning", "advice"),
        {"p_adjusted": None},
        words=("finding",),
    )
