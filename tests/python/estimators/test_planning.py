"""Plans: the variances against exact rationals, the numbers of tasks against searching them all."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import polars as pl
import pytest

import passk_py as pk
from passk_py.metrics.planning.plans_table import plan_counts
from passk_py.metrics.planning.wish import Wish


def variance_of_estimate(p: Fraction, n: int, k: int) -> Fraction:
    """Give the variance of pass^k of n attempts that pass with chance p, over all outcomes."""
    chances = [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    scores = [Fraction(comb(c, k), comb(n, k)) for c in range(n + 1)]
    mean = sum(chance * score for chance, score in zip(chances, scores, strict=True))
    assert mean == p**k
    return sum(chance * (score - mean) ** 2 for chance, score in zip(chances, scores, strict=True))


@pytest.mark.parametrize(("attempts", "k"), [(a, k) for k in (1, 2, 3, 4) for a in range(k, 13, 3)])
def test_the_variance_within_tasks_is_that_of_all_outcomes(attempts: int, k: int) -> None:
    """A task of chance p has the moments p^m, so the formula must give its variance exactly."""
    for p in (Fraction(1, 10), Fraction(1, 3), Fraction(19, 20)):
        formula = sum(
            Fraction(comb(k, j) * comb(attempts - k, k - j), comb(attempts, k)) * p ** (2 * k - j)
            for j in range(max(0, 2 * k - attempts), k + 1)
        ) - p ** (2 * k)
        assert formula == variance_of_estimate(p, attempts, k)


def expectation(
    tasks: list[Fraction], n: int, k: int, attempts: int, metric: str
) -> tuple[Fraction, Fraction]:
    """Give what a pilot's variances must be on average: of all its outcomes, and of all tasks."""
    if metric == "pass_at_k":
        tasks = [1 - p for p in tasks]
    within = sum(variance_of_estimate(p, attempts, k) for p in tasks) / len(tasks)
    mean = sum(p**k for p in tasks) / len(tasks)
    between = sum((p**k - mean) ** 2 for p in tasks) / (len(tasks) - 1)
    return between, within


@pytest.mark.parametrize("metric", ["pass_at_k", "pass_hat_k"])
def test_the_moments_of_a_pilot_are_unbiased(metric: str) -> None:
    """Over all outcomes of a pilot of three tasks, so far apart that nothing is cut off at 0."""
    tasks, n, k, attempts = [Fraction(0), Fraction(1, 2), Fraction(1)], 4, 2, 5
    wish = Wish((k,), (attempts,))
    total: dict[str, float] = {"variance_between": 0.0, "variance_within": 0.0}
    for passes in product(range(n + 1), repeat=3):
        chance = math.prod(
            float(comb(n, c) * p**c * (1 - p) ** (n - c))
            for c, p in zip(passes, tasks, strict=True)
        )
        if not chance:
            continue
        (row,) = (
            one
            for one in plan_counts(Counter((n, c) for c in passes), wish)
            if one["metric"] == metric
        )
        assert row["basis"] == "moments"
        for name in total:
            total[name] += chance * row[name]
    between, within = expectation(tasks, n, k, attempts, metric)
    assert total["variance_between"] == pytest.approx(float(between), rel=1e-12)
    assert total["variance_within"] == pytest.approx(float(within), rel=1e-12)


def student_width(mean: float, variance: float, tasks: int, quantile: float) -> float:
    """Give the width that mean_lower and mean_upper have, away from the ends of the scale."""
    padded = (tasks * mean + 1) / (tasks + 2)
    squares = (tasks - 1) * variance + tasks * mean**2 + 1 - (tasks + 2) * padded**2
    return 2 * quantile * math.sqrt(squares / (tasks + 1) / (tasks + 2))


def test_the_width_is_that_of_the_limits() -> None:
    lower, upper = (
        pl.select(limit(0.5, 0.04, 25)).item() for limit in (pk.mean_lower, pk.mean_upper)
    )
    from passk_py.metrics.planning.sizes import width_of

    assert width_of(0.5, 0.04, 25, 0.95) == pytest.approx(upper - lower, rel=1e-12)
    # The 97.5 % point of Student's t with 26 degrees of freedom, from the tables.
    assert width_of(0.5, 0.04, 25, 0.95) == pytest.approx(
        student_width(0.5, 0.04, 25, 2.055529438642871), rel=1e-9
    )


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_the_least_number_of_tasks_is_the_least(confidence: float) -> None:
    """One after the other, from a single task on."""
    from passk_py.metrics.planning.sizes import fewest_units, width_of

    chance = random.Random(5)
    for _ in range(40):
        mean = chance.choice([0.0, 1.0, chance.random()])
        variance = mean * (1 - mean) * chance.choice([0, 1, chance.random()])
        width = chance.choice([0.9, 0.5, 0.2, 0.1, 0.05])
        found = fewest_units(mean, variance, width, confidence)
        enough = (n for n in range(1, 10**6) if width_of(mean, variance, n, confidence) <= width)
        assert found == next(enough)


