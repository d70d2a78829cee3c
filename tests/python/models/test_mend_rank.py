"""The rank of tasks to mend: a place for every task that was tried, none of them taken twice."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

K: Final = 8
# (n, c) by task. At k = 8 two and seven of eight lose all of pass^8 alike, and three tasks are too short to lose any.
TASKS: Final = {
    "a-seven": (8, 7),
    "b-two": (8, 2),
    "c-short": (7, 2),
    "d-perfect": (8, 8),
    "e-two": (8, 2),
    "f-one-try": (1, 0),
    "g-one-pass": (1, 1),
    "h-perfect": (8, 8),
    "i-untried": (0, 0),
}


def moments() -> tuple[Fraction, Fraction]:
    """Give a and b of the tasks with two attempts or more, worked out with whole numbers."""
    counts = [(n, c) for n, c in TASKS.values() if n > 1]
    rates = [Fraction(c, n) for n, c in counts]
    m = sum(rates) / len(rates)
    m2 = sum(Fraction(c * (c - 1), n * (n - 1)) for n, c in counts) / len(counts)
    off = sum((x - m) ** 2 for x in rates) / (len(rates) - 1) / len(rates)
    both = (m - m2) / (m2 - m * m + off)
    return m * both, (1 - m) * both


def gain(n: int, c: int, a: Fraction, b: Fraction) -> float:
    """Give 1 - E[p^k] of Beta(c + a, n - c + b) over the number of tasks."""
    return float(1 - prod((c + a + j) / (n + a + b + j) for j in range(K))) / len(TASKS)


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Callable[..., Any]) -> Project:
    made = make_project()
    for task, (n, c) in TASKS.items():
        made.land(attempts("r", task, "P" * c + "F" * (n - c) if n else "X"))
    # Every task passes always or never: no beta distribution has these moments.
    for task in ("t-1", "t-2"):
        made.land(attempts("all or nothing", task, ("P" if task == "t-1" else "F") * 3))
    made.run({"passk_deployment_k": K, "passk_ks": [K]}, select=["+passk_tasks"])
    return made


def test_the_gain_is_that_of_a_posterior_that_the_run_shrinks(built: Project) -> None:
    a, b = moments()
    assert a > 0
    assert b > 0
    found = dict(built.query("select task_id, expected_gain from passk_tasks where run_id = 'r'"))
    assert found.pop("i-untried") is None
    for task, value in found.items():
        assert value == pytest.approx(gain(*TASKS[task], a, b), rel=1e-12), task


def test_no_two_tasks_have_one_place_and_short_ones_have_theirs(built: Project) -> None:
    rows = built.query(
        "select task_id, mend_rank, lost_reliability from passk_tasks where run_id = 'r' "
        "order by mend_rank nulls last"
    )
    a, b = moments()
    expected = sorted(
        (task for task, (n, _) in TASKS.items() if n),
        key=lambda task: (-gain(*TASKS[task], a, b), task),
    )
    assert [task for task, _, _ in rows] == [*expected, "i-untried"]
    assert [place for _, place, _ in rows] == [*range(1, len(TASKS)), None]
    # The order that there was: two of eight and seven of eight lost as much, and two of seven had no place.
    lost = {task: value for task, _, value in rows}
    assert lost["a-seven"] == lost["b-two"] == 1
    assert lost["c-short"] is None
    assert expected.index("c-short") < expected.index("a-seven")
    # Equal counts stand in the order of their names.
    assert expected.index("b-two") + 1 == expected.index("e-two")


def test_without_a_fit_the_prior_is_that_of_jeffreys(built: Project) -> None:
    half = Fraction(1, 2)
    rows = built.query(
        "select task_id, expected_gain, mend_rank from passk_tasks "
        "where run_id = 'all or nothing' order by 1"
    )
    for (task, value, place), c in zip(rows, (3, 0), strict=True):
        lost = 1 - prod((c + half + j) / (3 + 1 + j) for j in range(K))
        assert value == pytest.approx(float(lost) / 2, rel=1e-12), task
        assert place == (2 if c else 1)
