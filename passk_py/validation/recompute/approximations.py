"""The approximations of SQL, and by how much they may be off."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CLOSE: Final = 1e-9
"""How near SQL's figures must be, for a verdict to follow from them."""
SIZE: Final = pl.lit(1.0)
"""The size of a difference of shares: what is lost when they cancel is no error."""
STUDENT: Final = pl.lit(3000.0)
"""The error of limits by Student's t, in units of the tolerance: the series of SQL."""


def as_seen(row: dict[str, Any], sql: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Take figures from SQL where they are near enough."""
    return row | {
        name: sql[name]
        for name in names
        if row.get(name) is not None
        and sql.get(name) is not None
        and math.isclose(row[name], sql[name], rel_tol=CLOSE, abs_tol=CLOSE)
    }
