"""The verdict on the text of an answer, by the same rules for every agent.

The checkers share no code with the solvers. They read the answer from its text, and go clause by
clause, pair by pair, factor by factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

from passk_py.demo.instances.board import Board
from passk_py.demo.instances.formula import Formula

if TYPE_CHECKING:
    from passk_py.demo.agents import Puzzle
    from passk_py.demo.instances.semiprime import Semiprime


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a checker."""

    passed: bool
    score: float
    """How much of the answer is right, 0 to 1, with four decimals; 1 only if it passed."""


NOTHING: Final = Verdict(passed=False, score=0.0)
"""The verdict on no answer, or on one that is not an answer to this puzzle."""


def check(puzzle: Puzzle, output: str | None) -> Verdict:
    """Judge an answer; the score is the share of clauses satisfied, or of queens not attacked."""
    if output is None:
        return NOTHING
    if isinstance(puzzle, Formula):
        return _check_assignment(puzzle, output)
    if isinstance(puzzle, Board):
        return _check_queens(puzzle, output)
    return _check_factors(puzzle, output)


def _check_assignment(formula: Formula, output: str) -> Verdict:
    if len(output) != formula.variables or set(output) - {"0", "1"}:
        return NOTHING
    satisfied = sum(
        any((output[abs(literal) - 1] == "1") == (literal > 0) for literal in clause)
        for clause in formula.clauses
    )
    return _share(satisfied, len(formula.clauses))


def _check_queens(board: Board, output: str) -> Verdict:
    columns = _numbers(output)
    if len(columns) != board.size or any(column >= board.size for column in columns):
        return NOTHING
    if any(columns[row] != column for row, column in board.fixed):
        return NOTHING
    attacked = {
        row
        for (one, a), (two, b) in combinations(enumerate(columns), 2)
        if a == b or abs(a - b) == two - one
        for row in (one, two)
    }
    return _share(board.size - len(attacked), board.size)


def _check_factors(semiprime: Semiprime, output: str) -> Verdict:
    factors = _numbers(output)
    right = len(factors) == 2 and min(factors) > 1 and factors[0] * factors[1] == semiprime.number
    return Verdict(passed=True, score=1.0) if right else NOTHING


def _share(right: int, total: int) -> Verdict:
    return Verdict(passed=right == total, score=round(right / total, 4))


def _numbers(output: str) -> list[int]:
    """Return the numbers of a text of digits and spaces, or none if it holds anything else."""
    words = output.split(" ")
    if all(word.isascii() and word.isdecimal() for word in words):
        return [int(word) for word in words]
    return []
