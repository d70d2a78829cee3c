"""Chess boards to fill with queens, some of which may stand already."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Board:
    """A board of `size` times `size` fields, to hold one queen in each row."""

    size: int
    fixed: tuple[tuple[int, int], ...] = ()
    """Row and column, from 0, of the queens that stand and stay."""
