"""Local search for queens, after Minton, Johnston, Philips and Laird's min-conflicts (1992)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.demo.solvers.effort import Effort

if TYPE_CHECKING:
    from passk_py.demo.dice import Draw
    from passk_py.demo.instances.board import Board


def min_conflicts(board: Board, budget: int, draw: Draw, *, noise: float) -> Effort:
    """Move one attacked queen after the other within its row until none is attacked.

    From a random column for each row, take a random queen that is attacked and put it where the
    fewest attack it, ties broken at random, or, with the chance `noise`, anywhere. Without noise
    it can circle on a plateau until the budget is gone. A step is one queen moved, and the start
    counts as one; the answer is the arrangement with the fewest attacked queens met.
    """
    n = board.size
    stay = dict(board.fixed)
    columns = [stay[row] if row in stay else int(draw() * n) for row in range(n)]
    movable = [row for row in range(n) if row not in stay]
    # How many queens each column and diagonal holds.
    down, rise, fall = [0] * n, [0] * (2 * n), [0] * (2 * n)
    for row, column in enumerate(columns):
        down[column] += 1
        rise[row + column] += 1
        fall[row - column + n] += 1
    steps, best, fewest = 1, columns[:], n + 1
    while True:
        attacked = [
            row
            for row in movable
            if down[columns[row]] > 1
            or rise[row + columns[row]] > 1
            or fall[row - columns[row] + n] > 1
        ]
        if len(attacked) < fewest:
            fewest, best = len(attacked), columns[:]
        if not attacked or steps >= budget:
            return Effort(" ".join(map(str, best)), steps, finished=not fewest)
        steps += 1
        row = attacked[int(draw() * len(attacked))]
        column = columns[row]
        down[column] -= 1
        rise[row + column] -= 1
        fall[row - column + n] -= 1
        if draw() < noise:
            column = int(draw() * n)
        else:
            attackers = zip(down, rise[row : row + n], fall[row + n : row : -1], strict=True)
            counts = [a + b + c for a, b, c in attackers]
            least = min(counts)
            choices = [place for place, count in enumerate(counts) if count == least]
            column = choices[int(draw() * len(choices))]
        columns[row] = column
        down[column] += 1
        rise[row + column] += 1
        fall[row - column + n] += 1
