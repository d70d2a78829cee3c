"""Graders that err: exact values by counting all gradings, bad input, and who is drawn to be labelled."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk
from passk_py.metrics.graders.corrected_scores import Weights, corrected_score, weights_of
from passk_py.metrics.graders.grader import Grader, Rates, Stratum, grader_of, share_limits

if TYPE_CHECKING:
    from collections.abc import Iterator

Rows = list[dict[str, Any]]
RATES: Final = [
    (Fraction(97, 100), Fraction(5, 100)),
    (Fraction(1), Fraction(1, 4)),
    (Fraction(3, 4), Fraction(0)),
    (Fraction(4, 5), Fraction(3, 5)),
]


def gradings(s: Fraction, f: Fraction, p: Fraction, n: int) -> Iterator[tuple[int, Fraction]]:
    """Give the passes of each grading of n attempts, and its chance."""
    graded = f + (s - f) * p
    for marks in product((True, False), repeat=n):
        yield sum(marks), prod(graded if mark else 1 - graded for mark in marks)


def exact_score(n: int, hits: int, k: int, hit: Fraction, miss: Fraction) -> Fraction:
    """Average the products over every choice of k attempts, one by one."""
    weights = [hit] * hits + [-miss] * (n - hits)
    chosen = list(combinations(weights, k))
    return sum((prod(some) for some in chosen), Fraction(0)) / len(chosen)


def exact_weights(metric: str, s: Fraction, f: Fraction) -> tuple[Fraction, Fraction]:
    if metric == "pass_hat_k":
        return (1 - f) / (s - f), f / (s - f)
    return s / (s - f), (1 - s) / (s - f)


@pytest.mark.parametrize(("s", "f"), RATES)
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_the_score_is_unbiased_over_all_gradings(s: Fraction, f: Fraction, k: int) -> None:
    p, n = Fraction(7, 10), 5
    for metric, wanted in (("pass_hat_k", p**k), ("pass_at_k", 1 - (1 - p) ** k)):
        weights = Weights(*map(float, exact_weights(metric, s, f)))
        exact = mean = Fraction(0)
        for c, chance in gradings(s, f, p, n):
            hits = c if metric == "pass_hat_k" else n - c
            score = exact_score(n, hits, k, *exact_weights(metric, s, f))
            score = score if metric == "pass_hat_k" else 1 - score
            exact += chance * score
            mean += chance * Fraction(corrected_score(metric, n, c, k, weights))
        assert exact == wanted
        assert float(mean) == pytest.approx(float(wanted), rel=1e-12)


@pytest.mark.parametrize(("s", "f"), RATES[:3])
def test_it_is_the_sum_over_choices_of_passes(s: Fraction, f: Fraction) -> None:
    n, k = 16, 8
    for c in range(n + 1):
        terms = (
            comb(k, j) * (-f) ** (k - j) * Fraction(comb(c, j), comb(n, j)) for j in range(k + 1)
        )
        wanted = sum(terms, Fraction(0)) / (s - f) ** k
        weights = Weights(*map(float, exact_weights("pass_hat_k", s, f)))
        got = corrected_score("pass_hat_k", n, c, k, weights)
        assert got == pytest.approx(float(wanted), rel=1e-12, abs=1e-15)


def test_many_draws_cancel_nothing() -> None:
    # By the sum over choices of passes, doubles would lose every digit here: (1.2 / 0.8)^99 is 3e17.
    n, k, s, f = 100, 99, Fraction(1), Fraction(1, 5)
    weights = Weights(*map(float, exact_weights("pass_hat_k", s, f)))
    for c in (98, 99, 100):
        ways = comb(n, k)
        wanted = sum(
            Fraction(comb(c, j) * comb(n - c, k - j), ways)
            * exact_weights("pass_hat_k", s, f)[0] ** j
            * (-exact_weights("pass_hat_k", s, f)[1]) ** (k - j)
            for j in range(max(0, k - n + c), min(k, c) + 1)
        )
        got = corrected_score("pass_hat_k", n, c, k, weights)
        assert got == pytest.approx(float(wanted), rel=1e-12)


def test_pass_at_1_is_that_of_rogan_and_gladen() -> None:
    s, f, c, n = 0.9, 0.2, 6, 8
    weights = weights_of("pass_hat_k", Rates(s, f, is_told_apart=True))
    assert weights is not None
    assert corrected_score("pass_hat_k", n, c, 1, weights) == pytest.approx((c / n - f) / (s - f))


def test_a_grader_that_never_errs_changes_nothing() -> None:
    weights = weights_of("pass_hat_k", Rates(1.0, 0.0, is_told_apart=True))
    assert weights == (1.0, 0.0)
    for c in range(9):
        assert corrected_score("pass_hat_k", 8, c, 4, weights) == comb(c, 4) / comb(8, 4)


def test_rates_follow_by_bayes_however_grades_are_sampled() -> None:
    # 1,000 attempts of which 600 truly pass: 570 of them and 20 of the others are passed.
    graded = 590 / 1000
    for passes, failures in ((590, 410), (59, 410), (590, 41)):
        one = Stratum(passes, passes * 570 // 590, failures, failures * 30 // 410, graded, 1000)
        rates = grader_of([one], 0.95).at["estimate"]
        assert rates.sensitivity == pytest.approx(570 / 600)
        assert rates.false_pass_rate == pytest.approx(20 / 400)


def test_runs_that_are_labelled_unevenly_do_not_tilt_the_rates() -> None:
    # s = 3/4 and f = 1/4 in both. Of 1,000 with p = .9, 675 of 700 graded passes are true and 225 of
    # 300 graded failures; one in 25 of the former is labelled, and one in three of the latter.
    easy = Stratum(28, 27, 100, 75, 0.7, 1000)
    # Of 1,000 with p = .1, 75 of 300 and 25 of 700; all are labelled.
    hard = Stratum(300, 75, 700, 25, 0.3, 1000)
    rates = grader_of([easy, hard], 0.95).at["estimate"]
    assert rates.sensitivity == pytest.approx(0.75)
    assert rates.false_pass_rate == pytest.approx(0.25)


def test_a_run_of_one_kind_of_label_says_nothing() -> None:
    both = Stratum(40, 38, 40, 4, 0.6, 200)
    only = Stratum(50, 10, 0, 0, 0.6, 200)
    assert grader_of([both, only], 0.95).at["estimate"] == grader_of([both], 0.95).at["estimate"]


def test_limits_of_a_share_are_those_of_agresti_and_coull() -> None:
    # 1 of 10 at 95 %: (1 + 1.92) / 13.84 +- 1.96 sqrt(.2110 x .7890 / 13.84).
    assert share_limits(0.1, 10, 0.95) == pytest.approx((0.0, 0.4260), abs=5e-5)
    assert share_limits(0.5, 100, 0.95) == pytest.approx((0.4038, 0.5962), abs=5e-5)


@pytest.mark.parametrize(
    ("stratum", "reason"),
    [
        (
            Stratum(4, 4, 90, 0, 0.5, 200),
            "only 4 labels of attempts that the grader passed, fewer than 5",
        ),
        (
            Stratum(90, 90, 2, 0, 0.5, 200),
            "only 2 labels of attempts that the grader failed, fewer than 5",
        ),
        (Stratum(50, 50, 50, 50, 0.5, 200), None),
    ],
)
def test_too_few_labels_give_no_rates(stratum: Stratum, reason: str | None) -> None:
    grader: Grader = grader_of([stratum], 0.95)
    assert grader.reason == reason


def log(errs: float = 0.0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Give 60 tasks x 8 and the label of each attempt; the grader errs so often."""
    dice = random.Random(f"log {errs}")
    rows, labels = [], []
    for task in range(60):
        rate = dice.betavariate(4, 1)
        for number in range(1, 9):
            truly = dice.random() < rate
            key = {"run_id": "r", "suite": "s", "task_id": f"t{task}", "attempt": number}
            rows.append({**key, "passed": truly != (dice.random() < errs)})
            labels.append({**key, "verdict": "passed" if truly else "failed"})
    return pl.DataFrame(rows), pl.DataFrame(labels)


