"""The demo's solvers solve, keep to their budget, and repeat themselves only from the same seed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from passk_py.demo.agents import BUDGET, SCOUT_FEBRUARY, SCOUT_MARCH, TRACER, WALKER
from passk_py.demo.checkers import check
from passk_py.demo.dice import dice
from passk_py.demo.instances.board import Board
from passk_py.demo.instances.formula import Formula, plant_formula
from passk_py.demo.instances.semiprime import Semiprime, plant_semiprime
from passk_py.demo.planted_board import plant_board
from passk_py.demo.solvers.dpll import dpll
from passk_py.demo.solvers.min_conflicts import min_conflicts
from passk_py.demo.solvers.place_queens import place_queens
from passk_py.demo.solvers.pollard_rho import pollard_rho
from passk_py.demo.solvers.trial_and_squares import trial_and_squares
from passk_py.demo.solvers.walksat import walksat
from passk_py.demo.suite import tasks

if TYPE_CHECKING:
    from collections.abc import Callable

    from passk_py.demo.agents import Agent, Puzzle
    from passk_py.demo.solvers.effort import Effort

    Solve = Callable[[int, int], tuple[Puzzle, Effort]]

PLENTY = 20_000


def formula(seed: int) -> Formula:
    return plant_formula(12 + seed, 50, seed=seed, mirrored=seed % 2 == 1)[0]


def board(seed: int) -> Board:
    return plant_board(6 + seed, seed % 5, seed=seed)[0]


def product(seed: int) -> Semiprime:
    return plant_semiprime(100 + 8 * seed, 5000, seed=seed)[0]


def run_walksat(seed: int, budget: int) -> tuple[Puzzle, Effort]:
    puzzle = formula(seed)
    return puzzle, walksat(puzzle, budget, dice(seed), noise=0.5)


def run_dpll(seed: int, budget: int) -> tuple[Puzzle, Effort]:
    puzzle = formula(seed)
    return puzzle, dpll(puzzle, budget, dice(seed))


def run_min_conflicts(seed: int, budget: int) -> tuple[Puzzle, Effort]:
    puzzle = board(seed)
    return puzzle, min_conflicts(puzzle, budget, dice(seed), noise=0.125)


def run_place_queens(seed: int, budget: int) -> tuple[Puzzle, Effort]:
    puzzle = board(seed)
    return puzzle, place_queens(puzzle, budget)


def run_pollard_rho(seed: int, budget: int) -> tuple[Puzzle, Effort]:
    puzzle = product(seed)
    return puzzle, pollard_rho(puzzle, budget, dice(seed))


def run_trial_and_squares(seed: int, budget: int) -> tuple[Puzzle, Effort]:
    puzzle = product(seed)
    return puzzle, trial_and_squares(puzzle, budget)


SOLVERS = [
    run_walksat,
    run_dpll,
    run_min_conflicts,
    run_place_queens,
    run_pollard_rho,
    run_trial_and_squares,
]

every_solver = pytest.mark.parametrize("solve", SOLVERS, ids=lambda solve: solve.__name__[4:])
every_agent = pytest.mark.parametrize(
    "agent",
    [WALKER, TRACER, SCOUT_FEBRUARY, SCOUT_MARCH],
    ids=lambda agent: f"{agent.name}-{agent.version}",
)


@every_solver
@pytest.mark.parametrize("seed", range(10))
def test_with_plenty_of_steps_every_solver_solves(solve: Solve, seed: int) -> None:
    puzzle, effort = solve(seed, PLENTY)
    assert effort.finished
    assert check(puzzle, effort.output).passed


@every_solver
@pytest.mark.parametrize("budget", [1, 2, 5, 12])
def test_no_solver_takes_more_steps_than_it_may(solve: Solve, budget: int) -> None:
    for seed in range(10):
        puzzle, effort = solve(seed, budget)
        assert 1 <= effort.steps <= budget
        assert effort.finished == check(puzzle, effort.output).passed


@every_solver
def test_the_same_seed_takes_the_same_way(solve: Solve) -> None:
    assert [solve(seed, 50) for seed in range(10)] == [solve(seed, 50) for seed in range(10)]


def test_dpll_says_nothing_where_no_assignment_is_left() -> None:
    signs = [(a, b, c) for a in (1, -1) for b in (2, -2) for c in (3, -3)]
    effort = dpll(Formula(3, tuple(signs)), PLENTY, dice(1))
    assert (effort.output, effort.finished) == (None, False)
    assert effort.steps < 20


@pytest.mark.parametrize("size", [2, 3])
def test_place_queens_says_nothing_where_no_arrangement_is_left(size: int) -> None:
    effort = place_queens(Board(size), PLENTY)
    assert (effort.output, effort.finished) == (None, False)


def test_place_queens_takes_the_known_number_of_placements() -> None:
    """Lexicographic backtracking places 113 queens before the first solution of eight."""
    effort = place_queens(Board(8), PLENTY)
    assert (effort.output, effort.steps) == ("0 4 7 5 2 6 1 3", 113)


def test_standing_queens_stay() -> None:
    puzzle, _ = plant_board(12, 4, seed=5)
    for effort in (place_queens(puzzle, PLENTY), min_conflicts(puzzle, 3, dice(1), noise=0.5)):
        assert effort.output is not None
        columns = [int(column) for column in effort.output.split()]
        assert all(columns[row] == column for row, column in puzzle.fixed)


def test_trial_and_squares_finds_close_factors_at_once() -> None:
    effort = trial_and_squares(Semiprime(1009 * 1013), PLENTY)
    assert (effort.output, effort.steps) == ("1009 1013", 2)


@every_agent
def test_an_agent_keeps_to_the_budget_and_believes_what_is_true(agent: Agent) -> None:
    for task in tasks():
        effort = agent.attempt(task.puzzle, dice(7))
        assert 1 <= effort.steps <= BUDGET
        assert effort.finished == check(task.puzzle, effort.output).passed
        assert effort.finished or effort.steps == BUDGET


@every_agent
def test_an_agent_repeats_itself_from_the_same_seed(agent: Agent) -> None:
    attempt = partial(agent.attempt, tasks()[14].puzzle)
    assert [attempt(dice(seed)) for seed in range(5)] == [attempt(dice(seed)) for seed in range(5)]
    if agent is not TRACER:
        assert len({attempt(dice(seed)).output for seed in range(5)}) > 1
