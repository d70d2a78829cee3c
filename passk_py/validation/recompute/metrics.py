"""``passk_task_metrics`` and ``passk_suite_metrics``, computed in polars from counted attempts.

``null_reason`` is compared only by whether there is one; ``reading`` is made from SQL's numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.metrics.frames.averaging import suite_metrics_of_counts
from passk_py.metrics.frames.estimating import METRICS, task_metrics_of_counts
from passk_py.metrics.uncertainty import SUITE_ENDS
from passk_py.stats import estimators as est
from passk_py.validation.parity import Recomputed
from passk_py.validation.recompute.runs import RUN, TASK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.warehouse.settings import Settings

QUANTILE: Final = pl.lit(1000.0)
"""The error of quantiles, in units of the tolerance: they are found in two ways."""


def task_metrics(counts: pl.LazyFrame, settings: Settings) -> Recomputed:
    """Compute ``passk_task_metrics``."""
    frame = task_metrics_of_counts(
        counts, settings.ks, ordered=settings.ordered, confidence=settings.confidence
    )
    plugins = ("pass_at_k_plugin", "pass_hat_k_plugin")
    metrics = ("pass_at_k", "pass_hat_k", "pass_at_k_window", "pass_hat_k_window", *plugins)
    return Recomputed(
        frame.collect(engine="streaming"),
        (*TASK, "k"),
        ("n", "c", "excluded", "windows"),
        {
            **dict.fromkeys((*metrics, "pass_at_k_first_k", "pass_hat_k_first_k")),
            **dict.fromkeys(("pass_at_k_lower", "pass_at_k_upper"), QUANTILE),
            **dict.fromkeys(("pass_hat_k_lower", "pass_hat_k_upper"), QUANTILE),
        },
        ("null_reason",),
    )


def suite_metrics(
    counts: pl.LazyFrame, slices: Sequence[pl.LazyFrame], settings: Settings, ks: Sequence[int]
) -> Recomputed:
    """Compute ``passk_suite_metrics``, of the whole and of the slices in their order."""

    def averaged(table: pl.LazyFrame, name: str | None) -> pl.LazyFrame:
        return suite_metrics_of_counts(
            table,
            ks,
            name,
            by_family=settings.cluster is not None,
            min_eligible_share=settings.min_eligible_share,
            confidence=settings.confidence,
            ordered=settings.ordered,
        )

    parts = map(averaged, (counts, *slices), (None, *settings.slices))
    frame = pl.concat(parts)
    tasks = ("eligible_tasks", "total_tasks", "families", "least_n", "informative_tasks")
    limits = [
        *(f"{metric}{end}" for metric in METRICS[:2] for end in SUITE_ENDS if end != "_bayes"),
        *(f"{name}_{side}" for name in ("delta_k", "heterogeneity") for side in ("lower", "upper")),
    ]
    pooled = pl.col("pass_hat_k_pooled")
    rate = pooled ** (1 / pl.col("k"))
    spread = pl.col("delta_k_max")
    size = pl.max_horizontal("pass_hat_k", pooled)
    return Recomputed(
        frame.collect(engine="streaming"),
        (*RUN, "slice_name", "slice_value", "k"),
        (*tasks, "attempts", "n", "c", "excluded", "curve_shape"),
        {
            **dict.fromkeys(
                (*METRICS, "pass_at_k_pooled", "pass_hat_k_pooled", "effective_families")
            ),
            **dict.fromkeys(("pass_at_k_bayes", "pass_hat_k_bayes", "pass_hat_k_per_attempt")),
            **dict.fromkeys(limits, QUANTILE),
            "delta_k": size,
            "delta_k_plugin": pl.max_horizontal("pass_hat_k_plugin", pooled),
            "delta_k_max": pl.max_horizontal(rate, pooled),
            "heterogeneity": pl.max_horizontal(
                size / spread, pl.col("heterogeneity").abs() * rate / spread
            ),
        },
        ("null_reason", "caveat"),
    )


def reading(settings: Settings) -> pl.Expr:
    """Name what the two values of a suite mean."""
    return est.suite_reading(
        "pass_at_k",
        "pass_hat_k",
        capable_threshold=settings.capable_threshold,
        consistent_threshold=settings.consistent_threshold,
    )
