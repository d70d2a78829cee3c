"""Graded scores at several thresholds: brute force over all draws, tables against polars, coverage."""

from __future__ import annotations

import random
from datetime import datetime
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb, fsum
from statistics import mean
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk
from passk_py.stats.distributions import student_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

Rows = list[dict[str, Any]]

THRESHOLDS: Final = [0.8, 1, -0.5, 0.3]
KS: Final = [1, 2, 3, 6]
VARS: Final = {
    "passk_ks": KS,
    "passk_deployment_k": 3,
    "passk_ordered_metrics": False,
    "passk_slices": ["kind"],
    "passk_score_thresholds": THRESHOLDS,
}
FAMILIES: Final = {**VARS, "passk_cluster": "repo"}
PLACE: Final = ("run_id", "suite", "slice_name", "slice_value")
KEY: Final = (*PLACE, "threshold", "metric", "k")
TASKS: Final = 24
SCORES: Final = [0.0, 0.1, 0.3, 0.1 + 0.2, 0.79999999, 0.8, 0.9999995, 1.0, 1.5]


def some_log() -> Rows:
    """Four runs: all have scores; one attempt lacks one and a task is short; many lack one; none has one.

    Verdicts are drawn apart from scores, and excluded attempts have scores.
    """
    dice = random.Random(8)
    rows: Rows = []
    for run in ("every", "nearly", "half", "none"):
        for task in range(TASKS):
            tries = 5 if run == "nearly" and task == 3 else dice.choice([6, 8, 12])
            for attempt in range(1, tries + 1):
                score: float | None = dice.choice(SCORES[task % 5 :])
                if run == "none" or (run == "half" and dice.random() < 0.5):
                    score = None
                if run == "nearly" and (task, attempt) == (7, 2):
                    score = None
                is_excluded = dice.random() < 0.05 and (run, task) != ("nearly", 3)
                rows.append(
                    {
                        "run_id": run, "suite": "suite", "task_id": f"t{task}", "attempt": attempt, "score": score,
                        "outcome": "excluded" if is_excluded else dice.choice(["passed", "failed"]),
                        "tags": {"kind": "odd" if task % 2 else "even", **({"repo": f"f{task % 5}"} if task > 3 else {})},
                    }
                )  # fmt: skip
    return rows


def reaches(score: float, threshold: float) -> bool:
    """Whether a score passes, by the rule as the docs have it."""
    return score >= (0.999999 if threshold == 1 else threshold)


