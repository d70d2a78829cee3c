"""The demo's checkers accept what is right and nothing else."""

from __future__ import annotations

from itertools import permutations

import pytest

from passk_py.demo.checkers import NOTHING, check
from passk_py.demo.instances.board import Board
from passk_py.demo.instances.formula import Formula
from passk_py.demo.instances.semiprime import Semiprime

FORMULA = Formula(4, ((1, 2, 3), (-1, -2, 4), (-1, 2, -4)))
PRODUCT = Semiprime(7 * 13)


@pytest.mark.parametrize(
    ("output", "score"),
    [("0100", 1.0), ("1101", 1.0), ("0000", 0.6667), ("1100", 0.6667), ("1001", 0.6667)],
)
def test_an_assignment_is_worth_its_share_of_satisfied_clauses(output: str, score: float) -> None:
    verdict = check(FORMULA, output)
    assert (verdict.passed, verdict.score) == (score == 1, score)


@pytest.mark.parametrize("output", ["", "010", "01000", "01x0", "0 1 0 0", "²100", None])
def test_what_is_no_assignment_is_worth_nothing(output: str | None) -> None:
    assert check(FORMULA, output) == NOTHING


def test_queens_pass_exactly_where_none_attacks_another() -> None:
    passed = [
        columns
        for columns in permutations(range(6))
        if check(Board(6), " ".join(map(str, columns))).passed
    ]
    assert passed == [
        (1, 3, 5, 0, 2, 4),
        (2, 5, 1, 4, 0, 3),
        (3, 0, 4, 1, 5, 2),
        (4, 2, 0, 5, 3, 1),
    ]


@pytest.mark.parametrize(
    ("output", "score"),
    [("1 3 0 2", 1.0), ("1 3 0 0", 0.5), ("1 3 1 2", 0.25), ("0 1 2 3", 0.0), ("0 0 0 0", 0.0)],
)
def test_an_arrangement_is_worth_its_share_of_safe_queens(output: str, score: float) -> None:
    verdict = check(Board(4), output)
    assert (verdict.passed, verdict.score) == (score == 1, score)


@pytest.mark.parametrize(
    "output", ["", "1 3 0", "1 3 0 4", "1 3 0 2 0", "1 3 0 -2", "a b c d", None]
)
def test_what_is_no_arrangement_is_worth_nothing(output: str | None) -> None:
    assert check(Board(4), output) == NOTHING


def test_a_moved_queen_is_worth_nothing() -> None:
    puzzle = Board(4, fixed=((0, 1),))
    assert check(puzzle, "1 3 0 2").passed
    assert check(puzzle, "2 0 3 1") == NOTHING


@pytest.mark.parametrize(
    ("output", "passed"),
    [
        ("7 13", True),
        ("13 7", True),
        ("1 91", False),
        ("91 1", False),
        ("7 14", False),
        ("7", False),
        ("7 13 1", False),
        ("-7 -13", False),
        ("7  13", False),
        ("", False),
        (None, False),
    ],
)
def test_factors_pass_exactly_where_they_multiply(output: str | None, passed: bool) -> None:
    assert check(PRODUCT, output).passed is passed
