"""Numbers beyond the attempts that were made: against the Beta distribution, and only when asked for."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

Rows = list[dict[str, Any]]

VARS: Final = {
    "passk_ks": [1, 2, 4, 8],
    "passk_deployment_k": 4,
    "passk_create_sql_functions": False,
    "passk_ordered_metrics": False,
}
ASKED: Final = {**VARS, "passk_extrapolated_ks": [4, 8, 16, 1000]}
LOGS: Final = {
    "mixed": [(8, c) for c in (0, 1, 3, 5, 6, 8, 8, 8)],
    "short": [(4, c) for c in (0, 1, 3, 4)],
    "perfect": [(8, 8)] * 3,
    "hopeless": [(8, 0)] * 3,
    "all or nothing": [(8, 8), (8, 0), (8, 8)],
    "alike": [(8, 4)] * 6,
    "once": [(1, 1), (1, 0)],
}


def log() -> Rows:
    return [
        {
            "run_id": run, "suite": "suite", "task_id": f"t{task}", "attempt": number + 1,
            "outcome": "passed" if number < c else "failed",
        }
        for run, tasks in LOGS.items()
        for task, (n, c) in enumerate(tasks)
        for number in range(n)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project]) -> Project:
    project = make_project()
    project.land(log())
    project.run(ASKED, select=["+passk_extrapolations"])
    return project


def rows(project: Project) -> dict[tuple[str, int], dict[str, Any]]:
    found = project.records("select * from passk_extrapolations")
    return {(row["run_id"], row["k"]): row for row in found}


def exact_moments(tasks: list[tuple[int, int]], k: int) -> tuple[Fraction, Fraction]:
    """Give pass@k and pass^k of the Beta distribution with the unbiased first two moments."""
    size = len(tasks)
    rates = [Fraction(c, n) for n, c in tasks]
    mean = sum(rates) / size
    both = sum(Fraction(c * (c - 1), n * (n - 1)) for n, c in tasks) / size
    spread = sum((rate - mean) ** 2 for rate in rates) / (size - 1) / size
    # a and b of the distribution, as in Kazdan and others 2025, with the unbiased square of the mean.
    strength = (mean - both) / (both - mean**2 + spread)
    a, b = mean * strength, (1 - mean) * strength
    passes = fails = Fraction(1)
    for i in range(k):
        passes *= (a + i) / (a + b + i)
        fails *= (b + i) / (a + b + i)
    return 1 - fails, passes


@pytest.mark.parametrize("k", [16, 1000])
def test_it_is_the_beta_distribution_of_the_moments(built: Project, k: int) -> None:
    row = rows(built)["mixed", k]
    # s^2 / T is taken from the square of the mean in the mean's variance too.
    rate = Fraction(sum(c for _, c in LOGS["mixed"]), 64)
    pass_at_k, pass_hat_k = exact_moments(LOGS["mixed"], k)
    assert (row["measured_k"], row["basis"], row["null_reason"]) == (8, "beta_binomial", None)
    assert 0 < rate < 1
    assert math.isclose(row["pass_hat_k"], float(pass_hat_k), rel_tol=1e-9)
    assert math.isclose(row["pass_at_k"], float(pass_at_k), rel_tol=1e-9)


def test_what_holds_without_the_model_stands_beside_it(built: Project) -> None:
    limits = built.query(
        "select pass_at_k_lower, pass_hat_k_upper from passk_suite_metrics "
        "where run_id = 'mixed' and k = 8 and slice_name = 'all'"
    )
    row = rows(built)["mixed", 16]
    assert [(row["pass_at_k_at_least"], row["pass_hat_k_at_most"])] == limits


@pytest.mark.parametrize(
    ("run", "k", "reason"),
    [
        ("mixed", 8, "it was measured: see passk_suite_metrics"),
        ("perfect", 16, "every attempt passed"),
        ("hopeless", 16, "no attempt passed"),
        ("all or nothing", 16, "every task passed always or never"),
        ("alike", 16, "tasks differ less than chance makes them"),
        ("once", 4, "k = 1 and k = 2 are not both measured"),
    ],
)
def test_where_there_is_no_number_there_is_a_reason(
    built: Project, run: str, k: int, reason: str
) -> None:
    row = rows(built)[run, k]
    assert (row["pass_at_k"], row["pass_hat_k"], row["null_reason"]) == (None, None, reason)


def test_sql_and_polars_agree(built: Project) -> None:
    found = rows(built)
    expected = pk.extrapolate(pl.DataFrame(log()), [4, 8, 16, 1000], measured_ks=[1, 2, 4, 8])
    assert len(found) == expected.height == 4 * len(LOGS)
    for row in expected.to_dicts():
        other = found[row["run_id"], row["k"]]
        for name, value in row.items():
            if isinstance(value, float):
                assert math.isclose(value, other[name], rel_tol=1e-8), (row, name)
            else:
                assert value == other[name], (row, name)
    assert found["short", 8]["pass_hat_k"] is not None


def test_the_data_tests_hold(built: Project) -> None:
    built.run(ASKED, command="test", select=["passk_extrapolations"])


def test_nothing_is_extrapolated_that_nobody_asked_for(built: Project) -> None:
    built.run(VARS, select=["passk_extrapolations"])
    assert rows(built) == {}
    built.run(ASKED, select=["passk_extrapolations"])


@pytest.mark.long
def test_a_beta_population_is_met_on_average() -> None:
    """Beta(2, 1) has E[p^16] = 2 / 18; from 8 attempts of 100 tasks, 60 times."""
    chance = random.Random(3)
    total = 0.0
    for _ in range(60):
        log = pl.DataFrame(
            [
                {"run_id": "r", "task_id": task, "attempt": number, "passed": chance.random() < p}
                for task, p in enumerate(chance.betavariate(2, 1) for _ in range(100))
                for number in range(1, 9)
            ]
        )
        total += pk.extrapolate(log, [16], measured_ks=[1, 2, 8])["pass_hat_k"][0]
    # The mean of 60, each off by some .035, is off by .0045.
    assert abs(total / 60 - 2 / 18) < 0.015
