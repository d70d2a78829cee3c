"""The agents: algorithms with settings, under a budget of steps.

- **walker** guesses: local search with little noise and Pollard's rho. It gets anywhere on a good
  day and gets stuck on a bad one.
- **tracer** searches: backtracking and systematic factoring. It solves a task every time, or
  never if the task is too large for its budget.
- **scout** guesses first and searches with the steps that are left. Version 2026-02 guesses for a
  quarter of the budget; version 2026-03 for three fifths. The change wins puzzles too large to
  search and takes from the search the steps that it needs for others: more passes, and fewer tasks
  that pass every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from passk_py.demo.instances.board import Board
from passk_py.demo.instances.formula import Formula
from passk_py.demo.instances.semiprime import Semiprime
from passk_py.demo.solvers.dpll import dpll
from passk_py.demo.solvers.effort import Effort
from passk_py.demo.solvers.min_conflicts import min_conflicts
from passk_py.demo.solvers.place_queens import place_queens
from passk_py.demo.solvers.pollard_rho import pollard_rho
from passk_py.demo.solvers.trial_and_squares import trial_and_squares
from passk_py.demo.solvers.walksat import walksat

if TYPE_CHECKING:
    from passk_py.demo.dice import Draw

Puzzle: TypeAlias = Formula | Board | Semiprime
"""The levels of effort that an agent can have."""

BUDGET: Final = 400
"""Steps that every attempt of every agent may take."""


@dataclass(frozen=True)
class Agent:
    """One version of an agent."""

    name: str
    version: str
    model: str
    """The kind of solver that drives it."""
    guessing: int
    """Percent of the budget that local search gets before systematic search takes over."""
    flip_noise: float = 0.0
    """Chance of a random flip in `walksat`."""
    move_noise: float = 0.0
    """Chance of a random move in `min_conflicts`."""

    def attempt(self, puzzle: Puzzle, draw: Draw, *, budget: int = BUDGET) -> Effort:
        """Try once to solve a puzzle; without an answer, the best guess is handed in."""
        guess = Effort(None, 0, finished=False)
        if self.guessing:
            guess = self._guess(puzzle, budget * self.guessing // 100, draw)
        if guess.finished or guess.steps >= budget:
            return guess
        found = _search(puzzle, budget - guess.steps, draw)
        return Effort(found.output or guess.output, guess.steps + found.steps, found.finished)

    def _guess(self, puzzle: Puzzle, budget: int, draw: Draw) -> Effort:
        match puzzle:
            case Formula():
                return walksat(puzzle, budget, draw, noise=self.flip_noise)
            case Board():
                return min_conflicts(puzzle, budget, draw, noise=self.move_noise)
            case Semiprime():
                return pollard_rho(puzzle, budget, draw)


def _search(puzzle: Puzzle, budget: int, draw: Draw) -> Effort:
    match puzzle:
        case Formula():
            return dpll(puzzle, budget, draw)
        case Board():
            return place_queens(puzzle, budget)
        case Semiprime():
            return trial_and_squares(puzzle, budget)


WALKER: Final = Agent(
    "walker", "2026-03", "local-search", guessing=100, flip_noise=0.125, move_noise=0.03125
)
"""Capable but flaky."""

TRACER: Final = Agent("tracer", "2026-03", "systematic-search", guessing=0)
"""Narrower but consistent."""

SCOUT_FEBRUARY: Final = Agent(
    "scout", "2026-02", "hybrid-search", guessing=25, flip_noise=0.5, move_noise=0.125
)
"""Guesses briefly, then searches."""

SCOUT_MARCH: Final = Agent(
    "scout", "2026-03", "hybrid-search", guessing=60, flip_noise=0.5, move_noise=0.125
)
"""Guesses for most of the budget: its pass@1 is higher, its pass^4 lower."""
