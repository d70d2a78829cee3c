"""Costs of runs, computed in polars with the column names of SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.costs.cost_changes import CHANGES, table_of_changes
from passk_py.metrics.costs.cost_tables import (
    CURVES,
    TASK_COSTS,
    table_of_costs,
    table_of_curves,
    table_of_tasks,
)
from passk_py.metrics.costs.frontier import table_of_frontier
from passk_py.validation.parity import Recomputed
from passk_py.validation.recompute.metrics import QUANTILE
from passk_py.validation.recompute.runs import RUN, size_of_total

if TYPE_CHECKING:
    from passk_py.warehouse.settings import Settings

_STUDENT: Final = 3000.0
_ENDS: Final = ("_lower", "_upper")


def of_runs(
    spending: pl.DataFrame, tails: pl.DataFrame, settings: Settings
) -> tuple[Recomputed, Recomputed, Recomputed]:
    """Compute ``passk_costs``, ``passk_cost_curves`` and ``passk_task_costs``."""
    options: dict[str, Any] = {
        "min_eligible_share": settings.min_eligible_share,
        "confidence": settings.confidence,
        "by_family": settings.cluster is not None,
    }
    costs = table_of_costs(spending, tails, **options)
    curves = table_of_curves(spending, costs, settings.ks, **options)
    # The most that one term of a sum may round off, for every attempt of a run.
    many = pl.col("n") + pl.col("excluded")
    tasks = pl.col("total_tasks")
    return (
        Recomputed(
            costs,
            (*RUN, "measure"),
            (
                *("n", "c", "excluded", "measured", "measured_excluded", "measured_tasks"),
                *("total_tasks", "families", "null_reason", "caveat"),
            ),
            {
                **dict.fromkeys(
                    ("coverage", "effective_families", "p95", "p95_lower", "p95_upper")
                ),
                **{
                    name: size_of_total(pl.col(name), many)
                    for name in (
                        *("mean", "per_success", "spent", "spent_on_failures"),
                        *("spent_on_excluded", "share_on_failures"),
                    )
                },
                **_limits("mean", "per_success"),
            },
        ),
        Recomputed(
            curves,
            (*RUN, "measure", "k"),
            ("eligible_tasks", "total_tasks", "families", "null_reason", "caveat"),
            {
                "effective_families": None,
                **{
                    name: size_of_total(pl.col(name), 100 * tasks)
                    for name in (*CURVES, "series_cost")
                },
                **_limits(*CURVES),
            },
        ),
        Recomputed(
            table_of_tasks(spending, settings.ks),
            (*RUN, "task_id", "measure", "k"),
            ("family", "n", "c", "null_reason"),
            {name: size_of_total(pl.col(name), 100 + pl.col("n")) for name in TASK_COSTS},
        ),
    )


def _limits(*figures: str) -> dict[str, pl.Expr]:
    """Give the size of limits: Student's t of SQL is a series, and its error is in an exponent."""
    return {
        f"{figure}{end}": _STUDENT
        * pl.col(f"{figure}{end}").abs()
        * pl.max_horizontal(1.0, (pl.col(f"{figure}_upper") / pl.col(figure)).log())
        for figure in figures
        for end in _ENDS
    }


def changes(
    spending: pl.LazyFrame, costs: pl.DataFrame, pairs: pl.DataFrame, settings: Settings
) -> Recomputed:
    """Compute ``passk_cost_comparisons``, a suite at a time."""
    parts = []
    for (suite,), some in pairs.partition_by("suite", as_dict=True).items():
        of_suite = spending.filter(pl.col("suite") == suite).collect()
        keys = some.select("suite", "baseline_run_id", "candidate_run_id").rows()
        changed = table_of_changes(
            of_suite,
            costs,
            keys,
            confidence=settings.confidence,
            by_family=settings.cluster is not None,
        )
        parts.append(changed.join(some, on=["suite", "baseline_run_id", "candidate_run_id"]))
    frame = pl.concat(parts) if parts else None
    if frame is None:
        empty = table_of_changes(
            spending.head(0).collect(), costs, [], confidence=settings.confidence, by_family=False
        )
        frame = empty.with_columns(pair_source=pl.lit(None, pl.String))
    ratio = 1 + pl.col("relative_change")
    far = pl.max_horizontal(1.0, ((1 + pl.col("relative_change_upper")) / ratio).log())
    return Recomputed(
        frame,
        ("suite", "baseline_run_id", "candidate_run_id", "measure"),
        (
            *("pair_source", "baseline_tasks", "common_tasks", "families", "verdict"),
            "null_reason",
        ),
        {
            **{
                name: size_of_total(pl.col(name), 100 * pl.col("common_tasks"))
                for name in ("baseline", "candidate")
            },
            CHANGES[0]: size_of_total(ratio, 100 * pl.col("common_tasks")),
            **{name: _STUDENT * (1 + pl.col(name)) * far for name in CHANGES[1:]},
        },
        words=("meaning",),
    )


def frontier(ranks: pl.DataFrame, costs: pl.DataFrame) -> Recomputed:
    """Compute ``passk_frontier`` from the ranks and the costs of the runs."""
    frame = table_of_frontier(ranks, costs)
    return Recomputed(
        frame,
        ("suite", "run_id", "measure", "k"),
        ("runs", "is_on_frontier", "is_surely_beaten", "beaten_by", "meaning"),
        {
            "pass_hat_k": None,
            **dict.fromkeys(("pass_hat_k_lower", "pass_hat_k_upper"), QUANTILE),
            "mean_cost": 100 * pl.col("mean_cost"),
            **_limits("mean_cost"),
        },
    )
