"""Backtracking with unit propagation, after Davis, Logemann and Loveland (1962)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.demo.solvers.effort import Effort

if TYPE_CHECKING:
    from passk_py.demo.dice import Draw
    from passk_py.demo.instances.formula import Formula


def dpll(formula: Formula, budget: int, draw: Draw) -> Effort:
    """Search all assignments in a systematic order until every clause holds.

    Variables that a clause forces are set first. Otherwise it branches on the variable that is in
    most of the clauses with two open literals. Ties are broken at random: that is its only luck.
    """
    clauses, holders, n = formula.clauses, formula.holders, formula.variables
    everything = (1 << len(clauses)) - 1
    # A state is all that a branch needs, as sets of bits: the variables set, those set to true,
    # the clauses satisfied, and the number of false literals of each clause, 0 to 3, in two
    # planes. States are values, so going back is taking one off the stack.
    state = (0, 0, 0, 0, 0)
    stack: list[tuple[tuple[int, int, int, int, int], int, bool]] = []
    steps = 0
    while True:
        known, true, held, low, high = state
        dead = low & high & ~held
        units = high & ~low & ~held
        if held == everything:
            return Effort("".join("01"[true >> v & 1] for v in range(n)), steps, finished=True)
        if dead and not stack:
            return Effort(None, steps, finished=False)
        if dead:
            state, v, value = stack.pop()
            known, true, held, low, high = state
        elif units:
            clause = clauses[(units & -units).bit_length() - 1]
            literal = next(lit for lit in clause if not known >> (abs(lit) - 1) & 1)
            v, value = abs(literal) - 1, literal > 0
        else:
            v, value = _branch(holders, known, low & ~high & ~held or everything & ~held, draw)
            stack.append((state, v, not value))
        if steps >= budget:
            return Effort(None, steps, finished=False)
        steps += 1
        false = holders[v][not value]
        state = (
            known | 1 << v,
            true | value << v,
            held | holders[v][value],
            low ^ false,
            high ^ (low & false),
        )


def _branch(
    holders: tuple[tuple[int, int], ...], known: int, pressing: int, draw: Draw
) -> tuple[int, bool]:
    """Choose the open variable that is in most of the pressing clauses, and its value."""
    most, choices = -1, [0]
    for v, (no, yes) in enumerate(holders):
        if not known >> v & 1:
            count = ((no | yes) & pressing).bit_count()
            if count > most:
                most, choices = count, [v]
            elif count == most:
                choices.append(v)
    v = choices[int(draw() * len(choices))]
    no, yes = holders[v]
    return v, (yes & pressing).bit_count() >= (no & pressing).bit_count()
