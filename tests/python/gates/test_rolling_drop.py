"""Rules with a rolling baseline: the limits by hand, SQL beside polars, and wrong rules."""

from __future__ import annotations

import math
import random
import statistics
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk
from passk_py.common.errors import PasskError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

Rows = list[dict[str, Any]]

GATE: Final = {
    "type": "drop", "metric": "pass_hat_k", "k": 2, "baseline": {"last": 6}, "run": "all",
}  # fmt: skip
GATES: Final = [
    {**GATE, "name": "small", "max_drop": 0.05},
    {**GATE, "name": "large", "max_drop": 0.3},
    {**GATE, "name": "none", "max_drop": 0, "baseline": {"last": 3}},
    {**GATE, "name": "any", "max_drop": 0.1, "metric": "pass_at_k", "k": 3},
    {
        "name": "reach", "type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.1,
        "scope": "suite", "run": "all",
    },
]  # fmt: skip
VARS: Final = {
    "passk_ks": [1, 2, 3],
    "passk_deployment_k": 2,
    "passk_ordered_metrics": False,
    "passk_gates": GATES,
}
TABLE: Final = "select * from passk_gates where rule like '%runs before%'"


def some_log() -> Rows:
    """Nights of agents: steady, one that falls at last, perfect, of changing tasks, excluded."""
    dice = random.Random(8)
    rows: Rows = []
    rates = [dice.betavariate(6, 1) for _ in range(40)]
    for agent, nights in (
        ("steady", 9),
        ("falls", 8),
        ("perfect", 5),
        ("changes", 6),
        ("lost", 5),
        ("outage", 8),
    ):
        for night in range(nights):
            last = night == nights - 1
            for task in range(40):
                if agent == "changes" and task >= (30 if last else 40):
                    continue
                # One night of few tasks, and one on which nothing could be graded.
                if agent == "outage" and night == 3 and task >= 5:
                    continue
                rate = 1.0 if agent in ("perfect", "lost") else rates[task]
                if agent == "falls" and last:
                    rate *= 0.4
                for attempt in range(1, 3 if agent == "changes" and task == 0 else 5):
                    outcome = "passed" if dice.random() < rate else "failed"
                    if agent == "lost" and last and task % 2 == 0 and attempt == 1:
                        outcome = "excluded"
                    if agent == "outage" and night == 5:
                        outcome = "excluded"
                    rows.append(
                        {
                            "run_id": f"{agent}-{night + 1:02}", "suite": "suite", "agent": agent,
                            "task_id": f"t{task:02}", "attempt": attempt, "outcome": outcome,
                            "started_at": datetime(2026, 1, 1) + timedelta(days=night),
                        }
                    )  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def attempts() -> Rows:
    return some_log()


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Rows) -> Project:
    made = make_project()
    made.land(attempts)
    made.run(VARS)
    made.run(VARS, command="test", select=["int_passk__rolling_gates", "int_passk__gate_bounds"])
    return made


@pytest.fixture(scope="module")
def judged(built: Project) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["gate"], row["run_id"]): row for row in built.records(TABLE)}


def test_runs_get_what_they_deserve(judged: dict[tuple[str, str], dict[str, Any]]) -> None:
    assert len(judged) == 4 * (9 + 8 + 5 + 6 + 5 + 8)
    assert judged["large", "steady-09"]["result"] == "pass"
    assert judged["small", "falls-08"]["result"] == "fail"
    assert judged["small", "falls-08"]["rule"] == (
        "pass^2 at most 0.05 below the 6 runs before, on these tasks"
    )
    first, third = judged["small", "steady-01"], judged["none", "steady-03"]
    assert first["reason"].startswith("There is no earlier run of the agent over these tasks; ")
    assert third["reason"].startswith("There are 2 earlier runs of the agent over these tasks; ")
    assert third["to_settle"] == "At least 3 earlier runs of the agent over these tasks."
    assert {row["result"] for row in (first, third)} == {"inconclusive"}
    assert (third["estimate"], third["tasks"], third["baseline_run_id"]) == (None, None, None)
    # Perfect runs don't scatter, and still forty tasks don't show that nothing fell.
    perfect = judged["none", "perfect-05"]
    assert (perfect["estimate"], perfect["result"]) == (0, "inconclusive")
    assert perfect["estimate_lower"] < -0.02
    assert judged["small", "changes-06"]["reason"] == (
        "Only 30 of 40 tasks of the run before are in every run, fewer than 90 %."
    )
    # One short task of forty is no reason to say nothing, but it widens the limits.
    assert " over 39 of 40 tasks" in judged["any", "changes-05"]["reason"]
    after = judged["large", "outage-08"]
    assert " in the 5 runs before it (2 of other tasks left out) " in after["reason"]
    assert (after["tasks"], after["result"]) == (40, "pass")
    assert judged["large", "outage-04"]["reason"] == (
        "Only 5 of 40 tasks of the run before are in every run, fewer than 90 %."
    )
    assert judged["large", "outage-06"]["reason"] == (
        "There is no difference of pass^2: n < 2 in 40 of 40 tasks."
    )
    lost = judged["large", "lost-05"]
    assert lost["result"] == "inconclusive"
    assert lost["reason"].endswith(
        "which would pass, but not if the 20 excluded attempts had failed."
    )
    assert lost["to_settle"] == "The excluded attempts, made again."