def test_a_difference_takes_the_textbooks_number_of_tasks() -> None:
    """Half the tasks perfect, half with p = 1/2: chance within is 1/8 of a single attempt."""
    counts = Counter({(4, 4): 50, (4, 2): 50})
    (row,) = (r for r in plan_counts(counts, Wish((1,), (4,))) if r["metric"] == "pass_hat_k")
    # p (1 - p) of two passes in four is 1/3 without bias, of half the tasks, in four attempts.
    assert row["variance_within"] == pytest.approx(1 / 24, rel=1e-12)
    # (1.9600 + 0.8416)^2 = 7.8489 standard errors squared, for the variance of two runs.
    assert row["tasks_for_difference"] == math.ceil(7.8488797 / 12 / 0.05**2)
    assert row["attempts_for_difference"] == 4 * row["tasks_for_difference"]
    assert row["deciding_share"] == 0.5
    assert row["detectable_difference"] == pytest.approx(math.sqrt(7.8488797 / 12 / 100), rel=1e-7)


def test_few_deciding_tasks_ask_for_more_tasks() -> None:
    """One task in fifty could come out differently: six are there as often as a drop is told."""
    counts = Counter({(8, 8): 98, (8, 4): 2})
    row = next(
        r
        for r in plan_counts(counts, Wish((1,), (8,), difference=0.2))
        if r["metric"] == "pass_hat_k"
    )
    expected = row["tasks_for_difference"] * 0.02
    fewer = sum(math.exp(-expected) * expected**i / math.factorial(i) for i in range(6))
    assert 0.8 <= 1 - fewer < 0.81


def test_a_fit_has_the_moments_of_its_beta_distribution() -> None:
    """B(a + m, b) / B(a, b) of the distribution with the first two moments of the pilot."""
    counts = Counter({(2, 0): 30, (2, 1): 30, (2, 2): 40})
    rate, second, tasks = 0.55, 0.4, 100
    spread = (30 * 0.55**2 + 30 * 0.05**2 + 40 * 0.45**2) / 99 / tasks
    size = (rate - second) / (second - rate**2 + spread)
    a, b = rate * size, (1 - rate) * size

    def beta(m: int) -> float:
        logs = math.lgamma(a + m) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(a + b + m)
        return math.exp(logs)

    (row,) = (r for r in plan_counts(counts, Wish((4,), (4,))) if r["metric"] == "pass_hat_k")
    assert row["basis"] == "beta_binomial"
    assert row["estimate"] == pytest.approx(beta(4), rel=1e-12)
    assert row["variance_between"] == pytest.approx(beta(8) - beta(4) ** 2, rel=1e-11)
    assert row["variance_within"] == pytest.approx(beta(4) - beta(8), rel=1e-11)


def test_a_guess_is_the_beta_distribution_that_it_says() -> None:
    """Mean 0.6 and intraclass correlation 0.4 are Beta(0.9, 0.6)."""
    (row,) = (
        pk.plan_guess(0.6, 0.4, ks=[2], attempts_per_task=[2])
        .filter(pl.col("metric") == "pass_hat_k")
        .to_dicts()
    )
    mean = 0.9 * 1.9 / (1.5 * 2.5)
    fourth = mean * 2.9 * 3.9 / (3.5 * 4.5)
    assert row["estimate"] == pytest.approx(mean, rel=1e-12)
    assert row["variance_between"] == pytest.approx(fourth - mean**2, rel=1e-12)
    assert row["variance_within"] == pytest.approx(mean - fourth, rel=1e-12)
    # Of four attempts at least two, but not all.
    log = [math.lgamma(x) for x in (1.5, 0.9, 0.6)]
    chances = [
        comb(4, c)
        * math.exp(
            math.lgamma(0.9 + c) + math.lgamma(0.6 + 4 - c) - math.lgamma(5.5)
            + log[0] - log[1] - log[2]
        )
        for c in range(5)
    ]  # fmt: skip
    assert row["deciding_share"] == pytest.approx(chances[2] + chances[3], rel=1e-9)
    assert row["tasks"] is None


