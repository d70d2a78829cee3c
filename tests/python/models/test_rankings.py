"""Ranks of runs: the tables against the pairs of passk_comparisons, and against polars."""

from __future__ import annotations

import itertools
import math
import random
from datetime import datetime, timedelta
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk
from passk_py.stats.distributions import median_of_highest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

Rows = list[dict[str, Any]]

KS: Final = [1, 2, 4]
VARS: Final = {
    "passk_ks": KS,
    "passk_deployment_k": 4,
    "passk_create_sql_functions": False,
    "passk_ordered_metrics": False,
}
MODELS: Final = ("passk_rankings", "passk_comparisons", "passk_suite_metrics")
START: Final = datetime(2026, 1, 1)
LEVEL: Final = 0.95


def run_of(run: str, day: int, rates: list[float], *, n: int, seed: int) -> Rows:
    """Make a run of one task for each rate; the seed decides its attempts."""
    chance = random.Random(f"{run} {seed}")
    return [
        {
            "run_id": run,
            "suite": "s",
            "task_id": f"t{task:02}",
            "attempt": attempt,
            "outcome": "passed" if chance.random() < rate else "failed",
            "agent": run,
            "started_at": START + timedelta(days=day),
        }
        for task, rate in enumerate(rates)
        for attempt in range(1, n + 1)
    ]


def build(project: Project, **variables: Any) -> None:
    project.run({**VARS, **variables}, select=[f"+{model}" for model in MODELS])
    project.run({**VARS, **variables}, command="test", select=["passk_rankings"])


@pytest.fixture(scope="module")
def log() -> Rows:
    """Six runs: good, as good, worse, much worse, one of few attempts, and one that lacks tasks."""
    chance = random.Random(5)
    rates = [chance.choice([0.3, 0.6, 0.9, 1.0]) for _ in range(40)]
    rows = run_of("good", 1, rates, n=8, seed=1)
    rows += run_of("as good", 2, rates, n=8, seed=2)
    rows += run_of("worse", 3, [0.8 * rate for rate in rates], n=6, seed=3)
    rows += run_of("much worse", 4, [0.3 * rate for rate in rates], n=8, seed=4)
    rows += run_of("short", 5, rates, n=3, seed=5)
    fewer = run_of("fewer tasks", 6, rates, n=8, seed=6)
    rows += [row for row in fewer if int(row["task_id"][1:]) >= 5]
    # One task of "worse" is short: it may have any difference.
    return [
        row
        for row in rows
        if not (row["run_id"] == "worse" and row["task_id"] == "t00" and row["attempt"] > 3)
    ]


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], log: Rows) -> Project:
    """All pairs are declared too, so that passk_comparisons has the p of each."""
    made = make_project()
    made.land(log)
    runs = sorted({row["run_id"] for row in log})
    pairs = [
        {"baseline": one, "candidate": other} for one, other in itertools.combinations(runs, 2)
    ]
    build(made, passk_pairs=pairs)
    return made


def test_ranks_follow_from_the_p_of_all_pairs(built: Project) -> None:
    """Holm's method, step by step, over the pairs of passk_comparisons that no short task is in."""
    for metric, k in itertools.product(("pass_at_k", "pass_hat_k"), (1, 2)):
        where = f"metric = '{metric}' and k = {k}"
        pairs = built.records(
            "select baseline_run_id as one, candidate_run_id as other, difference, p, verdict, "
            "baseline_only_tasks, candidate_only_tasks, common_tasks, eligible_tasks "
            f"from passk_comparisons where {where}"
        )
        assert len(pairs) == 15
        assert all(pair["eligible_tasks"] == pair["common_tasks"] for pair in pairs)
        # Without 5 of 40 tasks the pair has no verdict; one of 35 in 40 would have one the other way.
        tested = [
            (1.0 if max(pair["baseline_only_tasks"], pair["candidate_only_tasks"]) == 5 or pair["p"] is None else pair["p"], pair)
            for pair in pairs
        ]  # fmt: skip
        better: dict[str, set[str]] = {}
        left = len(tested)
        for p, pair in sorted(tested, key=lambda item: item[0]):
            if p * left > 1 - LEVEL + 1e-12:
                break
            left -= 1
            ahead, behind = ("other", "one") if pair["difference"] > 0 else ("one", "other")
            better.setdefault(pair[behind], set()).add(pair[ahead])
        rows = built.records(f"select * from passk_rankings where {where}")
        assert {row["run_id"] for row in rows} == {
            "good", "as good", "worse", "much worse", "short", "fewer tasks",
        }  # fmt: skip
        for row in rows:
            mine = better.get(row["run_id"], set())
            worse = {run for run, ahead in better.items() if row["run_id"] in ahead}
            assert row["better_runs"] == len(mine)
            assert row["worse_runs"] == len(worse)
            assert row["rank_lower"] == 1 + len(mine)
            assert row["rank_upper"] == 6 - len(worse)
            assert row["may_be_best"] is (not mine)
            names = set(filter(None, (row["not_told_apart_from"] or "").split(", ")))
            assert names == {other["run_id"] for other in rows} - {row["run_id"]} - mine - worse
    assert better, "no pair is told apart, so that nothing was tested"


