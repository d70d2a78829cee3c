"""Limits, variances and posteriors of the SQL tables, against forty digits and exact rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain
from math import comb, log, sqrt
from typing import TYPE_CHECKING, Any, Final

import mpmath
import polars as pl
import pytest
from mpmath import mpf

import passk_py as pk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from conftest import Project

KS: Final = (1, 2, 3, 4, 8)
COUNTS: Final = (1, 2, 3, 4, 5, 8, 20, 100)
OUTSIDE: Final = mpf("0.025")
READ: Final = ("+passk_task_metrics", "+passk_suite_metrics")
"""The tables that are read here, with all that they are made from."""

State = tuple[int, int]

pytestmark = pytest.mark.usefixtures("forty_digits")


@pytest.fixture(scope="module")
def forty_digits() -> Iterator[None]:
    with mpmath.workdps(40):
        yield


def passes_of(n: int) -> Iterable[int]:
    """Give the numbers of passes that tasks of n attempts have."""
    return range(n + 1) if n <= 20 else (0, 1, 2, 10, 50, 98, 99, 100)


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Callable[..., Any]) -> Project:
    """A build over a log that has every state of several n."""
    made = make_project()
    made.land(
        chain.from_iterable(
            attempts(f"n-{n}", f"t-{c}", "P" * c + "F" * (n - c))
            for n in COUNTS
            for c in passes_of(n)
        )
    )
    made.run({"passk_ks": list(KS)}, select=READ)
    return made


def states(project: Project) -> dict[State, tuple[float, float]]:
    rows = project.query(
        f"select n, c, p_lower, p_upper from {project.relation('int_passk__limits_by_count')}"
    )
    return {(n, c): (low, high) for n, c, low, high in rows}


def test_every_state_that_was_seen_has_its_limits(built: Project) -> None:
    assert set(states(built)) == {(n, c) for n in COUNTS for c in passes_of(n)}


def test_limits_between_the_ends_leave_as_much_on_both_sides_as_they_say(built: Project) -> None:
    for (n, c), (low, high) in states(built).items():
        if not 0 < c < n:
            continue
        a, b = mpf(c) + mpf(1) / 2, mpf(n - c) + mpf(1) / 2
        below = mpmath.betainc(a, b, 0, mpf(low), regularized=True)
        above = mpmath.betainc(a, b, mpf(high), 1, regularized=True)
        assert float(below) == pytest.approx(0.025, rel=1e-11), (n, c)
        assert float(above) == pytest.approx(0.025, rel=1e-11), (n, c)


def test_limits_at_the_ends_are_those_of_clopper_and_pearson(built: Project) -> None:
    for (n, c), (low, high) in states(built).items():
        if c == 0:
            assert (low, high) == (0, pytest.approx(float(1 - OUTSIDE ** (mpf(1) / n)), rel=1e-13))
        if c == n:
            assert (low, high) == (pytest.approx(float(OUTSIDE ** (mpf(1) / n)), rel=1e-13), 1)


def test_whatever_p_is_the_limits_hold_it_in_87_of_100_logs(built: Project) -> None:
    found = states(built)
    for n in (n for n in COUNTS if n <= 20):
        limits = [found[n, c] for c in range(n + 1)]
        points = [i / 500 for i in range(501)]
        # Coverage falls right beside a limit.
        points += [
            x for pair in limits for end in pair for x in (end - 1e-9, end + 1e-9) if 0 < x < 1
        ]
        for p in points:
            held = sum(
                comb(n, c) * p**c * (1 - p) ** (n - c)
                for c, (low, high) in enumerate(limits)
                if low <= p <= high
            )
            assert held >= 0.87, (n, p)


def test_limits_of_k_are_those_of_p_and_reach_to_the_estimate(built: Project) -> None:
    found = states(built)
    rows = built.query(
        "select n, c, k, pass_at_k, pass_at_k_lower, pass_at_k_upper, pass_hat_k, pass_hat_k_lower,"
        f" pass_hat_k_upper from {built.relation('passk_task_metrics')}"
    )
    assert rows
    for n, c, k, at, at_low, at_high, hat, hat_low, hat_high in rows:
        if n < k:
            assert (at, at_low, at_high, hat, hat_low, hat_high) == (None,) * 6
            continue
        low, high = found[n, c]
        assert hat_low == pytest.approx(min(low**k, hat), rel=1e-12)
        assert hat_high == pytest.approx(max(high**k, hat), rel=1e-12)
        assert at_low == pytest.approx(min(1 - (1 - low) ** k, at), rel=1e-9)
        assert at_high == pytest.approx(max(1 - (1 - high) ** k, at), rel=1e-9)


def pass_hat(n: int, c: int, k: int) -> Fraction:
    return Fraction(comb(c, k), comb(n, k))


def posterior(n: int, c: int, k: int) -> Fraction:
    """E[p^k] of Beta(c + 1, n - c + 1), factor by factor."""
    value = Fraction(1)
    for i in range(k):
        value *= Fraction(c + 1 + i, n + 2 + i)
    return value


def test_variances_and_posteriors_of_a_task(built: Project) -> None:
    rows = built.query(
        "select n, c, k, var_pass_at_k, var_pass_hat_k, pass_at_k_bayes, pass_hat_k_bayes, "
        "var_pass_at_k_bayes, var_pass_hat_k_bayes from "
        f"{built.relation('int_passk__uncertainty_by_count')}"
    )
    assert len(rows) == len(states(built)) * len(KS)
    for n, c, k, var_at, var_hat, at_bayes, hat_bayes, at_spread, hat_spread in rows:
        f = n - c
        for variance, lucky in ((var_at, f), (var_hat, c)):
            if n < 2 * k:
                assert variance is None
            else:
                exact = pass_hat(n, lucky, k) ** 2 - pass_hat(n, lucky, 2 * k)
                assert exact >= 0
                assert variance == pytest.approx(float(exact), rel=1e-11, abs=1e-15), (n, c, k)
        assert hat_bayes == pytest.approx(float(posterior(n, c, k)), rel=1e-12)
        assert at_bayes == pytest.approx(float(1 - posterior(n, f, k)), rel=1e-12)
        for spread, lucky in ((at_spread, f), (hat_spread, c)):
            exact = posterior(n, lucky, 2 * k) - posterior(n, lucky, k) ** 2
            assert spread == pytest.approx(float(exact), rel=1e-10, abs=1e-15)


@pytest.mark.parametrize(("n", "k"), [(2, 1), (4, 1), (4, 2), (8, 3), (8, 4)])
@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
def test_the_variance_within_a_task_is_unbiased(n: int, k: int, p: Fraction) -> None:
    """Of the formula itself: over all outcomes, its mean is the variance of the estimate."""
    chance = [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    estimates = [pass_hat(n, c, k) for c in range(n + 1)]
    mean = sum(w * r for w, r in zip(chance, estimates, strict=True))
    variance = sum(w * (r - mean) ** 2 for w, r in zip(chance, estimates, strict=True))
    formula = [pass_hat(n, c, k) ** 2 - pass_hat(n, c, 2 * k) for c in range(n + 1)]
    assert sum(w * v for w, v in zip(chance, formula, strict=True)) == variance


@pytest.fixture(scope="module")
def suite(make_project: Callable[[], Project], attempts: Callable[..., Any]) -> Project:
    """A build over one suite of 24 tasks with 8 attempts, 18 of them informative."""
    made = make_project()
    made.land(
        chain.from_iterable(
            attempts("r", f"t-{i:02}", "P" * c + "F" * (8 - c))
            for i, c in enumerate(COUNTS_OF_SUITE)
        )
    )
    made.run({"passk_ks": [1, 2, 4, 8]}, select=READ)
    return made


COUNTS_OF_SUITE: Final = (0, 0, 0, 8, 8, 8, *range(1, 8), *range(1, 8), 4, 4, 6, 7)
T_24_PLUS_1: Final = 2.0595385527532977
"""Student's t for 25 degrees of freedom and 95 %, as tables print it: 2.060."""
T_23: Final = 2.0686576104190487
Z: Final = 1.959963984540054