@pytest.mark.parametrize("heterogeneity", [0, 1])
def test_guesses_at_the_ends(heterogeneity: float) -> None:
    """All tasks the same coin; and every task perfect or hopeless, where no attempt decides."""
    found = pk.plan_guess(0.5, heterogeneity, ks=[2], attempts_per_task=[4]).row(1, named=True)
    if heterogeneity:
        assert found["variance_between"] == pytest.approx(0.25)
        assert found["tasks_for_difference"] is None
        assert found["null_reason"] == "no task could come out differently in another run"
    else:
        assert found["variance_between"] == pytest.approx(0, abs=1e-15)
        assert found["variance_within"] == pytest.approx(
            float(variance_of_estimate(Fraction(1, 2), 4, 2)), rel=1e-12
        )


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ({(4, 2): 1}, "fewer than 2 tasks"),
        ({(4, 2): 5, (1, 1): 3, (0, 0): 1}, "n < 2 in 4 of 9 tasks"),
        ({(2, 2): 5, (2, 0): 3}, "n < 4 in some task, and no beta distribution fits: every task is"
         " perfect or hopeless"),
        ({(2, 1): 9}, "n < 4 in some task, and no beta distribution fits: tasks differ no more than"
         " by chance"),
    ],
)  # fmt: skip
def test_what_a_pilot_can_not_say_is_null(counts: dict[Any, int], reason: str) -> None:
    for row in plan_counts(Counter(counts), Wish((2,), (4,))):
        assert row["null_reason"] == reason
        assert [row.get(name) for name in ("basis", "estimate", "tasks_for_width")] == [None] * 3


def test_a_share_of_0_leaves_out_what_says_nothing() -> None:
    wish = Wish((2,), (4,))
    whole = plan_counts(Counter({(4, 2): 9, (4, 4): 9}), wish)
    short = plan_counts(Counter({(4, 2): 9, (4, 4): 9, (1, 1): 7}), wish, min_eligible_share=0)
    assert short == whole


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ks": []}, "plan: ks must be whole numbers from 1"),
        ({"attempts_per_task": [0]}, "plan: attempts must be whole numbers from 1"),
        ({"attempts_per_task": "8"}, "plan: attempts must be whole numbers from 1"),
        ({"width": 0}, "plan: width must be a number between 0 and 1"),
        ({"difference": 1.5}, "plan: difference must be a number between 0 and 1"),
        ({"power": 0.5}, "plan: power must be a number between 0.5 and 1"),
        ({"confidence": 95}, "plan: confidence must be between 0 and 1"),
        ({"min_eligible_share": "skip"}, "plan: min_eligible_share must be a number from 0 to 1"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], said: str) -> None:
    log = pl.DataFrame({"run_id": "r", "task_id": "t", "attempt": [1, 2], "passed": [True, False]})
    with pytest.raises(pk.PasskError, match=said.replace("(", r"\(")):
        pk.plan(log, **options)


@pytest.mark.parametrize(("rate", "index"), [(0, 0.5), (1, 0.5), (0.5, -0.1), (0.5, 1.1)])
def test_wrong_guesses_are_refused(rate: float, index: float) -> None:
    with pytest.raises(pk.PasskError, match="must be a number"):
        pk.plan_guess(rate, index)


def test_a_log_without_attempts_gives_no_rows() -> None:
    log = pl.DataFrame(
        {"run_id": [], "task_id": [], "attempt": [], "passed": []},
        schema={
            "run_id": pl.String,
            "task_id": pl.String,
            "attempt": pl.Int64,
            "passed": pl.Boolean,
        },
    )
    assert pk.plan(log).shape == (0, 20)


def test_a_row_without_a_plan_counts_all_tasks() -> None:
    """Eight perfect tasks of four attempts, and four of one, which is too few for any plan."""
    counts = Counter({(4, 4): 8, (1, 1): 4})
    rows = plan_counts(counts, Wish((2, 4), (4,)), min_eligible_share=0.5)
    of = {row["k"]: row for row in rows if row["metric"] == "pass_hat_k"}
    assert (of[4]["variance_within"], of[4]["tasks"]) == (None, 12)
    assert "no beta distribution fits" in of[4]["null_reason"]
    assert (of[2]["variance_within"], of[2]["tasks"]) == (0, 8)
