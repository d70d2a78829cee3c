"""Backtracking for queens, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.demo.solvers.effort import Effort

if TYPE_CHECKING:
    from passk_py.demo.instances.board import Board


def place_queens(board: Board, budget: int) -> Effort:
    """Place queens from the first row to the last, and go back where a row has no free field.

    Columns are tried from left to right, so the same board always takes the same number of steps:
    few where the standing queens leave few choices, far too many on most large empty boards. A step
    is one queen placed.
    """
    n = board.size
    queens = dict(board.fixed)
    rows = [row for row in range(n) if row not in queens]
    columns_left = [_left_by_standing(board, row) for row in rows]
    # The fields of each row so far that are still to try, and what is attacked, as bits: columns,
    # and the two diagonals numbered row + column and row - column + n.
    to_try = columns_left[:1]
    down = rise = fall = 0
    depth = steps = 0
    while depth < len(rows):
        row = rows[depth]
        fields = to_try[depth] & ~down & ~(rise >> row)
        while fields and fall >> (row - (fields & -fields).bit_length() + 1 + n) & 1:
            fields &= fields - 1
        if fields and steps >= budget:
            return Effort(None, steps, finished=False)
        if fields:
            steps += 1
            queens[row] = (fields & -fields).bit_length() - 1
            to_try[depth:] = [fields & (fields - 1), *columns_left[depth + 1 : depth + 2]]
            depth += 1
        elif depth == 0:
            return Effort(None, steps, finished=False)
        else:
            depth -= 1
            row = rows[depth]
        down ^= 1 << queens[row]
        rise ^= 1 << (row + queens[row])
        fall ^= 1 << (row - queens[row] + n)
    return Effort(" ".join(str(queens[row]) for row in range(n)), steps, finished=True)


def _left_by_standing(board: Board, row: int) -> int:
    """Return, as bits, the columns of a row that no standing queen attacks."""
    return sum(
        1 << column
        for column in range(board.size)
        if all(
            column != there and abs(column - there) != abs(row - at) for at, there in board.fixed
        )
    )
