"""The demo's puzzles have the solutions that they were drawn around."""

from __future__ import annotations

import pytest

from passk_py.demo.checkers import check
from passk_py.demo.instances.formula import plant_formula
from passk_py.demo.instances.semiprime import is_prime, plant_semiprime
from passk_py.demo.planted_board import plant_board
from passk_py.demo.suite import tasks


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_a_formula_holds_for_its_hidden_solution(seed: int, mirrored: bool) -> None:
    formula, hidden = plant_formula(20, 90, seed=seed, mirrored=mirrored)
    assert len(formula.clauses) == 90
    assert all(len({abs(literal) for literal in clause}) == 3 for clause in formula.clauses)
    assert check(formula, "".join("01"[value] for value in hidden)).passed
    opposite = check(formula, "".join("10"[value] for value in hidden))
    assert opposite.passed is mirrored


def test_a_formula_knows_which_clauses_hold_a_literal() -> None:
    formula, _ = plant_formula(10, 40, seed=3, mirrored=False)
    for variable, (no, yes) in enumerate(formula.holders, start=1):
        for place, clause in enumerate(formula.clauses):
            assert no >> place & 1 == (-variable in clause)
            assert yes >> place & 1 == (variable in clause)


@pytest.mark.parametrize("fixed", [0, 3, 9])
@pytest.mark.parametrize("seed", range(5))
def test_a_board_is_completed_by_its_hidden_solution(seed: int, fixed: int) -> None:
    board, hidden = plant_board(10, fixed, seed=seed)
    assert len(board.fixed) == fixed
    assert check(board, " ".join(map(str, hidden))).passed


@pytest.mark.parametrize("sizes", [(8, 9), (100, 100), (3000, 1_000_000)])
@pytest.mark.parametrize("seed", range(5))
def test_a_semiprime_has_two_prime_factors(seed: int, sizes: tuple[int, int]) -> None:
    semiprime, (p, q) = plant_semiprime(*sizes, seed=seed)
    assert p < q
    assert is_prime(p)
    assert is_prime(q)
    assert check(semiprime, f"{p} {q}").passed


def test_primes_are_told_from_the_rest() -> None:
    assert [n for n in range(-2, 50) if is_prime(n)] == [
        2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47
    ]  # fmt: skip


def test_the_suite_is_drawn_the_same_again() -> None:
    assert tasks.__wrapped__() == tasks()


def test_no_puzzle_is_in_the_suite_twice() -> None:
    assert len({task.task_id for task in tasks()}) == len(tasks())
    assert len({task.puzzle for task in tasks()}) == len(tasks())