def test_without_errors_the_corrected_value_is_the_raw_one() -> None:
    attempts, labels = log()
    found = pk.corrected_metrics(attempts, labels, ks=[1, 4, 8])
    assert found["corrected"].to_list() == pytest.approx(found["raw"].to_list(), abs=1e-12)
    # Null where nothing is lost.
    shares = found.filter(pl.col("raw") < 1)["share_lost_to_grader"].to_list()
    assert shares == pytest.approx([0.0] * len(shares), abs=1e-12)
    assert len(shares) >= 3


def test_a_planted_judge_is_found_and_mended() -> None:
    attempts, labels = log(0.05)
    rates = pk.grader_rates(attempts, labels).row(0, named=True)
    assert rates["false_pass_rate_lower"] < 0.05 < rates["false_pass_rate_upper"]
    assert rates["sensitivity_lower"] < 0.95 < rates["sensitivity_upper"] < 1
    truly = labels.with_columns(passed=pl.col("verdict") == "passed").drop("verdict")
    (true,) = pk.suite_metrics(truly, ks=[8])["pass_hat_k"]
    row = pk.corrected_metrics(attempts, labels, ks=[8]).row(1, named=True)
    assert row["metric"] == "pass_hat_k"
    assert row["raw"] < true
    assert row["corrected_lower"] < true < row["corrected_upper"]
    assert row["share_lost_to_grader_lower"] > 0