def row(project: Project, k: int) -> dict[str, Any]:
    (found,) = project.records(
        f"select * from {project.relation('passk_suite_metrics')} where k = {k}"
    )
    return found


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("metric", ["pass_at_k", "pass_hat_k"])
def test_limits_of_a_suite(suite: Project, metric: str, k: int) -> None:
    lucky = [c if metric == "pass_hat_k" else 8 - c for c in COUNTS_OF_SUITE]
    hats = [pass_hat(8, c, k) for c in lucky]
    scores = hats if metric == "pass_hat_k" else [1 - hat for hat in hats]
    tasks = len(scores)
    padded = [*scores, Fraction(0), Fraction(1)]
    middle = sum(padded) / len(padded)
    squares = sum((y - middle) ** 2 for y in padded)
    reach = T_24_PLUS_1 * sqrt(squares / (tasks + 1) / (tasks + 2))
    found = row(suite, k)
    assert found[f"{metric}_lower"] == pytest.approx(max(0, float(middle) - reach), rel=1e-12)
    assert found[f"{metric}_upper"] == pytest.approx(min(1, float(middle) + reach), rel=1e-12)
    mean = sum(scores) / tasks
    within = sum(hat**2 - pass_hat(8, c, 2 * k) for hat, c in zip(hats, lucky, strict=True))
    # Eight attempts: ln(.025)^2 / z^2 (k / n)^2 is above 1/4 at k = 4 only.
    floor = max(0.25, (log(0.025) / Z * k / 8) ** 2)
    own = Z * sqrt(float(within) + floor) / tasks
    assert found[f"{metric}_suite_lower"] == pytest.approx(float(mean) - own, rel=1e-12)
    assert found[f"{metric}_suite_upper"] == pytest.approx(min(1, float(mean) + own), rel=1e-12)
    between = sum((y - mean) ** 2 for y in scores) / (tasks - 1)
    share = float(within / tasks / between)
    assert found[f"{metric}_within_share"] == pytest.approx(share, rel=1e-12)
    bayes = [posterior(8, c, k) for c in lucky]
    spread = sum(posterior(8, c, 2 * k) - b**2 for b, c in zip(bayes, lucky, strict=True))
    believed = sum(bayes) / tasks if metric == "pass_hat_k" else 1 - sum(bayes) / tasks
    assert found[f"{metric}_bayes"] == pytest.approx(float(believed), rel=1e-12)
    off = Z * sqrt(spread) / tasks
    assert found[f"{metric}_bayes_lower"] == pytest.approx(float(believed) - off, rel=1e-11)
    assert found[f"{metric}_bayes_upper"] == pytest.approx(float(believed) + off, rel=1e-11)