def test_values_are_those_of_the_suite(built: Project) -> None:
    different = built.query(
        "select count(*) from passk_rankings as ranks inner join passk_suite_metrics as suites "
        "using (run_id, suite, k) where slice_name = 'all' and ("
        "estimate is distinct from if(metric = 'pass_at_k', pass_at_k, pass_hat_k) "
        "or abs(lower - if(metric = 'pass_at_k', pass_at_k_lower, pass_hat_k_lower)) > 1e-12 "
        "or abs(upper - if(metric = 'pass_at_k', pass_at_k_upper, pass_hat_k_upper)) > 1e-12)"
    )
    assert different == [(0,)]
    assert built.query("select count(*) from passk_rankings") == [(6 * 2 * len(KS),)]


def test_polars_gives_the_same(built: Project, log: Rows) -> None:
    mine = pk.rank_runs(pl.DataFrame(log), ks=KS)
    key = ["run_id", "metric", "k"]
    rows = {tuple(row[name] for name in key): row for row in mine.to_dicts()}
    stored = built.records("select * from passk_rankings")
    assert len(rows) == len(stored) > 0
    for row in stored:
        for name, value in rows[tuple(row[name] for name in key)].items():
            if isinstance(value, float):
                # Limits are made of quantiles, which SQL approximates.
                near = 1e-12 if name.startswith("estimate") else 1e-9
                assert row[name] == pytest.approx(value, rel=near)
            else:
                assert row[name] == value, name


def test_the_luck_of_the_top_is_taken_off(built: Project) -> None:
    """By the quantile of the highest of six, and the variances of the five differences."""
    rows = built.records("select * from passk_rankings where metric = 'pass_hat_k' and k = 2")
    (top,) = (row for row in rows if row["estimated_rank"] == 1)
    assert [row["estimate_of_top"] for row in rows if row is not top] == [None] * 5
    others = (top["not_told_apart_from"] or "").split(", ")
    assert 2 <= len(others) <= 4, "some runs are told apart, and several are not"
    pairs = built.records(
        "select baseline_run_id as one, candidate_run_id as other, difference, "
        "difference_suite_upper, difference_suite_lower from passk_comparisons "
        f"where metric = 'pass_hat_k' and k = 2 and '{top['run_id']}' in (one, other)"
    )
    # An interval for these tasks that was not clipped, nor moved by the test, reaches as far to each side.
    errors = []
    for pair in pairs:
        if {pair["one"], pair["other"]} & set(others):
            upper = pair["difference_suite_upper"] - pair["difference"]
            assert upper == pytest.approx(pair["difference"] - pair["difference_suite_lower"])
            errors.append(upper / NormalDist().inv_cdf(0.975))
    luck = NormalDist().inv_cdf(0.5 ** (1 / (1 + len(others))))
    expected = top["estimate"] - luck * math.sqrt(fmean(error**2 / 2 for error in errors))
    # The quantile is approximated.
    assert top["estimate_of_top"] == pytest.approx(expected, abs=4.5e-4)
    assert top["estimate_of_top"] < top["estimate"] - 0.01


@pytest.mark.parametrize("count", [1, 2, 3, 10, 40, 1000])
def test_the_median_of_the_highest_is_a_quantile(count: int) -> None:
    exact = NormalDist().inv_cdf(0.5 ** (1 / count))
    assert median_of_highest(count) == pytest.approx(exact, abs=4.5e-4)


@pytest.mark.long
@pytest.mark.parametrize(("falls", "far"), [(0.0, 0.0), (0.02, 0.0), (0.0, 0.4)])
def test_the_estimate_of_the_top_is_not_too_good(falls: float, far: float) -> None:
    """Of ten agents: equal ones, each worse than the one before, and one far ahead."""
    dice = random.Random(3)
    too_high = {"estimate": 0, "estimate_of_top": 0}
    repetitions = 120
    for _ in range(repetitions):
        rates = [dice.betavariate(0.5, 0.5) for _ in range(48)]
        truth = {}
        log: Rows = []
        for agent in range(10):
            left = (1 - falls * agent) * (1 - far if agent else 1)
            own = [left * rate for rate in rates]
            truth[f"{agent}"] = fmean(rate**4 for rate in own)
            log += run_of(f"{agent}", agent, own, n=8, seed=dice.getrandbits(32))
        (top, *_) = (
            pk.rank_runs(pl.DataFrame(log), ks=[4])
            .filter(metric="pass_hat_k", estimated_rank=1)
            .to_dicts()
        )
        for name in too_high:
            too_high[name] += top[name] > truth[top["run_id"]]
    # Of 120, 60 by chance at most, and three standard errors of 5.5 more.
    assert too_high["estimate_of_top"] <= 76
    if not far:
        assert too_high["estimate"] >= 76