def scores_of(rows: Rows, run: str) -> dict[str, list[float]]:
    """The scores of the counted attempts of each task."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["run_id"] == run:
            scores = found.setdefault(row["task_id"], [])
            if row["outcome"] != "excluded" and row["score"] is not None:
                scores.append(row["score"])
    return found


def with_verdicts(rows: Rows, threshold: float) -> Rows:
    """The run `every` again, with the verdicts that a threshold gives."""
    return [
        row
        | {"run_id": f"every at {threshold}"}
        | ({} if row["outcome"] == "excluded" else {"outcome": "passed" if reaches(row["score"], threshold) else "failed"})
        for row in rows
        if row["run_id"] == "every"
    ]  # fmt: skip


def drawn(metric: str, scores: list[float], threshold: float, k: int) -> Fraction:
    """Count the draws of k of the scores of which any, or all, reach the threshold."""
    meets = any if metric == "pass_at_k" else all
    draws = [meets(reaches(one, threshold) for one in draw) for draw in combinations(scores, k)]
    return Fraction(sum(draws), len(draws))


@pytest.fixture(scope="module")
def attempts() -> Rows:
    rows = some_log()
    return [*rows, *(row for one in THRESHOLDS for row in with_verdicts(rows, one))]


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Rows) -> Project:
    made = make_project()
    made.land(attempts)
    tables = ["passk_threshold_metrics", "int_passk__score_counts"]
    made.run(VARS, select=["+passk_threshold_metrics", "+passk_suite_metrics"])
    made.run(VARS, command="test", select=tables)
    return made


def frame(attempts: Rows) -> pl.DataFrame:
    tags = pl.Struct({"kind": pl.String, "repo": pl.String})
    return pl.DataFrame(attempts, schema_overrides={"tags": tags}, infer_schema_length=None)


@pytest.mark.parametrize("run", ["every", "nearly"])
def test_estimates_are_means_over_all_draws(built: Project, attempts: Rows, run: str) -> None:
    tasks = scores_of(attempts, run)
    rows = built.records(
        f"select * from passk_threshold_metrics where run_id = '{run}' and slice_name = 'all' and k <= 3"
    )
    assert len(rows) == len(THRESHOLDS) * 2 * 3
    for row in rows:
        assert row["passes"] == sum(
            reaches(one, row["threshold"]) for scores in tasks.values() for one in scores
        )
        every = [
            drawn(row["metric"], scores, row["threshold"], row["k"]) for scores in tasks.values()
        ]
        assert row["estimate"] == pytest.approx(float(sum(every) / len(every)), rel=1e-13)
        # Student's t over the tasks and two more, one that scores 0 and one that scores 1.
        both = [*map(float, every), 0.0, 1.0]
        spread = fsum((one - mean(both)) ** 2 for one in both) / (len(both) - 1) / len(both)
        reach = student_quantile(len(both) - 1, 0.95) * spread**0.5
        assert row["lower"] == pytest.approx(max(mean(both) - reach, 0), rel=1e-8)
        assert row["upper"] == pytest.approx(min(mean(both) + reach, 1), rel=1e-8)
        assert row["null_reason"] is None


def test_limits_are_those_of_a_suite_with_these_verdicts(built: Project) -> None:
    for threshold in THRESHOLDS:
        for metric in ("pass_at_k", "pass_hat_k"):
            suites = built.query(
                f"select slice_value, k, eligible_tasks, total_tasks, least_n, n, c, {metric}, {metric}_lower, {metric}_upper,"
                f" {metric}_suite_lower, {metric}_suite_upper, null_reason, caveat from passk_suite_metrics"
                f" where run_id = 'every at {threshold}' order by slice_value, k"
            )
            found = built.query(
                "select slice_value, k, eligible_tasks, total_tasks, least_n, counted_attempts, passes, estimate, lower,"
                " upper, suite_lower, suite_upper, null_reason, caveat from passk_threshold_metrics"
                f" where run_id = 'every' and threshold = {threshold} and metric = '{metric}' order by slice_value, k"
            )
            assert len(found) == len(suites) == 3 * len(KS)
            for ours, theirs in zip(found, suites, strict=True):
                assert ours == tuple(
                    pytest.approx(one, rel=1e-12) if isinstance(one, float) else one for one in theirs
                )  # fmt: skip


def test_attempts_without_a_score_are_said_and_are_no_failures(
    built: Project, attempts: Rows
) -> None:
    counted = sum(row["run_id"] == "nearly" and row["outcome"] != "excluded" for row in attempts)
    rows = built.records(
        "select * from passk_threshold_metrics where run_id = 'nearly' and slice_name = 'all'"
    )
    said = f"{counted - 1} of {counted} counted attempts have a score, and the others are left out"
    tasks = scores_of(attempts, "nearly")
    short = sum(len(scores) < 6 for scores in tasks.values())
    assert 0 < short < TASKS
    for row in rows:
        assert (row["counted_attempts"], row["scored_attempts"]) == (counted, counted - 1)
        assert row["coverage"] == pytest.approx((counted - 1) / counted, rel=1e-14)
        if row["k"] < 6:
            assert row["caveat"] == said
        elif short <= TASKS // 20:
            assert row["caveat"] == (
                f"{said}; n < 6 in {short} of {TASKS} tasks, which the limits allow any value"
            )
        else:
            assert row["null_reason"] == f"n < 6 in {short} of {TASKS} tasks"
            assert row["caveat"] is None


@pytest.mark.parametrize("run", ["half", "none"])
def test_few_scores_give_no_estimate(built: Project, attempts: Rows, run: str) -> None:
    counted = sum(row["run_id"] == run and row["outcome"] != "excluded" for row in attempts)
    scored = sum(map(len, scores_of(attempts, run).values()))
    rows = built.records(
        f"select * from passk_threshold_metrics where run_id = '{run}' and slice_name = 'all'"
    )
    assert len(rows) == len(THRESHOLDS) * 2 * len(KS)
    for row in rows:
        assert row["null_reason"] == f"only {scored} of {counted} counted attempts have a score"
        assert {row[name] for name in ("estimate", "lower", "upper", "suite_lower", "caveat")} == {None}  # fmt: skip
        assert (row["total_tasks"], row["scored_attempts"]) == (TASKS, scored)


def test_a_higher_threshold_has_no_more_passes(built: Project) -> None:
    rows = built.query(
        "select run_id, slice_value, metric, k, threshold, passes, estimate from passk_threshold_metrics order by all"
    )
    fell = 0
    for before, after in pairwise(rows):
        if before[:4] == after[:4]:
            assert after[5] <= before[5]
            assert after[6] is None or after[6] <= before[6] + 1e-15
            fell += after[5] < before[5]
    assert fell > 0


@pytest.mark.long
def test_the_test_of_the_order_can_fail(
    make_project: Callable[[], Project], attempts: Rows
) -> None:
    project = make_project()
    project.land([row for row in attempts if row["run_id"] == "every"])
    project.run(VARS, select=["+passk_threshold_metrics"])
    project.execute(
        f"update {project.relation('int_passk__score_counts')} set c = 0 where threshold = 0.3 and n > 0"
    )
    with pytest.raises(Exception, match="passk_threshold_metrics_fall_with_the_threshold"):
        project.run(VARS, command="test", select=["passk_threshold_metrics"])


def test_polars_gives_the_table(built: Project, attempts: Rows) -> None:
    made = pk.threshold_metrics(frame(attempts), THRESHOLDS, ks=KS, slices=["kind"]).sort(KEY)
    found = built.records(f"select * from passk_threshold_metrics order by {', '.join(KEY)}")
    assert made.height == len(found) == 8 * 3 * len(THRESHOLDS) * 2 * len(KS)
    for ours, row in zip(made.iter_rows(named=True), found, strict=True):
        for name, value in ours.items():
            wide = 1e-8 if name in ("lower", "upper") else 1e-12
            assert row[name] == (pytest.approx(value, rel=wide) if isinstance(value, float) else value), (name, row)  # fmt: skip


def test_polars_of_scores_alone_is_that_of_suites() -> None:
    """Where scores are the only verdicts, each threshold is that of suite_metrics, also for 1."""
    dice = random.Random(4)
    log = pl.DataFrame(
        [
            {"run_id": "r", "task_id": task, "attempt": attempt, "score": dice.choice(SCORES)}
            for task in range(9)
            for attempt in range(1, 7)
        ]
    )
    for threshold in (0.3, 1):
        graded = pk.threshold_metrics(log, [threshold], ks=[2])
        suites = pk.suite_metrics(log, ks=[2], threshold=threshold).row(0, named=True)
        assert suites["c"] == sum(reaches(one, threshold) for one in log["score"])
        for row in graded.iter_rows(named=True):
            assert row["passes"] == suites["c"]
            assert row["estimate"] == pytest.approx(suites[row["metric"]], rel=1e-14)


def test_large_counts_are_exact() -> None:
    scores = [index % 10 / 10 for index in range(300)]
    log = pl.DataFrame({"run_id": "r", "task_id": "t", "attempt": range(1, 301), "score": scores})
    (row,) = pk.threshold_metrics(log, [0.2], ks=[40]).filter(metric="pass_hat_k").to_dicts()
    assert row["estimate"] == pytest.approx(
        float(Fraction(comb(240, 40), comb(300, 40))), rel=1e-14
    )


def test_a_log_without_the_column_says_so() -> None:
    log = pl.DataFrame({"run_id": "r", "task_id": "t", "attempt": [1, 2], "passed": True})
    for row in pk.threshold_metrics(log, [0.5], ks=[1]).iter_rows(named=True):
        assert row["null_reason"] == "only 0 of 2 counted attempts have a score"
    excluded = log.with_columns(passed=pl.lit(None, pl.Boolean))
    for row in pk.threshold_metrics(excluded, [0.5], ks=[1]).iter_rows(named=True):
        assert (row["coverage"], row["null_reason"]) == (None, "n < 1 in 1 of 1 tasks")


@pytest.mark.parametrize(
    "thresholds", ["0.5", ["0.5"], [True], [0.5, 0.5], [1, 1.0], [float("nan")], [float("inf")]]
)
def test_polars_refuses_other_thresholds(thresholds: Any) -> None:
    with pytest.raises(
        pk.ArgumentError,
        match="threshold_metrics: thresholds must be finite numbers, each once; got",
    ):
        pk.threshold_metrics(frame(some_log()[:9]), thresholds)


@pytest.mark.long
@pytest.mark.parametrize("variables", [VARS, FAMILIES], ids=["alone", "families"])
def test_validate_recomputes_it(
    make_project: Callable[[], Project], attempts: Rows, variables: dict[str, Any]
) -> None:
    project = make_project()
    project.land(attempts)
    project.run(variables)
    report = pk.validate_tables(project.database)
    tables = {table.table: table for table in report.tables}
    assert tables["passk_threshold_metrics"].rows == 8 * 3 * len(THRESHOLDS) * 2 * len(KS)
    assert report.examples == []
    project.execute(
        f"update {project.relation('int_passk__score_counts')} set c = c - 1 where c > 0 and n > c"
    )
    assert pk.validate_tables(project.database).different > 0


@pytest.mark.long
def test_families_are_draws(make_project: Callable[[], Project], attempts: Rows) -> None:
    project = make_project()
    project.land(attempts)
    project.run(FAMILIES, select=["+passk_threshold_metrics"])
    made = pk.threshold_metrics(
        frame(attempts), THRESHOLDS, ks=KS, slices=["kind"], cluster="repo"
    ).sort(KEY)
    found = project.records(f"select * from passk_threshold_metrics order by {', '.join(KEY)}")
    assert made.height == len(found)
    for ours, row in zip(made.iter_rows(named=True), found, strict=True):
        assert row["families"] == ours["families"]
        for name in ("effective_families", "lower", "upper"):
            assert row[name] == (None if ours[name] is None else pytest.approx(ours[name], rel=1e-8))  # fmt: skip
    # Four tasks are families of their own, the others make five.
    whole = [row for row in found if row["slice_name"] == "all" and row["run_id"] == "every"]
    assert {row["families"] for row in whole} == {4 + 5}


@pytest.mark.long
def test_late_scores_and_other_thresholds_are_seen(
    make_project: Callable[[], Project], attempts: Rows
) -> None:
    project = make_project()
    project.land([row for row in attempts if row["run_id"] == "every"])
    project.run(VARS, select=["+passk_threshold_metrics"])
    late = datetime(2026, 2, 1)
    project.land(row | {"loaded_at": late} for row in attempts if row["run_id"] == "nearly")
    for asked in (THRESHOLDS, [0.3], []):
        project.run({**VARS, "passk_score_thresholds": asked}, select=["+passk_threshold_metrics"])
        rows = project.query("select distinct run_id, threshold from passk_threshold_metrics")
        assert set(rows) == {(run, float(one)) for run in ("every", "nearly") for one in asked}
