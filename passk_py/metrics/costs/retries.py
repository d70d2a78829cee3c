"""The cost of a task that is retried until it passes, and one that must pass k times in a row."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.states import score

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CHANCES: Final[dict[str, Any]] = {
    **dict.fromkeys(("n", "c", "k"), pl.Int64),
    **dict.fromkeys(("pass_at_k", "pass_hat_k", "failed_tries"), pl.Float64),
}


@lru_cache(maxsize=65536)
def failed_tries(n: int, c: int, k: int) -> float:
    """Give how many of up to k tries fail before one passes, over all orders of n >= k attempts.

    Try j fails, and all before it, with the chance C(n - c, j) / C(n, j).
    """
    return float(sum(Fraction(comb(n - c, j), comb(n, j)) for j in range(1, k + 1)))


def retry_costs(spending: pl.DataFrame, ks: Sequence[int]) -> pl.DataFrame:
    """Give the costs of each task with its retries, a row for each k; null where n < k."""
    frame = spending.join(pl.DataFrame({"k": ks}, schema={"k": pl.Int64}), how="cross")
    states = frame.select("n", "c", "k").filter(pl.col("n") >= pl.col("k")).unique()
    chances = _chances(states.iter_rows())
    return frame.join(chances, on=["n", "c", "k"], how="left", maintain_order="left").with_columns(
        is_eligible=pl.col("is_measured") & (pl.col("n") >= pl.col("k")),
        tries=pl.col("pass_at_k") + pl.col("failed_tries"),
        retry_cost=pl.col("pass_at_k") * pl.col("cost_of_pass").fill_null(0)
        + pl.col("failed_tries") * pl.col("cost_of_failure").fill_null(0),
        series_cost=pl.col("k") * pl.col("cost_of_attempt"),
    )


def _chances(states: Iterable[tuple[int, int, int]]) -> pl.DataFrame:
    rows = [
        (
            *state,
            *(score(metric, *state) for metric in ("pass_at_k", "pass_hat_k")),
            failed_tries(*state),
        )
        for state in states
    ]
    return pl.DataFrame(rows, schema=_CHANCES, orient="row")
