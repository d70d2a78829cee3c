"""The demo's suite: 48 puzzles of three domains, from what everyone solves to what few do.

The puzzles were picked from about four hundred drawn at random, by how often a pilot with other
seeds solved them in 64 attempts a run, so that the suite holds each kind: easy for all, a matter
of luck for local search, too large for systematic search, hard for all. The tag `difficulty` tells
the pilot's share of solved attempts over the four runs: easy from 7/8 on, hard below 1/2.

How often a puzzle is tried was fixed beforehand too: sixteen times, and twenty or twenty-four
times for a few.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from passk_py.demo.dice import fold
from passk_py.demo.instances.formula import plant_formula
from passk_py.demo.instances.semiprime import plant_semiprime
from passk_py.demo.planted_board import plant_board

if TYPE_CHECKING:
    from passk_py.demo.agents import Puzzle

SUITE: Final = "puzzles"
"""The suite's name. It also seeds the puzzles, which are the same for every seed of the log."""


@dataclass(frozen=True)
class Task:
    """One puzzle of the suite, named by its place by falling share of solved pilot attempts."""

    task_id: str
    domain: str
    difficulty: str
    attempts: int
    """How often each run tries it."""
    puzzle: Puzzle


@cache
def tasks() -> tuple[Task, ...]:
    """Return the tasks of the suite, in the order in which a round goes through them."""
    return (
        _formula(1, "easy", 20, 80, pick=1),
        _formula(2, "easy", 40, 172, mirrored=True, pick=1),
        _formula(3, "easy", 30, 105, pick=2, attempts=24),
        _formula(4, "easy", 30, 180, mirrored=True, pick=1),
        _formula(5, "easy", 40, 172, pick=3),
        _formula(6, "easy", 40, 200, mirrored=True, pick=2),
        _formula(7, "easy", 60, 300, mirrored=True, pick=5),
        _formula(8, "easy", 50, 215, pick=4),
        _formula(9, "easy", 50, 250, pick=1),
        _formula(10, "medium", 80, 480, mirrored=True, pick=2),
        _formula(11, "medium", 60, 360, mirrored=True, pick=4),
        _formula(12, "medium", 50, 250, mirrored=True, pick=4),
        _formula(13, "medium", 40, 200, pick=1),
        _formula(14, "medium", 60, 300, pick=3, attempts=20),
        _formula(15, "medium", 100, 400, pick=1, attempts=24),
        _formula(16, "hard", 160, 640, pick=3),
        _board(1, "easy", 8, 0, pick=1),
        _board(2, "easy", 14, 5, pick=3),
        _board(3, "easy", 16, 8, pick=4),
        _board(4, "medium", 14, 3, pick=5),
        _board(5, "medium", 8, 2, pick=4),
        _board(6, "medium", 22, 8, pick=4),
        _board(7, "medium", 18, 6, pick=3, attempts=20),
        _board(8, "medium", 14, 1, pick=1),
        _board(9, "medium", 24, 12, pick=1),
        _board(10, "medium", 22, 5, pick=3),
        _board(11, "medium", 28, 10, pick=1),
        _board(12, "hard", 16, 2, pick=5),
        _board(13, "hard", 32, 12, pick=1),
        _board(14, "hard", 18, 6, pick=2, attempts=20),
        _board(15, "hard", 24, 6, pick=2),
        _board(16, "hard", 20, 5, pick=3),
        _board(17, "hard", 22, 11, pick=4),
        _semiprime(1, "easy", 200, 1_000_000, pick=1),
        _semiprime(2, "easy", 200_000, 200_000, pick=1),
        _semiprime(3, "easy", 100_000, 100_000, pick=3),
        _semiprime(4, "medium", 400_000, 400_000, pick=4),
        _semiprime(5, "medium", 200_000, 200_000, pick=4, attempts=20),
        _semiprime(6, "medium", 20_000, 1_000_000, pick=3),
        _semiprime(7, "hard", 50_000, 1_000_000, pick=1),
        _semiprime(8, "hard", 50_000, 1_000_000, pick=4),
        _semiprime(9, "hard", 100_000, 1_000_000, pick=2, attempts=24),
        _semiprime(10, "hard", 100_000, 1_000_000, pick=5),
        _semiprime(11, "hard", 200_000, 1_000_000, pick=5, attempts=20),
        _semiprime(12, "hard", 200_000, 1_000_000, pick=4),
        _semiprime(13, "hard", 200_000, 1_000_000, pick=3),
        _semiprime(14, "hard", 400_000, 1_000_000, pick=1),
        _semiprime(15, "hard", 400_000, 1_000_000, pick=5),
    )


def _formula(
    number: int,
    difficulty: str,
    variables: int,
    clauses: int,
    *,
    pick: int,
    mirrored: bool = False,
    attempts: int = 16,
) -> Task:
    seed = fold(SUITE, "sat", variables, clauses, mirrored, pick)
    formula, _ = plant_formula(variables, clauses, seed=seed, mirrored=mirrored)
    return Task(f"sat-{number:02}", "sat", difficulty, attempts, formula)


def _board(
    number: int, difficulty: str, size: int, fixed: int, *, pick: int, attempts: int = 16
) -> Task:
    board, _ = plant_board(size, fixed, seed=fold(SUITE, "queens", size, fixed, pick))
    return Task(f"queens-{number:02}", "queens", difficulty, attempts, board)


def _semiprime(
    number: int, difficulty: str, smaller: int, larger: int, *, pick: int, attempts: int = 16
) -> Task:
    seed = fold(SUITE, "factor", smaller, larger, pick)
    semiprime, _ = plant_semiprime(smaller, larger, seed=seed)
    return Task(f"factor-{number:02}", "factor", difficulty, attempts, semiprime)
