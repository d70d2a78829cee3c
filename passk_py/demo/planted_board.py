"""Boards that can be completed, because they were full once."""

from __future__ import annotations

from passk_py.demo.dice import dice, shuffle
from passk_py.demo.instances.board import Board
from passk_py.demo.solvers.min_conflicts import min_conflicts


def plant_board(size: int, fixed: int, *, seed: int) -> tuple[Board, tuple[int, ...]]:
    """Draw a board that can be completed.

    A full solution is searched first; then some of its queens stay and the others leave. The
    more stay, the fewer completions there are: hard to walk into, easy to reason out.
    """
    draw = dice(seed)
    rows = list(range(size))
    shuffle(draw, rows)
    while True:
        effort = min_conflicts(Board(size), 50 * size, draw, noise=0.05)
        if effort.finished and effort.output is not None:
            columns = tuple(int(column) for column in effort.output.split())
            return Board(size, tuple((row, columns[row]) for row in sorted(rows[:fixed]))), columns
