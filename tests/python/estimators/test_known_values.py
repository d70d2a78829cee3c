"""The functions beneath the estimators, at values from tables or worked by hand."""

from __future__ import annotations

import math
from typing import Final

import polars as pl
import pytest

from passk_py.metrics.comparisons.pair_figures import PairSums, figures_of
from passk_py.metrics.planning.sizes import with_spares
from passk_py.metrics.run_order import in_order, runs_in_order
from passk_py.metrics.states import (
    all_pass,
    padded,
    score,
    short_reason,
    variance_within,
    with_short_tasks,
)
from passk_py.metrics.uncertainty import floor_unit
from passk_py.stats.distributions import (
    beta_quantile,
    chi_square_tail,
    log_moment_by_correlation,
    normal_quantile,
    p_value,
    student_quantile,
    two_sided_p,
)
from passk_py.stats.permutations import PairCounts

PADDED: Final = padded(1.0, 0.0, 8, 0.95)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (normal_quantile(0.95), 1.95996398454),
        (two_sided_p(0.0), 1.0),
        (two_sided_p(-1.959963984540054), 0.05),
        (student_quantile(10, 0.95), 2.228138851986),
        (beta_quantile(0.5, 2.5, 2.5), 0.5),
        (math.exp(log_moment_by_correlation(0.5, 1 / 3, 4)), 0.2),
    ],
)
def test_distributions_to_twelve_digits(found: float, expected: float) -> None:
    assert round(found, 12) == expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (p_value(0.25), 0.25),
        (p_value(0.0), 1e-300),
        (all_pass(4, 3, 2), 0.5),
        (score("pass_at_k", 4, 1, 2), 0.5),
        (variance_within("pass_hat_k", 4, 2, 4), 0.0),
        (round(variance_within("pass_hat_k", 4, 2, 1), 6), 0.083333),
        (with_short_tasks(0.5, 38, 40, 0.0), 0.475),
        (with_short_tasks(0.75, 38, 40, 1.0), 0.7625),
        (round(PADDED.middle, 3), 0.9),
        (round(PADDED.reach, 3), 0.226),
        (round(floor_unit(0.95), 4), 1.8821),
        (round(chi_square_tail(18.307, 10), 3), 0.05),
    ],
)
def test_scores_and_limits(found: float, expected: float) -> None:
    assert found == expected


def test_tasks_are_short_below_the_share_and_not_at_it() -> None:
    assert short_reason(4, 18, 20, min_eligible_share=0.95) == "n < 4 in 2 of 20 tasks"
    assert short_reason(4, 19, 20, min_eligible_share=0.95) is None


def test_spare_attempts_grow_with_tasks_and_with_the_excluded_share() -> None:
    assert [with_spares(8, 40, 0.02), with_spares(8, 1000, 0.02), with_spares(8, 40, 0.0)] == [
        9,
        10,
        8,
    ]


def test_ten_tasks_that_fell_from_eight_to_two_passes_are_told_apart() -> None:
    pairs = pl.DataFrame([PairCounts(8, 8, 8, 2)._asdict() | {"tasks": 10}])
    figures = figures_of(PairSums(pairs).sums("pass_hat_k", 4), 4, 0.95)
    assert figures["difference"] == -1
    assert figures["p"] < 0.05


def test_times_of_the_log_order_runs_only_if_each_has_one() -> None:
    runs = [{"run_id": "b", "loaded_at": 1}, {"run_id": "a", "started_at": 9, "loaded_at": 2}]
    assert [run["run_id"] for run in in_order(runs)] == ["b", "a"]


def test_a_run_has_its_place_among_those_of_its_suite_and_agent() -> None:
    told = [
        {"run_id": "new", "suite": "s", "agent": "a", "started_at": 2},
        {"run_id": "old", "suite": "s", "agent": "a", "started_at": 1},
    ]
    placed = [(run.run_id, run.previous, run.is_latest) for run in runs_in_order(told)]
    assert placed == [("old", None, False), ("new", "old", True)]
