"""passk_contamination: the table against polars, which runs are paired, and the limits by hand."""

from __future__ import annotations

import math
import random
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

Rows = list[dict[str, Any]]

KS: Final = [1, 4, 8]
SUITES: Final = [
    {"public": "open", "private": "held-out"},
    {"public": "other", "private": "held-out"},
]
VARS: Final = {
    "passk_ks": KS,
    "passk_deployment_k": 4,
    "passk_create_sql_functions": False,
    "passk_ordered_metrics": False,
    "passk_private_suites": SUITES,
}
MODEL: Final = "passk_contamination"
START: Final = datetime(2026, 1, 1)
UNKNOWN: Final = {"agent": None, "agent_version": None, "model": None, "started_at": None}


def run_of(
    run: str, suite: str, tasks: int, rate: Callable[[int], float], n: int = 4, **more: Any
) -> Rows:
    """Give a run of tasks that pass with these chances."""
    chance = random.Random(f"{run} {suite}")
    rows = []
    for task in range(tasks):
        p = rate(task)
        rows += [
            {
                **UNKNOWN,
                "run_id": run,
                "suite": suite,
                "task_id": f"{suite} {task}",
                "attempt": number,
                "outcome": "passed" if chance.random() < p else "failed",
                **more,
            }
            for number in range(1, n + 1)
        ]
    return rows


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def always(share: float) -> Callable[[int], float]:
    """Make that share of the tasks perfect, and the others hopeless."""
    return lambda task: float((task * 7) % 100 < 100 * share)


def log() -> Rows:
    """Make runs of every kind."""
    half: Callable[[int], float] = lambda _task: 0.5  # noqa: E731 - as short as its neighbours
    return [
        *run_of("both", "open", 40, lambda _task: 0.9, agent="a"),
        *run_of("both", "held-out", 40, half, agent="a"),
        # Another run of that agent is later, but the same run goes before it.
        *run_of("both again", "held-out", 40, half, agent="a", started_at=day(9)),
        *run_of("alone", "open", 40, half, agent="b", agent_version="1", started_at=day(1)),
        *run_of("first", "held-out", 40, half, agent="b", agent_version="1", started_at=day(2)),
        *run_of("last", "held-out", 40, half, agent="b", agent_version="1", started_at=day(4)),
        *run_of("next", "held-out", 40, half, agent="b", agent_version="2", started_at=day(5)),
        *run_of("nameless", "open", 40, half),
        *run_of("nameless too", "held-out", 40, half),
        *run_of("nobody", "open", 40, half, agent="c"),
        *run_of("few", "open", 9, half, agent="d"),
        *run_of("few", "held-out", 40, half, agent="d"),
        *run_of("low", "open", 40, lambda _task: 0.1, agent="e"),
        *run_of("low", "held-out", 40, half, agent="e"),
        *run_of("solid", "open", 200, always(0.5), agent="f"),
        *run_of("solid", "held-out", 200, half, agent="f"),
        *run_of("single", "open", 300, lambda _task: 0.75, agent="g"),
        *run_of("single", "held-out", 300, always(0.5), agent="g"),
        *run_of("ragged", "open", 30, half, n=8, agent="h"),
        *run_of("ragged", "held-out", 30, half, n=8, agent="h"),
        *run_of("undated 1", "held-out", 40, half, agent="i", loaded_at=day(3)),
        *run_of("undated 2", "held-out", 40, half, agent="i", loaded_at=day(2), started_at=day(8)),
        *run_of("of i", "open", 40, half, agent="i", loaded_at=day(1)),
        *run_of("elsewhere", "other", 40, half, agent="a"),
    ]


def is_near(actual: Any, expected: Any) -> bool:
    if isinstance(actual, float) and isinstance(expected, float):
        return math.isclose(actual, expected, rel_tol=1e-8, abs_tol=1e-11)
    return actual == expected


def build(project: Project, **more: Any) -> None:
    project.run({**VARS, **more}, select=[f"+{MODEL}"])
    project.run({**VARS, **more}, command="test", select=[MODEL])


