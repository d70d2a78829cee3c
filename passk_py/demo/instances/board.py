"""Chess boards to fill with queens, some of which may stand already."""

from __future__ import annotations

from dataclasses import dataclass

from passk_py.demo.dice import dice, shuffle
from passk_py.demo.solvers.min_conflicts import min_conflicts

__all__ = ["Board", "plant_board"]


@dataclass(frozen=True)
class Board:
    """A board of `size` times `size` fields, to hold one queen in each row.

    Parameters
    ----------
    size
        Rows, and columns.
    fixed
        Row and column, from 0, of the queens that stand and stay.
    """

    size: int
    fixed: tuple[tuple[int, int], ...] = ()


def plant_board(size: int, fixed: int, *, seed: int) -> tuple[Board, tuple[int, ...]]:
    """Draw a board that can be completed.

    A full solution is searched first; then some of its queens stay and the others leave. The
    more stay, the fewer completions there are: hard to walk into, easy to reason out.

    Parameters
    ----------
    size
        Rows, and columns, at least 4.
    fixed
        How many queens stay.
    seed
        Where the draws come from.

    Returns
    -------
    tuple of Board and tuple of int
        The board and a solution: the column of the queen of each row.
    """
    draw = dice(seed)
    rows = list(range(size))
    shuffle(draw, rows)
    while True:
        effort = min_conflicts(Board(size), 50 * size, draw, noise=0.05)
        if effort.finished and effort.output is not None:
            columns = tuple(int(column) for column in effort.output.split())
            return Board(size, tuple((row, columns[row]) for row in sorted(rows[:fixed]))), columns
