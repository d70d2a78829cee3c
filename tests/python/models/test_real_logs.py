"""Logs that nobody on this project wrote, and the figures that must come out of them."""

from __future__ import annotations

import csv
import json
from math import comb
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Project

KS: Final = (1, 2, 3, 4, 5, 8, 10, 100)
READ: Final = ("+passk_tasks", "+passk_task_metrics", "+passk_suite_metrics")
"""The tables that are read here, with all that they are made from."""


def shown(project: Project, run: str, metric: str, *ks: int) -> list[str]:
    """Give a metric of a run at some k, with four decimals."""
    rows = dict(project.query(f"select k, {metric} from passk_suite_metrics where run_id = ?", run))
    return [f"{rows[k]:.4f}" for k in ks]


def null_at(project: Project, run: str, metric: str) -> set[int]:
    sql = f"select k from passk_suite_metrics where run_id = ? and {metric} is null"
    return {row[0] for row in project.query(sql, run)}


# ---------------------------------------------------------------------------------------------
# tau-bench, airline: the runner's own result file

AIRLINE: Final = "gpt-4o-airline"


@pytest.fixture(scope="module")
def airline(
    make_project: Callable[[], Project], tau_bench_file: Path
) -> tuple[Project, list[dict[str, Any]]]:
    """The built tables, and the file as Python reads it."""
    made = make_project()
    # A trial's number starts at 0; a reward of 1 is a solved task.
    made.execute(
        "insert into landing.attempts by name select"
        f" '{AIRLINE}' as run_id, 'tau-bench airline' as suite, task_id::varchar as task_id,"
        " trial + 1 as attempt, reward as score, timestamp '2026-01-01' as loaded_at,"
        " case when reward >= 1 - 1e-6 then 'passed' else 'failed' end as outcome"
        f" from read_json('{tau_bench_file}', columns = {{task_id: 'bigint', trial: 'bigint',"
        " reward: 'double'}, maximum_object_size = 100000000)"
    )
    made.run({"passk_ks": list(KS)}, select=READ)
    return made, json.loads(tau_bench_file.read_text(encoding="utf-8"))


def test_airline_published_pass_hat_1_to_4(airline: tuple[Project, Any]) -> None:
    expected = ["0.4200", "0.2733", "0.2200", "0.2000"]
    assert shown(airline[0], AIRLINE, "pass_hat_k", 1, 2, 3, 4) == expected


def test_airline_pass_at_1_to_4(airline: tuple[Project, Any]) -> None:
    expected = ["0.4200", "0.5667", "0.6600", "0.7200"]
    assert shown(airline[0], AIRLINE, "pass_at_k", 1, 2, 3, 4) == expected


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("pass_hat_k", "0.2733"),
        ("pass_hat_k_plugin", "0.3100"),
        ("pass_hat_k_window", "0.2667"),
        ("pass_hat_k_first_k", "0.2400"),
        ("pass_hat_k_pooled", "0.1764"),
    ],
)
def test_airline_five_estimates_of_both_succeed(
    airline: tuple[Project, Any], metric: str, expected: str
) -> None:
    assert shown(airline[0], AIRLINE, metric, 2) == [expected]


def test_airline_nothing_is_told_beyond_four_trials(airline: tuple[Project, Any]) -> None:
    for metric in ("pass_at_k", "pass_hat_k", "pass_hat_k_window", "delta_k", "reading"):
        assert null_at(airline[0], AIRLINE, metric) >= {5, 8, 10, 100}
    reasons = airline[0].query("select distinct null_reason from passk_suite_metrics where k = 5")
    assert reasons == [("n < 5 in 50 of 50 tasks",)]


def test_airline_heterogeneity_at_2_is_the_intraclass_correlation(
    airline: tuple[Project, Any],
) -> None:
    project, log = airline
    passes: dict[str, int] = {}
    for row in log:
        passes[row["task_id"]] = passes.get(row["task_id"], 0) + (row["reward"] >= 1 - 1e-6)
    mean = sum(passes.values()) / 200
    between = sum((c / 4 - mean) ** 2 for c in passes.values()) / 49
    within = sum(c / 4 * (1 - c / 4) for c in passes.values()) * 4 / 3 / 50
    # The one-way ANOVA estimate: (MSB - MSW) / (MSB + (n - 1) MSW).
    correlation = (4 * between - within) / (4 * between + 3 * within)
    assert f"{correlation:.3f}" == "0.405"
    sql = "select heterogeneity from passk_suite_metrics where k = 2"
    assert project.query(sql)[0][0] == pytest.approx(correlation, rel=1e-12)


