"""The four runs of the demo have the shapes that the demo is about, with room to spare.

Everything here is exact: fractions from counts, over all 48 tasks.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from passk_py.demo import AttemptRow

Counts = dict[str, list[tuple[int, int]]]

WALKER, TRACER = "walker-2026-03", "tracer-2026-03"
OLD_SCOUT, NEW_SCOUT = "scout-2026-02", "scout-2026-03"


@pytest.fixture(scope="module")
def counts(rows: tuple[AttemptRow, ...]) -> Counts:
    """For each run the n and c of its tasks."""
    tally: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for row in rows:
        if row["outcome"] != "excluded":
            tally[row["run_id"], row["task_id"]].append(row["outcome"] == "passed")
    runs = defaultdict(list)
    for (run_id, _), passes in tally.items():
        runs[run_id].append((len(passes), sum(passes)))
    return dict(runs)


def pass_at(tasks: list[tuple[int, int]], k: int) -> Fraction:
    return 1 - pass_hat([(n, n - c) for n, c in tasks], k)


def pass_hat(tasks: list[tuple[int, int]], k: int) -> Fraction:
    return sum((Fraction(comb(c, k), comb(n, k)) for n, c in tasks), Fraction()) / len(tasks)


def test_the_walker_is_capable_but_flaky(counts: Counts) -> None:
    assert pass_at(counts[WALKER], 8) > Fraction("0.95")
    assert pass_hat(counts[WALKER], 8) < Fraction("0.30")


def test_the_tracer_is_narrower_but_consistent(counts: Counts) -> None:
    walker, tracer = counts[WALKER], counts[TRACER]
    assert pass_at(tracer, 8) < pass_at(walker, 8) - Fraction("0.30")
    assert pass_hat(tracer, 4) > pass_hat(walker, 4) + Fraction("0.10")
    assert pass_hat(tracer, 8) > pass_hat(walker, 8) + Fraction("0.20")
    assert pass_at(tracer, 1) - pass_hat(tracer, 8) < Fraction("0.02")


def test_the_new_scout_gains_pass_at_1_and_loses_pass_hat_4(counts: Counts) -> None:
    old, new = counts[OLD_SCOUT], counts[NEW_SCOUT]
    assert pass_at(new, 1) > pass_at(old, 1) + Fraction("0.04")
    assert pass_hat(new, 4) < pass_hat(old, 4) - Fraction("0.08")


def test_gain_and_loss_of_the_new_scout_are_no_noise(counts: Counts) -> None:
    """Both exceed three standard errors of tasks tried again and again."""
    for k, change in ((1, 1), (4, -1)):
        moved = pass_hat(counts[NEW_SCOUT], k) - pass_hat(counts[OLD_SCOUT], k)
        errors = [jackknife_variance(counts[run], k) for run in (OLD_SCOUT, NEW_SCOUT)]
        assert moved * change > 0
        assert moved**2 > 9 * sum(errors)


def jackknife_variance(tasks: list[tuple[int, int]], k: int) -> Fraction:
    """Return the variance of the suite's pass^k, leaving out one attempt of one task at a time."""
    total = Fraction()
    for n, c in tasks:
        without_pass = Fraction(comb(c - 1, k), comb(n - 1, k)) if c else Fraction()
        without_fail = Fraction(comb(c, k), comb(n - 1, k)) if c < n else Fraction()
        mean = (c * without_pass + (n - c) * without_fail) / n
        squares = c * (without_pass - mean) ** 2 + (n - c) * (without_fail - mean) ** 2
        total += squares * (n - 1) / n
    return total / len(tasks) ** 2


def test_capability_and_reliability_rank_the_runs_the_other_way_round(counts: Counts) -> None:
    by_capability = sorted(counts, key=lambda run: pass_at(counts[run], 8), reverse=True)
    by_reliability = sorted(counts, key=lambda run: pass_hat(counts[run], 8), reverse=True)
    assert by_capability == [WALKER, NEW_SCOUT, OLD_SCOUT, TRACER]
    assert by_reliability == by_capability[::-1]


def test_neighbours_in_the_ranking_are_apart(counts: Counts) -> None:
    ranking = [counts[run] for run in (WALKER, NEW_SCOUT, OLD_SCOUT, TRACER)]
    for one, following in pairwise(ranking):
        assert pass_at(one, 8) > pass_at(following, 8) + Fraction("0.01")
        assert pass_hat(one, 8) < pass_hat(following, 8) - Fraction("0.05")


def test_every_task_was_solved_by_someone(rows: tuple[AttemptRow, ...]) -> None:
    solved = {row["task_id"] for row in rows if row["outcome"] == "passed"}
    assert solved == {row["task_id"] for row in rows}


def test_runs_have_consistent_flaky_and_incapable_tasks(counts: Counts) -> None:
    pooled = [task for tasks in counts.values() for task in tasks]
    assert sum(c == n for n, c in pooled) >= 40
    assert sum(0 < c < n for n, c in pooled) >= 40
    assert sum(c == 0 for n, c in pooled) >= 20