@pytest.mark.long
@pytest.mark.parametrize("share", [1, 0])
def test_sql_and_polars_agree(project: Project, share: Any) -> None:
    attempts = log()
    project.land([{**row, "loaded_at": row.get("loaded_at", START)} for row in attempts])
    build(project, passk_min_eligible_share=share, passk_confidence=0.9)
    frame = pl.DataFrame(
        [{**row, "loaded_at": row.get("loaded_at", START)} for row in attempts],
        infer_schema_length=None,
    )
    expected = pk.contamination(frame, SUITES, ks=KS, min_eligible_share=share, confidence=0.9)
    order = ["public_suite", "public_run_id", "k"]
    found = project.records(
        f"select {', '.join(expected.columns)} from {MODEL} order by {', '.join(order)}"
    )
    wanted = expected.sort(order).to_dicts()
    assert len(found) == len(wanted) == 11 * len(KS)
    for row, other in zip(found, wanted, strict=True):
        assert {n: v for n, v in row.items() if not is_near(v, other[n])} == {}, other
    pairs = {row["public_run_id"]: row["private_run_id"] for row in found}
    assert pairs == {
        "both": "both",
        "alone": "last",
        "nameless": None,
        "nobody": None,
        "few": "few",
        "low": "low",
        "solid": "solid",
        "single": "single",
        "ragged": "ragged",
        "of i": "undated 1",
        # Not all runs of that agent have a start, so the latest is the one that landed last.
        "elsewhere": "both again",
    }
    verdicts = {row["public_run_id"]: row["verdict"] for row in found if row["k"] == 4}
    assert verdicts["both"] == verdicts["solid"] == verdicts["single"] == "higher_on_public"
    assert verdicts["low"] == "lower_on_public"
    assert verdicts["nobody"] == verdicts["nameless"] == verdicts["few"] == "insufficient"
    assert verdicts["ragged"] == "no_difference_seen"


def test_what_is_said_is_what_is_seen(project: Project) -> None:
    project.land(log())
    build(project)
    said = dict(project.query(f"select public_run_id, meaning from {MODEL} where k = 4 order by 1"))
    assert "pass^4 higher by" in said["both"]
    assert said["both"].endswith("Its tasks may be known, or easier: evidence, not proof.")
    assert "and pass@1 is not seen to be. The agent repeats itself" in said["solid"]
    assert "and pass^4 is not seen to be. Easier tasks would lift both" in said["single"]
    assert "no sign that its tasks are known" in said["low"]
    assert said["few"] == ("Nothing can be said: only 9 tasks on the public suite, fewer than 10.")
    assert said["nobody"] == "Nothing can be said: no run of the agent on the private suite."
    assert said["nameless"] == (
        "Nothing can be said: the log does not say which agent made the run."
    )
    short = dict(project.query(f"select public_run_id, null_reason from {MODEL} where k = 8"))
    assert short["both"] == "n < 8 in 40 of 40 tasks of the public suite"


def test_limits_are_newcombes(project: Project) -> None:
    """30 of 40 tasks against 10 of 20, each with its own limits of Student's t."""
    project.land([
        *run_of("r", "open", 40, lambda task: float(task < 30), agent="a"),
        *run_of("r", "held-out", 20, lambda task: float(task < 10), agent="a"),
    ])  # fmt: skip
    build(project)
    (row,) = project.records(f"select * from {MODEL} where k = 4")
    limits = []
    # The 97.5 % points of Student's t with 41 and 21 degrees of freedom, from the tables.
    for passed, tasks, quantile in ((30, 40, 2.019541), (10, 20, 2.079614)):
        scores = [1] * (passed + 1) + [0] * (tasks - passed + 1)
        mean = sum(scores) / len(scores)
        spread = sum((score - mean) ** 2 for score in scores) / (tasks + 1)
        reach = quantile * math.sqrt(spread / (tasks + 2))
        limits.append((mean - reach, mean + reach))
    (low_1, high_1), (low_2, high_2) = limits
    lower = 0.25 - math.sqrt((0.75 - low_1) ** 2 + (high_2 - 0.5) ** 2)
    upper = 0.25 + math.sqrt((high_1 - 0.75) ** 2 + (0.5 - low_2) ** 2)
    for measure in ("pass_at_1", "pass_hat_k"):
        assert row[f"{measure}_difference"] == pytest.approx(0.25, rel=1e-12)
        assert row[f"{measure}_difference_lower"] == pytest.approx(lower, abs=1e-6)
        assert row[f"{measure}_difference_upper"] == pytest.approx(upper, abs=1e-6)
    assert (row["public_gap"], row["private_gap"]) == (0, 0)


@pytest.mark.long
def test_without_the_var_the_table_is_empty(project: Project) -> None:
    project.land(log())
    build(project, passk_private_suites=[])
    assert project.query(f"select count(*) from {MODEL}") == [(0,)]


@pytest.mark.parametrize(
    ("suites", "options", "said"),
    [
        (["open"], {}, "suites must be mappings of 'public' and 'private' to two suites"),
        ([{"public": "a"}], {}, "suites must be mappings"),
        ([{"public": "a", "private": "a"}], {}, "suites must be mappings"),
        ([], {"ks": [0]}, "ks must be whole numbers from 1"),
        ([], {"min_eligible_share": "skip"}, "min_eligible_share must be a number from 0 to 1"),
        ([], {"confidence": 95}, "confidence must be between 0 and 1"),
    ],
)
def test_wrong_options_are_refused(suites: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(pk.PasskError, match=said):
        pk.contamination(pl.DataFrame(log(), infer_schema_length=None), suites, **options)