def test_limits_for_these_tasks_need_twice_as_many_attempts(suite: Project) -> None:
    found = row(suite, 8)
    assert found["pass_hat_k_lower"] is not None
    assert found["pass_hat_k_suite_lower"] is None
    assert found["pass_hat_k_within_share"] is None


def test_the_share_within_alike_tasks_is_unknown(
    make_project: Callable[[], Project], attempts: Callable[..., list[Any]]
) -> None:
    """Their variance is 0, and what rounding leaves of it is no number to divide by."""
    project = make_project()
    project.land(
        row
        for run, outcomes in (("nine", "PPPPPPPPF"), ("ten", "PPPPPPPPFF"))
        for task in range(12)
        for row in attempts(run, f"t{task}", outcomes)
    )
    project.run(select=["+passk_suite_metrics"])
    columns = "pass_at_k_within_share, pass_hat_k_within_share"
    found = project.query(f"select distinct {columns} from passk_suite_metrics")
    assert found == [(None, None)]
    log = project.query("select run_id, suite, task_id, attempt, outcome from landing.attempts")
    names = ["run_id", "suite", "task_id", "attempt", "outcome"]
    metrics = pk.suite_metrics(pl.DataFrame(log, schema=names, orient="row"))
    assert metrics.select(pl.col("^.*_within_share$").drop_nulls().len()).row(0) == (0, 0)


