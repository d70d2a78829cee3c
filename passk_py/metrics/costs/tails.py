"""The cost that 95 % of attempts stay within, each task counting as one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.frames.counting import TASK
from passk_py.stats.distributions import student_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHARE: Final = 0.95
_ROUNDING: Final = 1e-9
TAIL_TYPES: Final[dict[str, Any]] = {
    **dict.fromkeys(("run_id", "suite", "measure"), pl.String),
    **dict.fromkeys(("p95", "p95_lower", "p95_upper"), pl.Float64),
}


def cost_tails(
    log: pl.LazyFrame, spending: pl.DataFrame, measures: Sequence[str], confidence: float
) -> pl.DataFrame:
    """Give the 95th percentile of what counted attempts cost, with limits by Woodruff (1952).

    The share of attempts that cost at most so much has a standard error, over tasks; the limits
    are the quantiles at .95 less and plus t times it. It is not taken to be less than that of as
    many attempts that have nothing to do with each other. The upper limit is null where so high a
    share is above 1: too few tasks are there to know what the dearest attempts cost.
    """
    counted = log.filter(pl.col("passed").is_not_null())
    rows = []
    for measure in measures:
        # Numbers in place of names: millions of attempts are sorted and grouped by them.
        tasks = spending.filter(measure=measure).with_row_index("task").lazy()
        costs = (
            counted.filter(pl.col(measure).is_not_null())
            .join(tasks.select(*TASK, "task"), on=list(TASK))
            .select("run_id", "suite", "task", cost=measure)
            .collect(engine="streaming")
        )
        draws = tasks.select("task", "draw").collect()
        for (run, suite), part in costs.partition_by("run_id", "suite", as_dict=True).items():
            tail = _tail(part.sort("cost", "task"), draws, confidence)
            rows.append({"run_id": run, "suite": suite, "measure": measure, **tail})
    return pl.DataFrame(rows, schema=TAIL_TYPES, orient="row")


def _tail(costs: pl.DataFrame, draws: pl.DataFrame, confidence: float) -> dict[str, float | None]:
    """Give the percentile of one run, whose attempts are sorted by their cost."""
    weighed = costs.with_columns(weight=1 / pl.len().over("task"))
    tasks = weighed["task"].n_unique()
    shares = weighed.group_by("cost", maintain_order=True).agg(pl.col("weight").sum())
    levels = shares["weight"].cum_sum() / tasks + _ROUNDING

    def at(share: float) -> float:
        return float(shares["cost"][levels.search_sorted(share, "left")])

    p95 = at(_SHARE)
    within = (
        weighed.group_by("task", maintain_order=True)
        .agg(share=pl.col("weight").filter(pl.col("cost") <= p95).sum())
        .with_columns(apart=pl.col("share") - pl.col("share").mean())
        .join(draws, on="task", maintain_order="left")
        .group_by("draw", maintain_order=True)
        .agg(size=pl.len(), apart=pl.col("apart").sum())
    )
    sizes, number = within["size"].to_list(), within.height
    units = sum(sizes) ** 2 / sum(size**2 for size in sizes)
    degrees = math.floor(units + 0.5) - 1
    if degrees < 1:
        return {"p95": p95, "p95_lower": None, "p95_upper": None}
    apart = [one**2 for one in within["apart"].to_list()]
    # With one more that is as far off as the farthest: few of them hold much of the variance.
    squares = math.fsum(apart) + max(apart)
    variance = squares * number / (number - 1) / tasks**2
    least = _SHARE * (1 - _SHARE) / weighed.height
    reach = student_quantile(degrees, confidence) * math.sqrt(max(variance, least))
    return {
        "p95": p95,
        "p95_lower": at(_SHARE - reach),
        "p95_upper": at(_SHARE + reach) if _SHARE + reach <= 1 else None,
    }
