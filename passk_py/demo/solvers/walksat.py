"""Local search for satisfiability, after Selman, Kautz and Cohen's WalkSAT (1994)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.demo.solvers.effort import Effort

if TYPE_CHECKING:
    from passk_py.demo.dice import Draw
    from passk_py.demo.instances.formula import Formula


def walksat(formula: Formula, budget: int, draw: Draw, *, noise: float) -> Effort:
    """Flip one variable after the other until every clause holds.

    From a random assignment, take a random broken clause. If a variable of it can be flipped
    without breaking another clause, flip that one. Otherwise flip, with the chance `noise`, any of
    the three, or the one that breaks the fewest. Little noise gets stuck where every way
    out leads up; much noise wanders. A step is one flip, and the start counts as one; the answer is
    the best assignment met.
    """
    clauses, holders, n = formula.clauses, formula.holders, formula.variables
    everything = (1 << len(clauses)) - 1
    values = [draw() < 0.5 for _ in range(n)]
    # The number of true literals of each clause, 0 to 3, as two planes of bits.
    low = high = 0
    for v in range(n):
        held = holders[v][values[v]]
        low, high = low ^ held, high ^ (low & held)
    broken = everything & ~(low | high)
    steps, best, fewest = 1, values[:], broken.bit_count()
    while broken and steps < budget:
        steps += 1
        rest = broken
        for _ in range(int(draw() * broken.bit_count())):
            rest &= rest - 1
        clause = clauses[(rest & -rest).bit_length() - 1]
        # A flip breaks the clauses in which the variable's literal is the only true one.
        single = low & ~high
        costs = [
            (holders[literal - 1][0] if literal > 0 else holders[-literal - 1][1]) & single
            for literal in clause
        ]
        counts = [cost.bit_count() for cost in costs]
        least = min(counts)
        if least and draw() < noise:
            literal = clause[int(draw() * 3)]
        else:
            choices = [lit for lit, count in zip(clause, counts, strict=True) if count == least]
            literal = choices[int(draw() * len(choices))] if len(choices) > 1 else choices[0]
        v = abs(literal) - 1
        no, yes = holders[v]
        gains, losses = (no, yes) if values[v] else (yes, no)
        values[v] = not values[v]
        low, high = low ^ gains, high ^ (low & gains)
        low, high = low ^ losses, high ^ (losses & ~low)
        broken = everything & ~(low | high)
        if broken.bit_count() < fewest:
            fewest, best = broken.bit_count(), values[:]
    return Effort("".join("01"[value] for value in best), steps, finished=not broken)
