"""The order in which to mend tasks: by the expected gain of the suite's pass^k from each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.stats.numerics import log_beta_moment, one_minus_exp

if TYPE_CHECKING:
    from collections.abc import Sequence

_JEFFREYS: Final = 0.5
"""Both parameters of the prior where the tasks fit none."""
_NOTHING: Final = 1e-9
"""An intraclass correlation this near to 0 or 1 is that of no beta distribution."""


def with_mend_rank(tasks: pl.DataFrame, k: int, run: Sequence[str]) -> pl.DataFrame:
    """Add ``expected_gain`` and ``mend_rank`` to all tasks of some runs.

    Notes
    -----
    With c of n passes, p is believed to be Beta(c + a, n - c + b). a and b are those of the beta
    distribution with the mean m of the tasks' c / n and their intraclass correlation r, both
    without bias: a + b = (1 - r) / r and a = m (a + b).
    """
    n, c = pl.col("n"), pl.col("c")
    pairs = n > 1
    count = pairs.sum().over(run)
    rate = pl.when(pairs).then(c / n)
    tasks = tasks.with_columns(
        m=rate.mean().over(run),
        m2=pl.when(pairs).then(c * (c - 1) / (n * (n - 1))).mean().over(run),
        off=rate.var().over(run) / count,
        size=pl.len().over(run),
    )
    m, off = pl.col("m"), pl.col("off")
    spread = m * (1 - m) + off
    r = pl.when(spread > 0).then((pl.col("m2") - m**2 + off) / spread)
    is_fitted = (r > _NOTHING) & (r < 1 - _NOTHING)
    prior = {
        name: pl.when(is_fitted).then(share * (1 - r) / r).otherwise(_JEFFREYS)
        for name, share in (("a", m), ("b", 1 - m))
    }
    log_all_pass = log_beta_moment(c + pl.col("a"), n - c + pl.col("b"), pl.lit(float(k)))
    return (
        tasks.with_columns(**prior)
        .with_columns(loss=pl.when(n > 0).then(one_minus_exp(log_all_pass)))
        .with_columns(
            expected_gain=pl.col("loss") / pl.col("size"),
            # Values that differ only by rounding are equal.
            place=(pl.col("loss") * 1e12 + 0.5).floor(),
        )
        .sort(
            pl.col("place"),
            pl.when(n > 0).then(c / n),
            n,
            pl.col("task_id"),
            descending=[True, False, True, False],
            nulls_last=True,
        )
        .with_columns(
            mend_rank=pl.when(n > 0).then(pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(run))
        )
        .drop("m", "m2", "off", "size", "a", "b", "loss", "place")
    )