@pytest.mark.parametrize("k", [2, 4])
def test_limits_of_delta_k_and_heterogeneity(suite: Project, k: int) -> None:
    found = row(suite, k)
    assert found["informative_tasks"] == 18
    rates = [Fraction(c, 8) for c in COUNTS_OF_SUITE]
    hats = [pass_hat(8, c, k) for c in COUNTS_OF_SUITE]
    # As the tasks are, and with one that is never solved and one that always is.
    own = of_differences(rates, hats, k, T_23)
    padded = of_differences([*rates, Fraction(0), Fraction(1)], [*hats, 0, 1], k, T_24_PLUS_1)
    for name, (middle, reach) in own.items():
        wide, wide_reach = padded[name]
        assert found[name] == pytest.approx(middle, rel=1e-11)
        lower = min(middle - reach, wide - wide_reach)
        upper = max(middle + reach, wide + wide_reach)
        assert found[f"{name}_lower"] == pytest.approx(lower, rel=1e-9)
        assert found[f"{name}_upper"] == pytest.approx(upper, rel=1e-9)


def of_differences(
    rates: list[Fraction], hats: list[Fraction], k: int, quantile: float
) -> dict[str, tuple[float, float]]:
    """Give delta_k and heterogeneity of these tasks, and how far their intervals reach."""
    tasks = len(rates)
    m = sum(rates) / tasks

    def error(slope: Fraction) -> float:
        scores = [r - slope * x for r, x in zip(hats, rates, strict=True)]
        middle = sum(scores) / tasks
        return quantile * sqrt(sum((y - middle) ** 2 for y in scores) / (tasks - 1) / tasks)

    variance = sum((x - m) ** 2 for x in rates) / (tasks - 1)
    power = m**k - Fraction(k * (k - 1), 2) * m ** (k - 2) * variance / tasks
    delta = sum(hats) / tasks - power
    steepness = k * m ** (k - 1)
    index = delta / (m - power)
    reach = error(steepness + index * (1 - steepness)) / float(m - power)
    return {
        "delta_k": (float(delta), error(steepness)),
        "heterogeneity": (float(index), reach),
    }


def test_the_share_of_each_attempt(suite: Project) -> None:
    for k in (1, 2, 4, 8):
        found = row(suite, k)
        assert found["pass_hat_k_per_attempt"] ** k == pytest.approx(found["pass_hat_k"], rel=1e-13)


SHAPES: Final = {
    "steep": [4] * 60 + [3, 5] * 20,
    "flat": [0] * 40 + [8] * 40 + [7] * 12,
    "mixed": [c for c in range(9) for _ in range(80)],
    "undetermined": [0, 0, 0, 8, 8, 8, *range(1, 8), *range(1, 8)],
    None: [0] * 10 + [8] * 10 + [4] * 9,
}


@pytest.mark.long
def test_the_shape_of_a_curve_is_named_by_its_interval(
    make_project: Callable[[], Project], attempts: Callable[..., Any]
) -> None:
    made = make_project()
    made.land(
        chain.from_iterable(
            attempts(str(shape), f"t-{i:03}", "P" * c + "F" * (8 - c))
            for shape, counts in SHAPES.items()
            for i, c in enumerate(counts)
        )
    )
    made.run({"passk_ks": [1, 2, 4], "passk_ordered_metrics": False})
    found = made.query(
        f"select distinct run_id, curve_shape from {made.relation('passk_suite_metrics')}"
    )
    assert dict(found) == {str(shape): shape for shape in SHAPES}


@pytest.mark.long
def test_another_level_makes_all_limits_anew(
    make_project: Callable[[], Project], attempts: Callable[..., Any]
) -> None:
    made = make_project()
    made.land(chain.from_iterable(attempts("r", f"t-{i}", "PPFF") for i in range(40)))
    widths = []
    for level in (0.95, 0.8, 0.99):
        made.run({"passk_ks": [1, 2], "passk_deployment_k": 2, "passk_confidence": level})
        task, suite_ = (
            made.query(
                f"select max(pass_hat_k_upper - pass_hat_k_lower) from {made.relation(table)}"
            )[0][0]
            for table in ("passk_task_metrics", "passk_suite_metrics")
        )
        widths.append((task, suite_))
    assert widths[1] < widths[0] < widths[2]
    assert widths[1][1] < widths[0][1] < widths[2][1]
