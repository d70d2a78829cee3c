"""The columns that the frames share: the makers of the attempts, and the order of the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.metrics.logs import suite_of

if TYPE_CHECKING:
    from collections.abc import Sequence

IDENTITY: Final = ("agent", "agent_version", "model")

_FIRST: Final = (
    "run_id", "task_id", "k", "pass_at_k", "pass_hat_k", "pass_at_k_lower", "pass_at_k_upper",
    "pass_hat_k_lower", "pass_hat_k_upper", "reading", "task_class", "suite", "slice_name",
    "slice_value", *IDENTITY,
)  # fmt: skip
_LAST: Final = (
    "attempts", "excluded", "n", "c", "eligible_tasks", "total_tasks", "null_reason", "caveat",
)  # fmt: skip
"""A terminal shows the first four columns of a wide frame and the last four."""


def finished(table: pl.LazyFrame, attempts: pl.DataFrame | pl.LazyFrame) -> pl.LazyFrame:
    """Add who made the attempts, and put the columns that matter first and last."""
    table = _with_identity(table, attempts.lazy())
    there = table.collect_schema().names()
    rest = [name for name in there if name not in (*_FIRST, *_LAST)]
    return table.select(
        *(name for name in _FIRST if name in there),
        *rest,
        *(name for name in _LAST if name in there),
    )


def _with_identity(table: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Add agent, version and model, as the first attempts of a run name them."""
    if not set(IDENTITY) & set(attempts.collect_schema()):
        return table.with_columns(_unnamed(IDENTITY))
    return table.join(
        identities(attempts),
        on=["run_id", "suite"],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )


def identities(attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Give agent, version and model of each run, null where the log does not name them."""
    schema = attempts.collect_schema()
    known = [name for name in IDENTITY if name in schema]
    runs = attempts.group_by("run_id", suite_of(schema).alias("suite")).agg(_named(known))
    unknown = [name for name in IDENTITY if name not in known]
    return runs.with_columns(_unnamed(unknown)).select("run_id", "suite", *IDENTITY)


def _unnamed(columns: Sequence[str]) -> list[pl.Expr]:
    return [pl.lit(None, pl.String).alias(name) for name in columns]


def _named(columns: Sequence[str]) -> list[pl.Expr]:
    """Take the names from the first attempts: a run is one version of one agent."""
    first = pl.col("attempt") == 1
    return [
        pl.when(first.any())
        .then(pl.col(name).cast(pl.String).filter(first).min())
        .otherwise(pl.col(name).cast(pl.String).min())
        .alias(name)
        for name in columns
    ]