def test_a_run_without_a_value_has_no_rank(built: Project) -> None:
    (row,) = built.records(
        "select * from passk_rankings where run_id = 'short' and metric = 'pass_hat_k' and k = 4"
    )
    assert row["null_reason"] == "n < 4 in 40 of 40 tasks"
    assert row["meaning"] == "Not ranked: n < 4 in 40 of 40 tasks."
    assert row["ranked_runs"] == 5
    assert row["estimated_rank"] is row["rank_lower"] is row["may_be_best"] is None


@pytest.mark.long
def test_short_tasks_may_undo_a_difference(make_project: Callable[[], Project], log: Rows) -> None:
    """Of two runs, the ranks are apart exactly where passk_comparisons finds a change."""
    two = [row for row in log if row["run_id"] in ("good", "worse")]
    found = []
    for short in (0, 12):
        made = make_project()
        made.land([
            row
            for row in two
            if row["run_id"] == "good" or row["attempt"] <= 3 or int(row["task_id"][1:]) >= short
        ])  # fmt: skip
        build(
            made,
            passk_min_eligible_share=0,
            passk_pairs=[{"baseline": "good", "candidate": "worse"}],
        )
        changed = made.query(
            "select metric, k, verdict in ('regression', 'improvement') from passk_comparisons "
            "order by metric, k"
        )
        apart = made.query(
            "select metric, k, rank_lower = rank_upper from passk_rankings "
            "where run_id = 'worse' order by metric, k"
        )
        assert changed == apart
        found.append({(metric, k): is_apart for metric, k, is_apart in apart})
    assert found[0]["pass_hat_k", 4]
    assert not found[1]["pass_hat_k", 4]


def test_equal_runs_share_a_rank(
    make_project: Callable[[], Project], attempts: Callable[..., Rows]
) -> None:
    made = make_project()
    made.land([
        row
        for run in ("a", "b")
        for task in range(8)
        for row in attempts(run, f"t{task}", "PPFP", suite="s")
    ])  # fmt: skip
    build(made)
    assert made.query(
        "select run_id, estimated_rank, rank_lower, rank_upper, meaning from passk_rankings "
        "where k = 2 and metric = 'pass_hat_k' order by run_id"
    ) == [
        ("a", 1, 1, 2, "May be the best of 2 runs: rank 1 to 2."),
        ("b", 1, 1, 2, "May be the best of 2 runs: rank 1 to 2."),
    ]


def test_names_with_commas_can_be_told_in_the_list(
    project: Project, attempts: Callable[..., Rows]
) -> None:
    project.land([
        row
        for run, letters in (("a, b, c", "PPFP"), ("b", "PPPP"), ("d", "PPFP"))
        for task in range(8)
        for row in attempts(run, f"t{task}", letters, suite="s")
    ])  # fmt: skip
    build(project)
    lists = dict(
        project.query(
            "select run_id, not_told_apart_from from passk_rankings "
            "where k = 1 and metric = 'pass_hat_k'"
        )
    )
    assert lists == {"a, b, c": "d", "b": None, "d": "a; b; c"}


@pytest.mark.parametrize("most", [1, 2.5, None, "3"])
def test_a_number_of_runs_that_can_not_be_is_refused(log: Rows, most: Any) -> None:
    with pytest.raises(pk.ArgumentError, match="most_runs must be an integer from 2"):
        pk.rank_runs(pl.DataFrame(log), most_runs=most)


def test_attempts_of_no_run_are_in_no_rank(log: Rows) -> None:
    more = [*log, {**log[0], "run_id": None}]
    ranks = pk.rank_runs(pl.DataFrame(more, infer_schema_length=None), ks=[2])
    assert ranks.equals(pk.rank_runs(pl.DataFrame(log), ks=[2]))


def test_only_the_latest_runs_are_ranked(built: Project, log: Rows, project: Project) -> None:
    del built
    project.land(log)
    build(project, passk_ranked_runs=2)
    assert project.query("select distinct run_id from passk_rankings order by 1") == [
        ("fewer tasks",), ("short",),
    ]  # fmt: skip
    alone = [row for row in log if row["run_id"] == "good"]
    assert pk.rank_runs(pl.DataFrame(alone), ks=[2])["meaning"].unique().to_list() == [
        "The only run with a value."
    ]


def test_pairs_that_only_ranks_need_are_in_no_comparison(project: Project, log: Rows) -> None:
    project.land(log)
    build(project)
    assert project.query("select count(*) from passk_comparisons") == [(0,)]
    assert project.query("select count(*) > 0 from passk_rankings where worse_runs > 0") == [
        (True,)
    ]
