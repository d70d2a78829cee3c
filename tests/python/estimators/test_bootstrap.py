"""The bootstrap over tasks: against all resamples there are, and the same numbers every time."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import polars as pl
import pytest

import passk_py as pk


def log_of(counts: list[tuple[int, int]], run: str = "r") -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"run_id": run, "task_id": f"t{task}", "attempt": a, "passed": a <= c}
            for task, (n, c) in enumerate(counts)
            for a in range(1, n + 1)
        ]
    )


def percentile(means: list[Fraction], share: Fraction) -> float:
    at = share * (len(means) - 1)
    low = int(at)
    high = min(low + 1, len(means) - 1)
    return float(means[low] + (at - low) * (means[high] - means[low]))


@pytest.mark.parametrize("metric", ["pass_at_k", "pass_hat_k"])
def test_limits_are_near_those_of_all_resamples(metric: str) -> None:
    """All 6^6 ways to draw six tasks from six."""
    counts = [(4, 4), (4, 3), (4, 1), (4, 0), (4, 3), (4, 2)]
    scores = [
        Fraction(comb(c, 2), 6) if metric == "pass_hat_k" else 1 - Fraction(comb(4 - c, 2), 6)
        for _, c in counts
    ]
    means = sorted(sum(drawn, Fraction(0)) / 6 for drawn in product(scores, repeat=6))
    found = pk.bootstrap_limits(log_of(counts), ks=[2], resamples=20_000, confidence=0.9)
    (row,) = found.filter(pl.col("metric") == metric).to_dicts()
    assert row["estimate"] == pytest.approx(float(sum(scores) / 6), rel=1e-12)
    # Means are steps of a thirty-sixth: sampling moves a limit by one of them at the most.
    assert abs(row["lower"] - percentile(means, Fraction(1, 20))) <= 1 / 36 + 1e-12
    assert abs(row["upper"] - percentile(means, Fraction(19, 20))) <= 1 / 36 + 1e-12
    assert row["lower"] < row["estimate"] < row["upper"]


def test_the_same_seed_gives_the_same_limits_in_any_order_of_rows() -> None:
    counts = [(8, c) for c in (8, 7, 7, 5, 3, 0, 1, 8, 8, 6)]
    log = log_of(counts)
    first = pk.bootstrap_limits(log, ks=[1, 4], resamples=300, seed=7)
    shuffled = log.sample(fraction=1.0, shuffle=True, seed=3)
    other_names = log.with_columns(task_id=pl.lit("x") + pl.col("task_id").str.reverse())
    beside = pl.concat([log_of([(8, 4)] * 9, "another"), log])
    assert pk.bootstrap_limits(shuffled, ks=[1, 4], resamples=300, seed=7).equals(first)
    assert pk.bootstrap_limits(other_names, ks=[1, 4], resamples=300, seed=7).equals(first)
    found = pk.bootstrap_limits(beside, ks=[1, 4], resamples=300, seed=7)
    assert found.filter(pl.col("run_id") == "r").equals(first)
    # And no k changes another's.
    alone = pk.bootstrap_limits(log, ks=[4], resamples=300, seed=7)
    assert alone.equals(first.filter(pl.col("k") == 4))
    assert not pk.bootstrap_limits(log, ks=[1, 4], resamples=300, seed=8).equals(first)


def test_attempts_are_never_drawn() -> None:
    """Tasks that are all the same have no width, though each of them is a coin."""
    found = pk.bootstrap_limits(log_of([(4, 2)] * 20), ks=[2], resamples=200)
    for row, score in zip(found.to_dicts(), (5 / 6, 1 / 6), strict=True):
        assert row["lower"] == row["upper"] == pytest.approx(score, rel=1e-12)


def test_short_tasks_make_null_or_are_left_out() -> None:
    log = log_of([(4, 2), (4, 4), (4, 0), (1, 1)])
    (row, _) = pk.bootstrap_limits(log, ks=[2], resamples=100).to_dicts()
    assert (row["lower"], row["null_reason"]) == (None, "n < 2 in 1 of 4 tasks")
    (row, _) = pk.bootstrap_limits(log, ks=[2], resamples=100, min_eligible_share=0).to_dicts()
    assert (row["eligible_tasks"], row["total_tasks"], row["null_reason"]) == (3, 4, None)
    (row, _) = pk.bootstrap_limits(log, ks=[8], resamples=100, min_eligible_share=0).to_dicts()
    assert row["null_reason"] == "n < 8 in 4 of 4 tasks"


def test_every_task_is_drawn_as_often() -> None:
    from passk_py.metrics.bootstrap import _drawn

    drawn = _drawn([((4, 0), 10), ((4, 4), 30)], 4000, "seed")
    totals = Counter(dict(zip(drawn.columns, drawn.sum().row(0), strict=True)))
    assert totals.total() == 4000 * 40
    # Five standard deviations of a binomial number.
    assert abs(totals["0"] - 40_000) < 5 * (160_000 * 0.25 * 0.75) ** 0.5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ks": []}, "ks must be whole numbers from 1"),
        ({"resamples": 99}, "resamples must be a whole number from 100; got 99"),
        ({"resamples": 1000.0}, "resamples must be a whole number"),
        ({"seed": "x"}, "seed must be a whole number"),
        ({"min_eligible_share": "skip"}, "min_eligible_share must be"),
        ({"confidence": 95}, "confidence must be between 0 and 1"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(pk.PasskError, match=said):
        pk.bootstrap_limits(log_of([(2, 1)]), **options)
