"""Rules at every look: fair bets by enumeration, SQL beside polars, and what a wrong rule gets."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk
from passk_py.metrics.gates.sequential import growth, limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

Rows = list[dict[str, Any]]

GATE: Final = {
    "type": "threshold", "metric": "pass_hat_k", "k": 2, "run": "all", "sequential": True,
}  # fmt: skip
GATES: Final = [
    {**GATE, "name": "low", "min": 0.3},
    {**GATE, "name": "low by four", "min": 0.3, "attempts": 4},
    {**GATE, "name": "near", "min": 0.6, "attempts": 4},
    {**GATE, "name": "high", "min": 0.9, "attempts": 3},
    {**GATE, "name": "odd", "min": 0.4567},
    {**GATE, "name": "any", "min": 0.6, "metric": "pass_at_k", "attempts": 4},
    {**GATE, "name": "most", "min": 0.4, "metric": "pass_m_of_k", "m": 2, "k": 3, "attempts": 4},
    {**GATE, "name": "many", "min": 0.4, "k": 40},
    {**GATE, "name": "once", "min": 0.4, "sequential": False},
]
VARS: Final = {
    "passk_ks": [1, 2, 3, 40],
    "passk_deployment_k": 2,
    "passk_ordered_metrics": False,
    "passk_m_of_k": [{"m": 2, "k": 3}],
    "passk_gates": GATES,
}
NEEDED: Final = math.log(40)


def some_log() -> Rows:
    """Runs that are good, bad and between; unfinished tasks, later attempts, excluded ones."""
    dice = random.Random(11)
    rows: Rows = []
    for run, chance, tasks in (
        ("good", 0.95, 90),
        ("bad", 0.2, 60),
        ("between", 0.7, 50),
        ("short", 0.5, 3),
    ):
        for task in range(tasks):
            rate = min(max(dice.gauss(chance, 0.1), 0), 1)
            gap = dice.choice([0, 0, 0, 0, 2])
            for attempt in range(1, 2 if run == "short" else dice.choice([1, 3, 4, 5, 9])):
                if attempt == gap:
                    continue
                outcome = "passed" if dice.random() < rate else "failed"
                rows.append(
                    {
                        "run_id": run, "suite": "suite", "task_id": f"t{task}", "attempt": attempt,
                        "outcome": "excluded" if dice.random() < 0.06 else outcome, "agent": run,
                    }
                )  # fmt: skip
    # An agent that would pass, if the harness had not lost the attempts of a third of its tasks.
    rows += [
        {
            "run_id": "lost", "suite": "suite", "task_id": f"t{task}", "attempt": attempt,
            "outcome": "excluded" if task % 3 == 0 and attempt < 3 else "passed", "agent": "lost",
        }
        for task in range(60)
        for attempt in range(1, 7)
    ]  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def attempts() -> Rows:
    return some_log()


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Rows) -> Project:
    made = make_project()
    made.land(attempts)
    made.run(VARS)
    made.run(VARS, command="test", select=["int_passk__sequential_gates", "int_passk__gate_runs"])
    return made


@pytest.mark.parametrize("above", [True, False])
def test_bets_are_fair_where_the_mean_is_the_bar(above: bool) -> None:
    """The capital after three tasks is one on average, over every course of three tasks."""
    chances = {
        Fraction(0): Fraction(1, 6),
        Fraction(1, 2): Fraction(1, 2),
        Fraction(1): Fraction(1, 3),
    }
    bar = sum(score * chance for score, chance in chances.items())
    capital = 0.0
    for course in product(chances, repeat=3):
        chance = math.prod((chances[score] for score in course), start=Fraction(1))
        scores = {float(score): course.count(score) for score in set(course)}
        capital += float(chance) * math.exp(growth(scores, float(bar), above=above))
    assert capital == pytest.approx(1, rel=1e-13)


@pytest.mark.parametrize(
    ("bar", "above"),
    [
        (0.8, True),
        (0.95, False),
        pytest.param(0.8, False, marks=pytest.mark.long),
        pytest.param(0.5, True, marks=pytest.mark.long),
    ],
)
def test_no_look_is_wrong_more_often_than_allowed(bar: float, above: bool) -> None:
    """The chance that the evidence is ever enough, exactly, over 300 tasks that pass or fail."""
    undecided, wrong = {0: 1.0}, 0.0
    for tasks in range(1, 301):
        following: dict[int, float] = {}
        for passed, chance in undecided.items():
            for more, share in ((1, bar), (0, 1 - bar)):
                following[passed + more] = following.get(passed + more, 0.0) + chance * share
        undecided = {}
        for passed, chance in following.items():
            if growth({1.0: passed, 0.0: tasks - passed}, bar, above=above) >= NEEDED:
                wrong += chance
            else:
                undecided[passed] = chance
    assert 0.005 < wrong <= 0.025


def test_limits_are_the_last_bars_that_are_ruled_out() -> None:
    dice = random.Random(3)
    for _ in range(12):
        scores = {dice.choice([0.0, 0.25, 0.5, 1.0]): dice.randint(1, 60) for _ in range(3)}
        bar = dice.choice([0.5, 0.1234])
        bars = sorted({*(step / 200 for step in range(1, 200)), bar})
        below = [one for one in bars if growth(scores, one, above=True) >= NEEDED]
        beyond = [one for one in bars if growth(scores, one, above=False) >= NEEDED]
        assert limits(scores, bar, NEEDED) == (max(below, default=0.0), min(beyond, default=1.0))


def test_results_are_those_that_the_runs_deserve(built: Project) -> None:
    found = {
        (row["gate"], row["run_id"]): row
        for row in built.records("select * from passk_gates where rule like '%at every look'")
    }
    assert len(found) == 8 * 5
    assert found["low by four", "good"]["result"] == "pass"
    assert found["high", "bad"]["result"] == "fail"
    assert found["near", "between"]["result"] == "inconclusive"
    assert found["many", "good"]["reason"] == "No task has 40 counted attempts yet."
    assert found["many", "good"]["to_settle"] == "At least 40 counted attempts of a task."
    lost = found["high", "lost"]
    assert (lost["estimate"], lost["tasks"], lost["result"]) == (1.0, 60, "inconclusive")
    assert lost["reason"].endswith(
        "over the first 3 attempts of 60 tasks, which would pass, but not if the excluded attempts had failed."
    )
    assert (
        lost["to_settle"]
        == "The excluded attempts, loaded again under their own numbers, or more tasks."
    )
    assert found["low", "good"]["rule"] == "pass^2 at least 0.3 on tasks like these, at every look"


def test_a_result_says_how_many_tasks_are_not_finished(built: Project, attempts: Rows) -> None:
    begun = {(row["run_id"], row["task_id"]) for row in attempts}
    for gate, run, late in (("low by four", "good", "fail"), ("high", "bad", "succeed")):
        (row,) = built.records("select * from passk_gates where gate = ? and run_id = ?", gate, run)
        left = sum(of == run for of, _ in begun) - row["tasks"]
        assert left > 1
        assert row["reason"].endswith(
            f" {left} tasks are not finished: if tasks that {late} take longer, wait for them."
        )


def first_scores(
    rows: Rows, run: str, attempts: int, score: Callable[[int], float]
) -> dict[float, int]:
    """Count the scores of the first counted attempts of each finished task, by hand."""
    tasks: dict[str, list[bool]] = {}
    numbers: dict[str, int] = {}
    for row in sorted(rows, key=lambda row: row["attempt"]):
        # Attempts after a gap are left out.
        if row["run_id"] == run and row["attempt"] == numbers.get(row["task_id"], 0) + 1:
            numbers[row["task_id"]] = row["attempt"]
            if row["outcome"] != "excluded":
                tasks.setdefault(row["task_id"], []).append(row["outcome"] == "passed")
    found: dict[float, int] = {}
    for passed in tasks.values():
        if len(passed) >= attempts:
            one = score(sum(passed[:attempts]))
            found[one] = found.get(one, 0) + 1
    return found


def test_the_evidence_is_of_the_first_attempts(built: Project, attempts: Rows) -> None:
    for run in ("good", "bad", "between"):
        scores = first_scores(attempts, run, 4, lambda c: c * (c - 1) / 12)
        (row,) = built.records(
            f"select * from {built.relation('int_passk__sequential_gates')}"
            " where gate = 'near' and run_id = ?",
            run,
        )
        assert row["tasks"] == sum(scores.values())
        mean = sum(one * times for one, times in scores.items()) / row["tasks"]
        assert row["estimate"] == pytest.approx(mean, rel=1e-13)
        assert row["needed_evidence"] == pytest.approx(NEEDED, rel=1e-14)
        for side in ("above", "below"):
            want = growth(scores, 0.6, above=side == "above")
            assert row[f"{side}_counted"] == pytest.approx(want, rel=1e-11, abs=1e-11)
        assert (row["estimate_lower"], row["estimate_upper"]) == limits(scores, 0.6, NEEDED)


def test_polars_judges_as_sql_does(built: Project, attempts: Rows) -> None:
    judged = pk.judge_gates(pl.DataFrame(attempts), GATES, k=2)
    found = {
        (row["gate"], row["run_id"]): row for row in built.records("select * from passk_gates")
    }
    assert judged.height == len(found)
    for row in judged.iter_rows(named=True):
        sql = found[row["gate"], row["run_id"]]
        for name in (
            "rule",
            "metric",
            "k",
            "scope",
            "result",
            "tasks",
            "reason",
            "to_settle",
            "severity",
        ):
            assert row[name] == sql[name], (row, sql)
    assert pk.validate_tables(built.database).examples == []


def test_a_task_with_a_gap_is_not_finished() -> None:
    """The attempt that a gap lacks may land later, and would then be among the first."""
    rule = {**GATE, "name": "g", "min": 0.5, "attempts": 4}

    def judged(numbers: dict[int, str]) -> tuple[Any, ...]:
        rows = [
            {
                "run_id": "r",
                "suite": "s",
                "task_id": f"t{task}",
                "attempt": number,
                "outcome": outcome,
            }
            for task in range(30)
            for number, outcome in numbers.items()
        ]
        table = pk.judge_gates(pl.DataFrame(rows), [rule])
        return table.select("result", "tasks", "estimate").row(0)

    assert judged(dict.fromkeys((1, 3, 4, 5), "passed")) == ("inconclusive", None, None)
    assert judged(dict.fromkeys((1, 2, 3, 4, 5), "passed")) == ("pass", 30, 1.0)
    assert judged({1: "passed", 2: "failed", 3: "failed", 4: "passed", 9: "passed"})[1:] == (
        30,
        1 / 6,
    )
    # An excluded attempt is no gap.
    assert judged({1: "passed", 2: "excluded", 3: "passed", 4: "passed", 5: "passed"})[1:] == (
        30,
        1.0,
    )


def test_later_attempts_change_nothing(attempts: Rows) -> None:
    """Evidence that changed while attempts come in would not hold at every look."""
    rules = [gate for gate in GATES if gate.get("attempts") == 4]
    finished = [row for row in attempts if row["run_id"] == "lost"]
    late = [{**row, "attempt": row["attempt"] + 100, "outcome": "failed"} for row in finished]
    columns = ("gate", "tasks", "estimate", "estimate_lower", "estimate_upper", "result")
    now, later = (
        pk.judge_gates(pl.DataFrame(rows), rules).select(columns).rows()
        for rows in (finished, finished + late)
    )
    assert len(now) == 4
    assert now == later


MISTAKES: Final = [
    ({"attempts": 1}, "attempts is 1, but must be at least k, which is 2."),
    (
        {"attempts": 4, "k": None},
        "attempts takes a k in the same rule, and must be at least k.",
    ),
    (
        {"scope": "suite"},
        "sequential judges a whole suite for tasks like these, so it stands without each, slice_value and scope: suite.",
    ),
    ({"sequential": "often"}, 'sequential is "often", but must be true or false.'),
    ({"sequential": False, "attempts": 4}, "attempts has no meaning without sequential: true."),
]


@pytest.mark.parametrize(("wrong", "mistake"), MISTAKES)
def test_polars_tells_wrong_rules(wrong: dict[str, Any], mistake: str) -> None:
    rule = {
        name: one
        for name, one in {**GATE, "name": "g", "min": 0.5, **wrong}.items()
        if one is not None
    }
    with pytest.raises(pk.PasskError) as caught:
        pk.judge_gates(pl.DataFrame(some_log()), [rule])
    assert f"g: {mistake}" in str(caught.value)


def test_dbt_tells_the_same(make_project: Callable[[], Project]) -> None:
    rules = [
        {
            name: one
            for name, one in {**GATE, "name": f"g{place}", "min": 0.5, **wrong}.items()
            if one is not None
        }
        for place, (wrong, _) in enumerate(MISTAKES)
    ]
    said = make_project().refused(
        {"passk_ks": [1, 2], "passk_deployment_k": 2, "passk_gates": rules}
    )
    for place, (_, mistake) in enumerate(MISTAKES):
        assert f'passk_gates, "g{place}": {mistake}' in said


def test_related_tasks_are_no_draws_of_their_own(make_project: Callable[[], Project]) -> None:
    rule = {**GATE, "name": "g", "min": 0.5}
    with pytest.raises(pk.ArgumentError, match="the cluster says that tasks are related"):
        pk.judge_gates(pl.DataFrame(some_log()), [rule], cluster="agent")
    said = make_project().refused(
        {"passk_gates": [rule], "passk_cluster": "repo", "passk_ks": [2], "passk_deployment_k": 2}
    )
    assert (
        "sequential takes each task for a draw of its own, but passk_cluster says that tasks are related."
        in said
    )
