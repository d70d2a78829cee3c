"""``passk_runs``, and other facts of a run, computed from attempts in polars.

Text for people (``warnings``) is left out. So is ``loaded_at``, because it counts
rejected duplicates too, which are no attempts: a batch of nothing else makes a table younger than
its attempts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.validation.parity import TOLERANCE, Recomputed

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN: Final = ("run_id", "suite")
TASK: Final = (*RUN, "task_id")
IDENTITY: Final = ("agent", "agent_version", "model")
"""Columns of a run beside its numbers."""

ENDS: Final = ("started_at", "last_started_at")
_PER_TERM: Final = 2.0**-53 / TOLERANCE
"""The most that one addition may round off a total, in units of the tolerance."""

_SUMS: Final = ("duration_s", "cost_usd", "input_tokens", "output_tokens")


def runs(per_task: pl.LazyFrame, rejected: pl.LazyFrame) -> Recomputed:
    """Compute ``passk_runs`` from what its tasks add up to."""
    n = pl.col("n")
    refused = (
        rejected.filter(pl.col("run_id").is_not_null())
        .with_columns(pl.col("suite").fill_null("default"))
        .group_by(RUN)
        .agg(rejected=pl.len().cast(pl.Int64))
    )
    frame = (
        per_task.group_by(RUN)
        .agg(
            tasks=pl.len().cast(pl.Int64),
            attempts=pl.col("attempts").sum(),
            n=n.sum(),
            c=pl.col("c").sum(),
            excluded=pl.col("excluded").sum(),
            min_n=n.min(),
            max_n=n.max(),
            started_at=pl.col("started_at").min(),
            last_started_at=pl.col("last_started_at").max(),
            **{name: known_sum(name) for name in _SUMS},
        )
        .join(refused, on=list(RUN), how="left")
        .with_columns(
            pl.col("rejected").fill_null(0), pass_rate=pl.when(n > 0).then(pl.col("c") / n)
        )
    )
    counted = ("tasks", "attempts", "n", "c", "excluded", "rejected", "min_n", "max_n")
    return Recomputed(
        frame.collect(engine="streaming"),
        RUN,
        (*counted, *ENDS, "input_tokens", "output_tokens"),
        {
            "pass_rate": None,
            "duration_s": size_of_total(pl.col("duration_s"), pl.col("attempts")),
            "cost_usd": size_of_total(pl.col("cost_usd"), pl.col("attempts")),
        },
    )


def run_times(log: pl.LazyFrame, rejected: pl.LazyFrame) -> pl.DataFrame:
    """Tell when each run started and was loaded last, rejected duplicates of attempts included."""
    copies = (
        rejected.filter(pl.col("reason_code").is_in(["duplicate", "conflicting_duplicate"]))
        .with_columns(pl.col("suite").fill_null("default"))
        .group_by(RUN)
        .agg(copied_at=pl.col("loaded_at").max())
    )
    return (
        log.group_by(RUN)
        .agg(pl.col("started_at").min(), pl.col("loaded_at").max())
        .join(copies, on=list(RUN), how="left")
        .select(*RUN, "started_at", loaded_at=pl.max_horizontal("loaded_at", "copied_at"))
        .collect(engine="streaming")
    )


def identities(log: pl.LazyFrame, rejected: pl.LazyFrame, stated: pl.LazyFrame) -> pl.DataFrame:
    """Tell who made the attempts of each run: the least text of its first attempts.

    The names that ``passk_runs`` states are used where polars can't know better: conflicting
    duplicates tell SQL who made them, but none of them is among the attempts.
    """
    first = pl.col("attempt") == 1
    told = log.group_by(RUN).agg(
        has_first=first.any(),
        **{
            # A run may hold no attempt with the number 1.
            name: pl.when(first.any())
            .then(pl.col(name).filter(first).min())
            .otherwise(pl.col(name).min())
            for name in IDENTITY
        },
    )
    conflicts = (
        rejected.filter(pl.col("reason_code") == "conflicting_duplicate")
        .group_by(RUN)
        .agg(of_first=first.any())
    )
    # Null without a conflict, which is as good as false.
    unknown = pl.col("of_first") | (pl.col("of_first").is_not_null() & ~pl.col("has_first"))
    return (
        told.join(conflicts, on=list(RUN), how="left")
        .join(stated, on=list(RUN), how="left", suffix="_stated")
        .select(
            *RUN,
            *(
                pl.when(unknown).then(pl.col(f"{name}_stated")).otherwise(name).alias(name)
                for name in IDENTITY
            ),
        )
        .collect(engine="streaming")
    )


def described(expected: Recomputed, who: pl.DataFrame) -> Recomputed:
    """Add to a table who made the attempts."""
    frame = expected.frame.join(who, on=list(RUN), how="left")
    return replace(expected, frame=frame, exact=(*expected.exact, *IDENTITY))


def sums(log: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Sum up what attempts took; null where no attempt says it."""
    started = pl.col("started_at")
    return log.group_by(keys).agg(
        started_at=started.min(),
        last_started_at=started.max(),
        attempts_with_cost=pl.col("cost_usd").count().cast(pl.Int64),
        **{name: known_sum(name) for name in _SUMS},
    )


def known_sum(name: str) -> pl.Expr:
    """Sum up a column, to null where no row has a value."""
    return pl.when(pl.col(name).count() > 0).then(pl.col(name).sum())


def size_of_total(total: pl.Expr, terms: pl.Expr) -> pl.Expr:
    """Give the size of the rounding of a total, whose terms are added one after the other."""
    return total.abs() * pl.max_horizontal(pl.lit(1.0), terms * _PER_TERM)
