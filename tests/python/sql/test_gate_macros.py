"""The needs of gates before anything is measured, and the exact tails of each task."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Final

import pytest

import passk_py as pk
from passk_py.metrics.gates.least import least_tasks_of_drop, least_tasks_of_floor
from passk_py.metrics.uncertainty import floor_of_difference, floor_of_suite
from passk_py.stats.distributions import student_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

LEVELS: Final = (0.8, 0.9, 0.95, 0.99)
THRESHOLDS: Final = (0.05, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999)


@pytest.fixture(scope="module")
def sql(make_project: Callable[[], Project]) -> Project:
    return make_project()


def test_numbers_that_were_published() -> None:
    """Those of a perfect suite at 95 %, and of a task at pass^8 (58.4 k)."""
    assert [pk.least_tasks(threshold) for threshold in (0.8, 0.9, 0.95, 0.99)] == [14, 29, 59, 295]
    assert pk.least_attempts(0.95, 8) == 468


@pytest.mark.long
def test_the_least_number_of_tasks_is_the_least(sql: Project) -> None:
    """Against a walk from one task up, and SQL against polars."""
    cases = [(threshold, level) for threshold in THRESHOLDS for level in LEVELS]
    calls = ", ".join(f"{{{{ passk.least_tasks({t}, {level}) }}}}" for t, level in cases)
    (found,) = sql.query(sql.render(f"select {calls}"))
    for (threshold, level), tasks in zip(cases, found, strict=True):
        walked = next(
            t
            for t in range(2, 20_000)
            if (t + 1 - student_quantile(t + 1, level)) / (t + 2) >= threshold
        )
        assert tasks == walked == pk.least_tasks(threshold, confidence=level), (threshold, level)


def test_the_least_number_of_attempts_is_the_least(sql: Project) -> None:
    cases = [(t, k, level) for t in (0.05, 0.5, 0.95, 0.999) for k in (1, 2, 8) for level in LEVELS]
    calls = ", ".join(f"{{{{ passk.least_attempts({t}, {k}, {level}) }}}}" for t, k, level in cases)
    (found,) = sql.query(sql.render(f"select {calls}"))
    for (threshold, k, level), attempts in zip(cases, found, strict=True):
        # threshold^(n / k) <= error, to the power of k: whole powers of rationals.
        exact, error = Fraction(str(threshold)), 1 - Fraction(str(level))
        assert exact**attempts <= error**k, (threshold, k, level)
        assert exact ** (attempts - 1) > error**k, (threshold, k, level)
        assert attempts == pk.least_attempts(threshold, k, confidence=level)


def test_two_equal_runs() -> None:
    """The interval of a difference of 0 with no variance, from its formula."""
    for drop in (0.01, 0.03, 0.2):
        tasks = least_tasks_of_drop(drop, 0.95)

        def reach(t: int) -> float:
            return student_quantile(t + 1, 0.95) * math.sqrt(2 / (t + 1) / (t + 2))

        assert reach(tasks) <= drop < reach(tasks - 1)


def test_two_perfect_runs_of_these_tasks() -> None:
    """-ln(.025) k / n / drop where few attempts were made, z sqrt(1/2) / drop where many were."""
    for n, tasks in ((4, math.ceil(-math.log(0.025) / 0.03)), (400, 47)):
        floor = floor_of_difference(4, n, 0.95)
        assert least_tasks_of_floor(0.03, floor, 0.95) == tasks
    assert math.ceil(-math.log(0.025) / 0.03) == 123
    assert math.ceil(1.959963984540054 * math.sqrt(0.5) / 0.03) == 47


def test_a_perfect_suite() -> None:
    """With n = 2k the reach is -ln(.025) / 2 / T; with n = 8k it is z / 2 / T."""
    assert math.ceil(-math.log(0.025) / 2 / 0.05) == 37
    assert least_tasks_of_floor(1 - 0.95, floor_of_suite(4, 8, 0.95), 0.95) == 37
    assert math.ceil(1.959963984540054 / 0.1) == 20
    assert least_tasks_of_floor(1 - 0.95, floor_of_suite(4, 32, 0.95), 0.95) == 20


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("least_tasks(1)", "threshold is 1, but must be a number between 0 and 1."),
        ("least_tasks(0)", "threshold is 0, but must be a number between 0 and 1."),
        ("least_tasks('n')", 'threshold is "n", but must be a number between 0 and 1.'),
        ("least_tasks(0.5, 0.7)", "confidence is 0.7, but must be one of 0.8, 0.9, 0.95, 0.99."),
        ("least_attempts(0.5, 0)", "k is 0, but must be an integer of at least 1."),
    ],
)
def test_wrong_arguments_are_refused(sql: Project, call: str, what: str) -> None:
    name = call.split("(", maxsplit=1)[0]
    with pytest.raises(Exception, match="passk") as caught:
        sql.render(f"{{{{ passk.{call} }}}}")
    assert f"passk.{name}: {what}" in str(caught.value)


@pytest.mark.parametrize("threshold", [0, 1, -0.5, True])
def test_wrong_thresholds_are_refused_in_python(threshold: float) -> None:
    with pytest.raises(pk.ArgumentError, match="threshold must be a number between 0 and 1"):
        pk.least_tasks(threshold)
    with pytest.raises(pk.ArgumentError, match="threshold must be a number between 0 and 1"):
        pk.least_attempts(threshold, 1)


@pytest.mark.long
def test_binomial_tails_against_rationals(sql: Project) -> None:
    states = [
        (n, c, p)
        for n in (1, 2, 7, 40, 300)
        for c in sorted({0, 1, n // 2, n - 1, n})
        for p in (0.001, 0.25, 0.5, 0.987)
        if c <= n
    ]
    values = ", ".join(f"({n}, {c}, {p}e0)" for n, c, p in states)
    found = sql.query(
        sql.render(
            f"with trials as (select * from (values {values}) as trials(n, c, p)), "
            "{{ passk._binomial_tails() }} select n, c, p, at_least, at_most from tails"
        )
    )
    assert len(found) == len(states)
    for n, c, p, at_least, at_most in found:
        exact = Fraction(p)
        terms = [comb(n, j) * exact**j * (1 - exact) ** (n - j) for j in range(n + 1)]
        for tail, expected in ((at_least, sum(terms[c:])), (at_most, sum(terms[: c + 1]))):
            # n times the last digit of ln(1 - p), and what underflows is nothing.
            assert math.isclose(tail, float(expected), rel_tol=1e-11, abs_tol=1e-300), (n, c, p)
