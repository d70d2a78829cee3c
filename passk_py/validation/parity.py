"""Comparing two tables row by row, value by value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

TOLERANCE: Final = 1e-12
"""The largest relative difference that is rounding."""

_SIDE: Final = "_polars"
_DECIMALS: Final = r"-?\d+\.\d+"
"""A number in a sentence that is rounded."""


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A public table as polars computes it."""

    frame: pl.DataFrame
    key: tuple[str, ...]
    exact: tuple[str, ...]
    near: Mapping[str, pl.Expr | None]
    """Columns that must be equal up to rounding, and the size of the numbers that each is the
    difference of, where it is one: what is lost when they cancel is no error. None means the size
    of the column itself."""
    presence: tuple[str, ...] = ()
    """Columns that must be null in the same rows."""
    words: tuple[str, ...] = ()
    """Columns of sentences, equal but for the decimals of their numbers: those are rounded from
    numbers that may differ in their last digit."""

    @property
    def columns(self) -> list[str]:
        """The columns to compare, without the key."""
        return [*self.exact, *self.near, *self.presence, *self.words]


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that two tables disagree on."""

    table: str
    key: dict[str, Any]
    column: str | None
    """None if one side lacks the row, ``rows`` if SQL has duplicates of it."""
    sql: Any
    """The value; whether the row is there, if one side lacks it; or how many duplicates it has."""
    polars: Any
    relative: float | None
    """How far they are apart, relative to the larger one; None where they are no numbers."""


@dataclass(slots=True)
class Parity:
    """How far a table agrees."""

    table: str
    rows: int
    values: int
    largest: float
    """The largest relative difference of all numbers that are near enough or not."""
    different: int
    """How many values and rows differ by more than is allowed; a row's duplicates are rows too."""
    examples: list[Difference]

    def add(self, other: Parity, *, keep: int) -> None:
        """Add the comparison of another part of the same table."""
        self.rows += other.rows
        self.values += other.values
        self.largest = max(self.largest, other.largest)
        self.different += other.different
        self.examples += other.examples[: max(0, keep - len(self.examples))]


def compare(
    table: str, sql: pl.DataFrame, expected: Recomputed, *, keep: int, more_columns: bool = False
) -> Parity:
    """Compare the rows of a table with what polars makes of the same attempts.

    Nulls must be in the same places. A difference is relative to the larger value or, for a
    column that is itself a difference, to what it was subtracted from.
    """
    key = list(expected.key)
    columns = expected.columns
    scales = {
        f"{name}_scale": (pl.lit(0.0) if scale is None else scale).cast(pl.Float64)
        for name, scale in expected.near.items()
    }
    mine = expected.frame.with_columns(**scales).select(
        *key,
        *(pl.col(name).alias(name + _SIDE) for name in columns),
        *scales,
        here_polars=pl.lit(True),
    )
    both = sql.select(*key, *columns, here_sql=pl.lit(True)).join(
        mine, on=key, how="full", coalesce=True, nulls_equal=True
    )
    rows = both.filter(pl.col("here_sql") & pl.col("here_polars"))
    missing = both.filter(pl.col("here_sql").is_null() | pl.col("here_polars").is_null())
    found = Parity(table, 0, rows.height * len(columns), 0.0, 0, [])
    if not more_columns:
        # Every row of polars is matched at least once, so more rows are duplicates in SQL.
        copies = both["here_polars"].count() - mine.height
        found.rows, found.different = both.height, missing.height + copies
        if copies:
            _add_copies(found, rows, key, most=-(-keep // 3))
        for side, most in (("here_sql", -(-2 * keep // 3)), ("here_polars", keep)):
            # A join promises no order, and the same examples are to be named each time.
            named = missing.filter(pl.col(side)).select(*key).sort(key)
            named = named.head(most - len(found.examples))
            sides = (side == "here_sql", side == "here_polars")
            found.examples += [
                Difference(table, row, None, *sides, None) for row in named.iter_rows(named=True)
            ]
    for name in columns:
        _compare_column(found, rows, expected, name, keep=keep)
    return found


def _add_copies(found: Parity, rows: pl.DataFrame, key: list[str], *, most: int) -> None:
    """Name the rows that SQL has more than once, which a join of too many rows would leave."""
    counted = rows.group_by(key).agg(copies=pl.len()).filter(pl.col("copies") > 1).sort(key)
    for row in counted.head(most).iter_rows(named=True):
        copies = row.pop("copies")
        found.examples.append(Difference(found.table, row, "rows", copies, 1, None))


def _compare_column(
    found: Parity, rows: pl.DataFrame, expected: Recomputed, name: str, *, keep: int
) -> None:
    one, other = pl.col(name), pl.col(name + _SIDE)
    relative = pl.lit(None, pl.Float64)
    if name in expected.near:
        apart = (one - other).abs() / pl.max_horizontal(
            one.abs(), other.abs(), pl.col(f"{name}_scale").fill_null(0).fill_nan(0)
        )
        # 0 / 0, and infinities that are equal.
        relative = pl.when(one == other).then(0.0).otherwise(apart)
        wrong = one.is_null().ne(other.is_null()) | (relative > TOLERANCE) | relative.is_nan()
    elif name in expected.presence:
        wrong = one.is_null().ne(other.is_null())
    elif name in expected.words:
        worded, other_worded = (side.str.replace_all(_DECIMALS, "#") for side in (one, other))
        wrong = worded.ne_missing(other_worded)
    else:
        wrong = one.ne_missing(other)
    judged = rows.select(
        *expected.key, sql=one, polars=other, relative=relative, wrong=wrong.fill_null(value=False)
    )
    largest = judged["relative"].fill_nan(None).max()
    if isinstance(largest, float):
        found.largest = max(found.largest, largest)
    bad = judged.filter("wrong")
    found.different += bad.height
    for row in bad.head(max(0, keep - len(found.examples))).iter_rows(named=True):
        key = {column: row[column] for column in expected.key}
        apart_by = row["relative"]
        found.examples.append(
            Difference(
                found.table,
                key,
                name,
                row["sql"],
                row["polars"],
                None if apart_by is None or math.isnan(apart_by) else apart_by,
            )
        )
