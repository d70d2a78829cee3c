"""The runs that no other beats on both reliability and cost: ``passk_py.cost_frontier``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.costs.run_costs import DEFAULT_MEASURES, run_costs
from passk_py.metrics.frames import DEFAULT_KS
from passk_py.metrics.rankings import MOST_RANKED, in_list, rank_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PLACE: Final = ("suite", "measure", "k")
FRONTIER_TYPES: Final[dict[str, Any]] = {
    **dict.fromkeys(("suite", "run_id", "measure"), pl.String),
    **dict.fromkeys(("k", "runs"), pl.Int64),
    **dict.fromkeys((f"pass_hat_k{end}" for end in ("", "_lower", "_upper")), pl.Float64),
    **dict.fromkeys((f"mean_cost{end}" for end in ("", "_lower", "_upper")), pl.Float64),
    **dict.fromkeys(("is_on_frontier", "is_surely_beaten"), pl.Boolean),
    **dict.fromkeys(("beaten_by", "meaning"), pl.String),
}
_ROUNDING: Final = 1e-12
_OF_LIMITS: Final = 1e-9
"""Runs of one price have limits that differ in their last digits, and none costs less."""


@any_frame
def cost_frontier(
    attempts: pl.DataFrame | pl.LazyFrame,
    *,
    ks: Iterable[int] = DEFAULT_KS,
    measures: Iterable[str] = DEFAULT_MEASURES,
    most_runs: int = MOST_RANKED,
    min_eligible_share: float = 0.95,
    cluster: str | None = None,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Tell which runs no other beats on both pass^k and the cost of an attempt.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`.
    ks
        Whole numbers from 1.
    measures
        As in :func:`passk_py.run_costs`.
    most_runs, min_eligible_share, cluster, confidence, threshold
        As in :func:`passk_py.rank_runs`.

    Returns
    -------
    polars.DataFrame
        One row per suite, measure, k and run that has both figures, the most reliable first:
        ``runs`` beside it and itself, ``pass_hat_k`` and ``mean_cost`` with limits,
        ``is_on_frontier`` (no other run is at least as good on both and better on one, by the
        estimates),
        ``is_surely_beaten`` (another run is more reliable beyond chance, as
        :func:`passk_py.rank_runs` tells, and the limits of its cost are below those of this run),
        ``beaten_by`` and ``meaning``.

    Raises
    ------
    ArgumentError
        If an option can't be right.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {
    ...             "run_id": run,
    ...             "task_id": task,
    ...             "attempt": number,
    ...             "passed": number <= passes,
    ...             "cost_usd": cost,
    ...         }
    ...         for run, passes, cost in (("good", 4, 2.0), ("cheap", 2, 1.0), ("poor", 2, 3.0))
    ...         for task in range(10)
    ...         for number in range(1, 5)
    ...     ]
    ... )
    >>> cost_frontier(log, ks=[1]).select("run_id", "is_on_frontier", "beaten_by").rows()
    [('good', True, None), ('cheap', True, None), ('poor', False, 'cheap, good')]
    """
    ranks = rank_runs(
        attempts,
        ks=ks,
        most_runs=most_runs,
        confidence=confidence,
        min_eligible_share=min_eligible_share,
        cluster=cluster,
        threshold=threshold,
    )
    costs = run_costs(
        attempts,
        measures=measures,
        min_eligible_share=min_eligible_share,
        cluster=cluster,
        confidence=confidence,
        threshold=threshold,
    )
    return table_of_frontier(ranks, costs).sort(
        *PLACE, "pass_hat_k", "mean_cost", "run_id", descending=[False] * 3 + [True, False, False]
    )


def table_of_frontier(ranks: pl.DataFrame, costs: pl.DataFrame) -> pl.DataFrame:
    """Put the rows of ``passk_rankings`` and ``passk_costs`` of the same runs together."""
    placed = ranks.filter(pl.col("metric") == "pass_hat_k", pl.col("estimate").is_not_null()).join(
        costs.filter(pl.col("mean").is_not_null()), on=["suite", "run_id"]
    )
    rows = [row for group in placed.partition_by(*PLACE) for row in _rows(group.to_dicts())]
    return pl.DataFrame(rows, schema=FRONTIER_TYPES, orient="row")


def _rows(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for run in runs:
        beating = [other for other in runs if _beats(other, run)]
        beating.sort(key=lambda other: other["run_id"])
        alike = (run["not_told_apart_from"] or "").split(", ")
        sure = any(
            in_list(other["run_id"]) not in alike
            and _rounded(other) > _rounded(run)
            and None not in (other["mean_upper"], run["mean_lower"])
            and other["mean_upper"] < run["mean_lower"] * (1 - _OF_LIMITS)
            for other in beating
        )
        rows.append(
            {name: run[name] for name in ("suite", "run_id", "measure", "k")}
            | {"runs": len(runs)}
            | {f"pass_hat_k{end}": run[end[1:] or "estimate"] for end in ("", "_lower", "_upper")}
            | {f"mean_cost{end}": run[f"mean{end}"] for end in ("", "_lower", "_upper")}
            | {
                "is_on_frontier": not beating,
                "is_surely_beaten": sure,
                "beaten_by": ", ".join(in_list(other["run_id"]) for other in beating) or None,
                "meaning": _meaning(is_beaten=bool(beating), is_sure=sure),
            }
        )
    return rows


def _rounded(run: dict[str, Any]) -> float:
    """Round as ranks do: sums of the same values in another order differ in their last digits."""
    return math.floor(float(run["estimate"]) * 1e12 + 0.5)


def _beats(other: dict[str, Any], run: dict[str, Any]) -> bool:
    more = _rounded(other) - _rounded(run)
    cost, others = float(run["mean"]), float(other["mean"])
    if other is run or more < 0 or others > cost * (1 + _ROUNDING):
        return False
    return more > 0 or others < cost * (1 - _ROUNDING)


def _meaning(*, is_beaten: bool, is_sure: bool) -> str:
    if not is_beaten:
        return "No other run is as good on both and better on one."
    if is_sure:
        return "Beaten beyond chance: another run is more reliable and costs less."
    return "Beaten by the estimates, which chance alone can explain."