def test_airline_share_of_tasks_with_mixed_outcomes(airline: tuple[Project, Any]) -> None:
    rows = airline[0].query("select task_class, count(*) from passk_tasks group by 1")
    classes = dict(rows)
    assert sum(classes.values()) == 50
    assert classes["flaky"] / 50 == 0.52


def test_airline_ordered_metrics_by_brute_force(airline: tuple[Project, Any]) -> None:
    project, log = airline
    tasks: dict[str, dict[int, bool]] = {}
    for row in log:
        tasks.setdefault(str(row["task_id"]), {})[row["trial"]] = row["reward"] >= 1 - 1e-6
    for k in (1, 2, 3, 4):
        first = sum(all(trials[i] for i in range(k)) for trials in tasks.values()) / 50
        windows = [
            [all(trials[i + j] for j in range(k)) for i in range(5 - k)]
            for trials in tasks.values()
        ]
        window = sum(sum(found) / len(found) for found in windows) / 50
        sql = "select pass_hat_k_first_k, pass_hat_k_window from passk_suite_metrics where k = ?"
        assert project.query(sql, k)[0] == pytest.approx((first, window), rel=1e-14)


# ---------------------------------------------------------------------------------------------
# HumanEval, 100 samples a task


@pytest.fixture(scope="module")
def human_eval(make_project: Callable[[], Project], human_eval_file: Path) -> Project:
    made = make_project()
    made.execute(
        "insert into landing.attempts by name select"
        " 'codegen-16b' as run_id, 'human-eval' as suite, task_id, completion_id + 1 as attempt,"
        " case passed when 1 then 'passed' else 'failed' end as outcome, seconds as duration_s,"
        " timestamp '2026-01-01' as loaded_at"
        f" from read_csv('{human_eval_file}', all_varchar = false)"
    )
    made.run({"passk_ks": list(KS)}, select=READ)
    return made


def test_human_eval_pass_at_1_10_100(human_eval: Project) -> None:
    expected = ["0.2212", "0.5038", "0.7378"]
    assert shown(human_eval, "codegen-16b", "pass_at_k", 1, 10, 100) == expected


def test_human_eval_pass_hat_2_5_10(human_eval: Project) -> None:
    expected = ["0.1344", "0.0641", "0.0343"]
    assert shown(human_eval, "codegen-16b", "pass_hat_k", 2, 5, 10) == expected


def test_human_eval_task_by_task_from_integers(human_eval: Project, human_eval_file: Path) -> None:
    passes: dict[str, int] = {}
    with human_eval_file.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            passes[row["task_id"]] = passes.get(row["task_id"], 0) + int(row["passed"])
    rows = human_eval.query(
        "select task_id, k, n, c, pass_at_k, pass_hat_k from passk_task_metrics"
    )
    assert len(rows) == 164 * len(KS)
    for task, k, n, c, at, hat in rows:
        assert (n, c) == (100, passes[task])
        assert hat == pytest.approx(comb(c, k) / comb(100, k), rel=2e-14)
        assert at == pytest.approx((comb(100, k) - comb(100 - c, k)) / comb(100, k), rel=2e-15)


# ---------------------------------------------------------------------------------------------
# tau-bench, retail: rebuilt from the only counts that give the published figures


def test_retail_published_pass_hat_1_to_4(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    tasks = [passes for passes, count in enumerate((22, 18, 9, 22, 44)) for _ in range(count)]
    assert len(tasks) == 115
    project.land(
        row
        for number, passes in enumerate(tasks)
        for row in attempts("retail", f"task {number}", "P" * passes + "F" * (4 - passes))
    )
    project.run({"passk_ks": list(KS)}, select=READ)
    rows = project.query(
        "select pass_hat_k from passk_suite_metrics where k between 1 and 4 order by k"
    )
    assert [f"{value:.3f}" for (value,) in rows] == ["0.604", "0.491", "0.430", "0.383"]