def test_chance_is_no_grader() -> None:
    attempts, labels = log()
    odd = labels.with_columns(
        verdict=pl.when(pl.col("attempt") % 2 == 0)
        .then(pl.lit("passed"))
        .otherwise(pl.lit("failed"))
    )
    flipped = attempts.with_columns(passed=pl.col("attempt") % 2 == 1)
    (rates,) = pk.grader_rates(flipped, odd).to_dicts()
    assert (rates["sensitivity"], rates["false_pass_rate"]) == (0.0, 1.0)
    assert "no better than chance" in rates["null_reason"]
    found = pk.corrected_metrics(flipped, odd, ks=[2])
    assert found["corrected"].to_list() == [None, None]
    assert set(found["null_reason"]) == {"the grader is no better than chance"}


def test_too_many_errors_for_this_k() -> None:
    attempts, labels = log(0.3)
    row = pk.corrected_metrics(attempts, labels, ks=[1, 8]).filter(metric="pass_hat_k")
    assert row["corrected"][0] is not None
    assert row["corrected"][1] is None
    assert row["null_reason"][1].startswith("the grader errs too often for this k")


def test_labels_that_can_not_be_used_are_counted() -> None:
    attempts, labels = log()
    attempts = attempts.with_columns(
        outcome=pl.when((pl.col("task_id") == "t1") & (pl.col("attempt") == 1))
        .then(pl.lit("excluded"))
        .when("passed")
        .then(pl.lit("passed"))
        .otherwise(pl.lit("failed"))
    ).drop("passed")
    key = {"run_id": "r", "suite": "s"}
    odd = [
        {**key, "task_id": "nowhere", "attempt": 1, "verdict": "passed"},
        {**key, "task_id": "t2", "attempt": 1, "verdict": "maybe"},
        {**key, "task_id": None, "attempt": 1, "verdict": "passed"},
        {**key, "task_id": "t3", "attempt": 0, "verdict": "passed"},
        labels.row(40, named=True),
        {**labels.row(41, named=True), "verdict": "passed"},
        {**labels.row(41, named=True), "verdict": "failed"},
    ]
    (row,) = pk.grader_rates(attempts, pl.concat([labels, pl.DataFrame(odd)])).to_dicts()
    # The excluded one, each of the seven, and the label that the last two contradict.
    assert (row["labels"], row["rejected_labels"]) == (480 + 7, 1 + 7 + 1)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (pl.DataFrame({"run_id": ["r"]}), "the labels have no column task_id and no attempt"),
        ([1], "labels must be a frame, not list"),
    ],
)
def test_labels_must_be_labels(labels: Any, said: str) -> None:
    with pytest.raises(pk.PasskError, match=said):
        pk.grader_rates(log()[0], labels)