def test_limits_are_those_of_the_means_of_runs(
    attempts: Rows, judged: dict[tuple[str, str], dict[str, Any]]
) -> None:
    """Four attempts of forty tasks, six runs: t with 5 degrees, by hand."""
    passes: dict[tuple[str, str], int] = {}
    for row in attempts:
        key = (row["run_id"], row["task_id"])
        passes[key] = passes.get(key, 0) + (row["outcome"] == "passed")
    tasks = sorted({task for _, task in passes})
    scores = {key: c * (c - 1) / 12 for key, c in passes.items() if key[0].startswith("steady")}
    means = [
        statistics.fmean(scores[f"steady-{night:02}", task] for task in tasks)
        for night in range(3, 10)
    ]
    *earlier, mine = means
    apart = [
        scores["steady-09", task]
        - statistics.fmean(scores[f"steady-{night:02}", task] for night in range(3, 9))
        for task in tasks
    ]
    of_runs = 2.5705818356363155**2 * statistics.variance(earlier) * 7 / 6
    of_tasks = 1.9599639845400542**2 * statistics.variance(apart) / 40
    # The floor: (1.8821 k / n)^2 is .89 with two of four attempts.
    unit = -math.log(0.025) / 1.9599639845400542
    floor = 1.9599639845400542**2 * max(0.5, (unit * 2 / 4) ** 2) / 40**2
    reach = math.sqrt(max(of_runs, of_tasks) + floor)
    row = judged["small", "steady-09"]
    difference = mine - statistics.fmean(earlier)
    assert row["tasks"] == 40
    assert row["estimate"] == pytest.approx(difference, abs=1e-14)
    assert row["estimate_lower"] == pytest.approx(difference - reach, rel=1e-12)
    assert row["estimate_upper"] == pytest.approx(difference + reach, rel=1e-12)


def test_sql_and_polars_say_the_same(built: Project, attempts: Rows) -> None:
    columns = [
        "gate", "suite", "run_id", "baseline_run_id", "rule_type", "rule", "metric", "k", "scope", "threshold", "tasks",
        "estimate", "estimate_lower", "estimate_upper", "result", "reason", "to_settle", "severity",
    ]  # fmt: skip
    order = ["gate", "run_id"]
    mine = pk.judge_gates(pl.DataFrame(attempts), GATES, k=2).select(columns).sort(order)
    theirs = pl.DataFrame(
        built.records(f"select {', '.join(columns)} from passk_gates"), schema=mine.schema
    ).sort(order)
    figures = ("estimate", "estimate_lower", "estimate_upper")
    # A mean such as 0.8375 is rounded up or down by its last digit.
    without = pl.col("reason").str.replace_all(r"\d\.\d+", "#")
    mine, theirs = mine.with_columns(without), theirs.with_columns(without)
    assert mine.drop(figures).rows() == theirs.drop(figures).rows()
    for name in figures:
        assert mine[name].is_null().to_list() == theirs[name].is_null().to_list()
        assert (mine[name] - theirs[name]).abs().max() <= 1e-12
    assert pk.validate_tables(built.database).examples == []


MISTAKES: Final = [
    (
        {"last": 2},
        'baseline is {"last": 2}, but must be a run_id, or {last: 6} with 3 to 100 runs.',
    ),
    (
        {"last": "six"},
        'baseline is {"last": "six"}, but must be a run_id, or {last: 6} with 3 to 100 runs.',
    ),
    (
        {"last": 6, "of": 1},
        'baseline is {"last": 6, "of": 1}, but must be a run_id, or {last: 6} with 3 to 100 runs.',
    ),
    ({}, "baseline is {}, but must be a run_id, or {last: 6} with 3 to 100 runs."),
    (
        6,
        "baseline is 6, but must be a run_id in quotes; for the 6 runs before, write {last: 6}.",
    ),
    (2, "baseline is 2, but must be a text."),
    (20260301, "baseline is 20260301, but must be a text."),
    (True, "baseline is true, but must be a text."),
]


@pytest.mark.parametrize(("baseline", "mistake"), MISTAKES)
def test_mistakes_are_named(baseline: Any, mistake: str) -> None:
    rule = {**GATE, "name": "odd", "max_drop": 0.1, "baseline": baseline}
    with pytest.raises(PasskError, match="1 mistake") as caught:
        pk.judge_gates(pl.DataFrame(some_log()[:1]), [rule])
    assert f"odd: {mistake}" in str(caught.value)


def test_other_rules_take_no_runs_before() -> None:
    rules = [
        {**GATE, "name": "unseen", "max_drop": 0.1, "scope": "unseen"},
        {"name": "moved", "type": "regressed_tasks", "max": 0, "baseline": {"last": 6}},
    ]
    with pytest.raises(PasskError) as caught:
        pk.judge_gates(pl.DataFrame(some_log()[:1]), rules)
    assert (
        "unseen: A baseline of the last runs is about these tasks, so the rule takes no scope: unseen."
        in str(caught.value)
    )
    assert 'moved: baseline is {"last": 6}, but must be a text.' in str(caught.value)


def test_dbt_names_the_same_mistakes(make_project: Callable[[], Project]) -> None:
    wrong = [
        {**GATE, "name": f"g{place}", "max_drop": 0.1, "baseline": baseline}
        for place, (baseline, _) in enumerate(MISTAKES)
    ]
    wrong.append({**GATE, "name": "unseen", "max_drop": 0.1, "scope": "unseen"})
    said = make_project().refused({**VARS, "passk_gates": wrong})
    for place, (_, mistake) in enumerate(MISTAKES):
        assert f'passk_gates, "g{place}": {mistake}' in said
    assert "so the rule takes no scope: unseen." in said
