"""Random 3-SAT formulas that have a solution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from passk_py.demo.dice import below, dice


@dataclass(frozen=True)
class Formula:
    """A conjunction of clauses of three literals each."""

    variables: int
    clauses: tuple[tuple[int, int, int], ...]
    """A literal is ``v + 1`` for the variable v (from 0), ``-v - 1`` for its negation."""

    @cached_property
    def holders(self) -> tuple[tuple[int, int], ...]:
        """For each variable the clauses that hold it, as bits: first negated, then plain."""
        holders = [[0, 0] for _ in range(self.variables)]
        for place, clause in enumerate(self.clauses):
            for literal in clause:
                holders[abs(literal) - 1][literal > 0] |= 1 << place
        return tuple((no, yes) for no, yes in holders)


def plant_formula(
    variables: int, clauses: int, *, seed: int, mirrored: bool
) -> tuple[Formula, tuple[bool, ...]]:
    """Draw a random 3-SAT formula around a hidden solution.

    Clauses are drawn uniformly and kept when the hidden assignment satisfies them, so the formula
    has a solution by construction. That leans the literals towards it: many clauses point local
    search the way. A mirrored formula keeps only clauses that the opposite of the hidden
    assignment satisfies too, so nothing leans and the formula is as hard to walk as one without
    a hidden solution.
    """
    draw = dice(seed)
    hidden = tuple(draw() < 0.5 for _ in range(variables))
    kept: list[tuple[int, int, int]] = []
    while len(kept) < clauses:
        a = b = c = 0
        while len({a, b, c}) < 3:
            a, b, c = below(draw, variables), below(draw, variables), below(draw, variables)
        signs = draw() < 0.5, draw() < 0.5, draw() < 0.5
        agree = [sign == hidden[v] for sign, v in zip(signs, (a, b, c), strict=True)]
        if any(agree) and not (mirrored and all(agree)):
            first, second, third = (
                v + 1 if sign else -v - 1 for sign, v in zip(signs, (a, b, c), strict=True)
            )
            kept.append((first, second, third))
    return Formula(variables, tuple(kept)), hidden