def test_the_width_must_be_one() -> None:
    with pytest.raises(pk.ArgumentError, match=r"width must be a number from 0\.001"):
        pk.corrected_metrics(*log(), width=1)


def test_labels_to_make_narrow_the_interval_as_wanted() -> None:
    dice = random.Random(1)
    attempts, labels = log(0.05)
    shuffled = labels[dice.sample(range(labels.height), labels.height)]
    few = shuffled.head(60)
    row = pk.corrected_metrics(attempts, few, ks=[4], width=0.1).row(1, named=True)
    assert row["passes_to_label"] + row["failures_to_label"] > 0
    many = pk.corrected_metrics(attempts, labels, ks=[4], width=0.5).row(1, named=True)
    assert (many["passes_to_label"], many["failures_to_label"]) == (0, 0)


def test_a_run_that_passes_everything_is_not_sure_to_be_perfect() -> None:
    # Of another run the grader fails one in 20 successes, so that the mean is above 1: 1.05 to the power k.
    rows: Rows = []
    for task in range(40):
        for number in range(1, 9):
            truly, place = (task + number) % 2 == 0, 8 * task + number
            for run, passed in (("half", truly and place % 20 > 0), ("all", True)):
                rows.append(
                    {"run_id": run, "task_id": f"t{task}", "attempt": number, "passed": passed, "truly": truly}
                )  # fmt: skip
    attempts = pl.DataFrame(rows)
    labels = attempts.filter(run_id="half").select(
        "run_id", "task_id", "attempt", verdict=pl.col("truly")
    )
    found = pk.corrected_metrics(attempts.drop("truly"), labels, ks=[1, 4, 8])
    raw = pk.suite_metrics(attempts.drop("truly"), ks=[1, 4, 8])
    for row in found.filter(run_id="all", metric="pass_hat_k").iter_rows(named=True):
        assert (row["corrected"], row["corrected_upper"]) == (1, 1)
        graded = raw.filter(run_id="all", k=row["k"]).item(0, "pass_hat_k_lower")
        assert row["corrected_lower"] < graded < 0.93


def test_attempts_are_drawn_by_grade_and_shown_without_it() -> None:
    attempts, labels = log(0.05)
    drawn = pk.attempts_to_label(attempts, passes=30, failures=20, seed=5)
    assert drawn.columns == ["run_id", "suite", "task_id", "attempt", "verdict"]
    assert drawn["verdict"].null_count() == drawn.height == 50
    graded = drawn.join(attempts, on=["run_id", "suite", "task_id", "attempt"])
    assert graded["passed"].sum() == 30
    assert drawn.equals(pk.attempts_to_label(attempts, passes=30, failures=20, seed=5))
    assert not drawn.equals(pk.attempts_to_label(attempts, passes=30, failures=20, seed=6))
    # The grades are not told by the order either.
    assert graded["passed"].head(30).sum() < 30
    known = labels.head(400)
    again = pk.attempts_to_label(attempts, known, passes=1000, failures=1000)
    assert again.height == labels.height - 400
    with pytest.raises(pk.ArgumentError, match="passes must be a whole number from 0"):
        pk.attempts_to_label(attempts, passes=-1)
