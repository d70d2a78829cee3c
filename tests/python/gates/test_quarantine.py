"""Tasks in quarantine: rules leave them out up to a date, say so, and judge all others as before."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk
from passk_py.common.errors import PasskError
from tests.python.conftest import BuildError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

Rows = list[dict[str, Any]]

ENTRIES: Final = [
    {"task": "flaky-*", "suite": "web", "until": "2026-01-05", "reason": "the shop is rebuilt"},
    {"task": "t07", "until": "2026-01-03", "reason": "its grader is wrong"},
    {"task": "only", "suite": "tiny", "until": "2026-12-31", "reason": "a first try"},
    {"task": "ghost-*", "until": "2026-12-31", "reason": "renamed since"},
    {"task": "t01", "suite": "wbe", "until": "2026-12-31", "reason": "misspelt"},
]
HAT: Final = {"metric": "pass_hat_k", "k": 2, "run": "all"}
GATES: Final = [
    {**HAT, "name": "unseen", "type": "threshold", "min": 0.7},
    {**HAT, "name": "suite", "type": "threshold", "min": 0.7, "scope": "suite"},
    {**HAT, "name": "domains", "type": "threshold", "min": 0.7, "each": "domain"},
    {**HAT, "name": "shop", "type": "threshold", "min": 0.7, "each": "domain", "slice_value": "shop"},
    {**HAT, "name": "m", "type": "threshold", "min": 0.7, "metric": "pass_m_of_k", "m": 2, "k": 3},
    {**HAT, "name": "looks", "type": "threshold", "min": 0.7, "sequential": True},
    {**HAT, "name": "each", "type": "each_task", "min": 0.05},
    {**HAT, "name": "drop", "type": "drop", "max_drop": 0.1},
    {**HAT, "name": "named", "type": "drop", "max_drop": 0.1, "baseline": "web-1", "scope": "unseen"},
    {**HAT, "name": "line", "type": "drop", "max_drop": 0.1, "baseline": {"last": 3}},
    {"name": "dearer", "type": "cost_increase", "metric": "cost_usd", "max_increase": 0.1, "run": "all"},
    {"name": "fell", "type": "regressed_tasks", "max": 0, "run": "all"},
    {"name": "whole", "type": "coverage", "metric": "excluded_attempts", "max": 0.01, "run": "all"},
]  # fmt: skip
VARS: Final = {
    "passk_ks": [1, 2, 3],
    "passk_deployment_k": 2,
    "passk_ordered_metrics": False,
    "passk_slices": ["domain"],
    "passk_m_of_k": [{"m": 2, "k": 3}],
    "passk_gates": GATES,
}
JUDGED: Final = (
    *("gate", "suite", "run_id", "baseline_run_id", "slice_name", "slice_value", "metric", "k"),
    *("tasks", "estimate", "estimate_lower", "estimate_upper", "result", "to_settle"),
)


def some_log() -> Rows:
    """Nights of a suite with three flaky tasks, and two suites that are tried once."""
    dice = random.Random(5)
    rows: Rows = []

    def tries(run: str, suite: str, task: str, rate: float, at: datetime, tag: str) -> None:
        for attempt in range(1, 13 if task.startswith("flaky") else 7):
            outcome = "passed" if dice.random() < rate else "failed"
            if dice.random() < 0.03:
                outcome = "excluded"
            rows.append(
                {
                    "run_id": run, "suite": suite, "agent": "a", "task_id": task, "attempt": attempt,
                    "outcome": outcome, "started_at": at, "tags": {"domain": tag},
                }
            )  # fmt: skip

    for night in range(1, 8):
        at = datetime(2026, 1, night, 23, 59)
        for task in range(30):
            tries(f"web-{night}", "web", f"t{task:02}", 0.9, at, "shop" if task < 12 else "mail")
        for task in range(4):
            fails = night == 5 and task < 3
            tries(f"web-{night}", "web", f"flaky-{task}", 0 if fails else 0.95, at, "shop")
    for task in range(12):
        tries("desk-1", "desk", f"t{task:02}", 0.9, datetime(2026, 1, 1), "mail")
    tries("tiny-1", "tiny", "only", 0.9, datetime(2026, 1, 1), "mail")
    return rows


def is_left_out(row: dict[str, Any]) -> bool:
    day: str = row["started_at"].strftime("%Y-%m-%d")
    return (
        (row["task_id"].startswith("flaky-") and row["suite"] == "web" and day <= "2026-01-05")
        or (row["task_id"] == "t07" and day <= "2026-01-03")
        or row["suite"] == "tiny"
    )


@pytest.fixture(scope="module")
def attempts() -> Rows:
    return some_log()


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Rows) -> Project:
    made = make_project()
    made.land(attempts)
    made.run({**VARS, "passk_quarantine": ENTRIES})
    tests = [
        *("passk_gates_agree_with_themselves", "int_passk__quarantine"),
        *("passk_comparisons", "passk_task_comparisons", "int_passk__gate_bounds"),
        *("int_passk__pairs", "int_passk__comparisons", "int_passk__rank_tests"),
    ]
    made.run({**VARS, "passk_quarantine": ENTRIES}, command="test", select=tests)
    return made


@pytest.fixture(scope="module")
def judged(built: Project) -> dict[tuple[str, str], dict[str, Any]]:
    rows = built.records("select * from passk_gates order by gate, run_id, slice_value")
    return {(row["gate"], row["run_id"]): row for row in rows}


def test_the_rest_is_judged_as_if_it_were_all(attempts: Rows) -> None:
    rest = [row for row in attempts if not is_left_out(row)]
    alone = pk.judge_gates(pl.DataFrame(rest), GATES[:-1], k=2)
    judged = pk.judge_gates(pl.DataFrame(attempts), GATES[:-1], k=2, quarantine=ENTRIES)
    columns = [*JUDGED, "severity"]
    mine = judged.filter(pl.col("suite") != "tiny").select(columns)
    assert mine.height > 90
    assert mine.rows() == alone.select(columns).rows()


@pytest.mark.long
def test_sql_judges_the_rest_as_if_it_were_all(
    built: Project, make_project: Callable[[], Project], attempts: Rows
) -> None:
    # The log itself without them, and without the var, is what the figures must be.
    without = make_project()
    without.land(row for row in attempts if not is_left_out(row))
    without.run(VARS, select=["+passk_gates"])
    sql = (
        f"select {', '.join(JUDGED)} from passk_gates where suite <> 'tiny' and gate <> 'whole' "
        "order by all"
    )
    mine, theirs = built.records(sql), without.records(sql)
    assert len(mine) == len(theirs) > 90
    figures = ("estimate", "estimate_lower", "estimate_upper")
    for one, other in zip(mine, theirs, strict=True):
        assert {**one, **dict.fromkeys(figures)} == {**other, **dict.fromkeys(figures)}
        for name in figures:
            # Only the order of sums differs.
            assert one[name] == pytest.approx(other[name], abs=1e-12)
    assert {row["result"] for row in mine if row["gate"] == "unseen"} > {"inconclusive"}


@pytest.mark.long
def test_sql_and_polars_say_the_same(built: Project, attempts: Rows) -> None:
    columns = [*JUDGED, "quarantined_tasks", "reason"]
    order = ["gate", "run_id", "slice_value", "suite"]
    mine = (
        pk.judge_gates(pl.DataFrame(attempts), GATES, k=2, quarantine=ENTRIES)
        .select(columns)
        .sort(order)
    )
    theirs = pl.DataFrame(
        built.records(f"select {', '.join(columns)} from passk_gates"), schema=mine.schema
    ).sort(order)
    figures = ("estimate", "estimate_lower", "estimate_upper")
    # A mean such as 0.8375 is rounded up or down by its last digit.
    rounded = pl.col("reason").str.replace_all(r"\d\.\d+", "#")
    mine, theirs = mine.with_columns(rounded), theirs.with_columns(rounded)
    # Without the rows of passk_runs it is not known how many tasks coverage is about.
    mine = mine.with_columns(tasks=pl.when(pl.col("gate") != "whole").then("tasks"))
    theirs = theirs.with_columns(tasks=pl.when(pl.col("gate") != "whole").then("tasks"))
    assert mine.drop(figures).rows() == theirs.drop(figures).rows()
    assert mine["estimate"].to_list() == pytest.approx(theirs["estimate"].to_list(), abs=1e-12)
    for name in figures:
        assert mine[name].is_null().to_list() == theirs[name].is_null().to_list()
    # It compares the limits, to the digits of SQL's quantiles.
    assert pk.validate_tables(built.database).examples == []


@pytest.mark.long
def test_a_gate_names_what_it_leaves_out(judged: dict[tuple[str, str], dict[str, Any]]) -> None:
    early, late, last = (judged["unseen", f"web-{night}"] for night in (3, 5, 6))
    stale = (
        " passk_quarantine names ghost-*, but the log has no such task."
        " passk_quarantine names t01 of the suite wbe, but the log has no such task."
    )
    assert early["quarantined_tasks"] == 5
    assert early["reason"].endswith(
        "5 of 34 tasks (15 %) are in quarantine: flaky-0, flaky-1, flaky-2, flaky-3, t07." + stale
    )
    # At one minute to midnight the last day is not over.
    assert late["quarantined_tasks"] == 4
    assert late["reason"].endswith(
        "4 of 34 tasks (12 %) are in quarantine: flaky-0, flaky-1, flaky-2, flaky-3."
        " The quarantine of t07 ran out on 2026-01-03." + stale
    )
    assert last["quarantined_tasks"] == 0
    assert last["reason"].endswith(
        ". The quarantine of flaky-* ran out on 2026-01-05."
        " The quarantine of t07 ran out on 2026-01-03." + stale
    )
    desk = judged["unseen", "desk-1"]
    assert "1 of 12 tasks (8 %) is in quarantine: t07." in desk["reason"]


@pytest.mark.long
def test_a_fall_in_quarantine_fails_no_gate(
    judged: dict[tuple[str, str], dict[str, Any]], attempts: Rows
) -> None:
    (row,) = pk.judge_gates(pl.DataFrame(attempts), [{**GATES[-2], "run": "web-5"}], k=2).to_dicts()
    assert row["result"] == "fail"
    assert judged["fell", "web-5"]["result"] != "fail"
    assert judged["fell", "web-5"]["tasks"] == 30


@pytest.mark.long
def test_nothing_passes_where_all_tasks_are_in_quarantine(
    judged: dict[tuple[str, str], dict[str, Any]],
) -> None:
    of_tiny = [row for (_, run), row in judged.items() if run == "tiny-1"]
    assert {row["gate"] for row in of_tiny} == {gate["name"] for gate in GATES}
    for row in of_tiny:
        if row["gate"] in ("whole", "dearer"):
            assert row["quarantined_tasks"] is None
            continue
        assert row["result"] == "inconclusive"
        assert row["reason"].startswith("Every task of tiny-1 is in quarantine.")
        assert row["to_settle"] == "A task that is not in quarantine."
        assert row["quarantined_tasks"] == 1


@pytest.mark.long
def test_rules_on_the_log_leave_out_nothing(
    judged: dict[tuple[str, str], dict[str, Any]],
) -> None:
    row = judged["whole", "web-3"]
    assert row["tasks"] == 34
    assert "quarantine" not in row["reason"]


@pytest.mark.long
def test_tables_still_have_every_task(built: Project) -> None:
    (row,) = built.records(
        "select total_tasks from passk_suite_metrics "
        "where run_id = 'web-3' and k = 2 and slice_name = 'all'"
    )
    assert row["total_tasks"] == 34
    (pair,) = built.records(
        "select common_tasks from passk_comparisons "
        "where candidate_run_id = 'web-3' and metric = 'pass_hat_k' and k = 2 and pair_source = 'previous'"
    )
    assert pair["common_tasks"] == 34
    (moves,) = built.records(
        "select count(*) as tasks from passk_task_comparisons "
        "where candidate_run_id = 'web-3' and baseline_run_id = 'web-2'"
    )
    assert moves["tasks"] == 34
    slices = built.records(
        "select slice_value, total_tasks from passk_suite_metrics "
        "where run_id = 'web-3' and k = 2 and slice_name = 'quarantine' order by all"
    )
    assert [tuple(row.values()) for row in slices] == [
        ("in quarantine", 5),
        ("not in quarantine", 29),
    ]


def test_without_a_time_nothing_is_left_out(attempts: Rows) -> None:
    undated = pl.DataFrame(attempts).drop("started_at")
    rule = [{**GATES[0], "run": "web-3"}]
    (row,) = pk.judge_gates(undated, rule, k=2, quarantine=ENTRIES[:1]).to_dicts()
    (plain,) = pk.judge_gates(undated, rule, k=2).to_dicts()
    assert row.pop("quarantined_tasks") == 0
    assert plain.pop("quarantined_tasks") is None
    said = " The log does not say when flaky-* was tried, so it is not left out."
    assert row == {**plain, "reason": plain["reason"] + said}


def test_the_time_counts_in_utc() -> None:
    there = pl.Datetime("us", "Asia/Tokyo")
    log = pl.DataFrame(
        {
            "run_id": "r",
            "task_id": ["a", "a", "b", "b"],
            "attempt": [1, 2, 1, 2],
            "passed": [False, True, True, True],
            # Eight in the morning of the second is still the first in Greenwich.
            "started_at": [datetime(2026, 1, 2, 8), datetime(2026, 1, 2, 10)] * 2,
        }
    ).with_columns(pl.col("started_at").dt.replace_time_zone("Asia/Tokyo").cast(there))
    entry = {"task": "a", "until": "2026-01-01", "reason": "it is rebuilt"}
    rule = {"name": "g", "type": "each_task", "metric": "pass_hat_k", "k": 1, "min": 0.5}
    (row,) = pk.judge_gates(log, [rule], quarantine=[entry]).to_dicts()
    assert "worst is b (2 of 2 passed)" in row["reason"]
    assert "1 of 2 tasks (50 %) is in quarantine: a. The quarantine of a ran out" in row["reason"]


def test_more_tasks_than_are_named() -> None:
    log = pl.DataFrame(
        [
            {
                "run_id": "r", "task_id": f"t{task:02}", "attempt": 1, "passed": True,
                "started_at": datetime(2026, 1, 1) + timedelta(minutes=task),
            }
            for task in range(40)
        ]
    )  # fmt: skip
    entry = {"task": "t0*", "until": "2026-01-01", "reason": "they are rebuilt"}
    rule = {"name": "g", "type": "threshold", "metric": "pass_hat_k", "k": 1, "min": 0.5}
    (row,) = pk.judge_gates(log, [rule], quarantine=[entry]).to_dicts()
    assert row["reason"].endswith(
        "10 of 40 tasks (25 %) are in quarantine: t00, t01, t02, t03, t04 and 5 more."
    )
    assert row["tasks"] == 30


WRONG: Final[list[Any]] = [
    "all",
    {"task": "a"},
    {"task": "b", "until": "2026-02-30", "reason": "", "suite": 3, "owner": "me"},
    {"task": "c", "until": "2028-02-29", "reason": "x"},
    {"task": "c", "until": "2026-12-31", "reason": "y"},
    {"task": "c", "until": "2026-12-31", "reason": "y", "suite": "other"},
    {"task": "d", "until": 20261231, "reason": "y"},
    {"until": "2026-12-31", "reason": "y"},
]
MISTAKES: Final = [
    '"a": until is null, but must be a day as 2026-12-31.',
    '"a": reason is null, but must be a text.',
    '"b": owner has no meaning in an entry, which takes task, suite, until, reason.',
    '"b": suite is 3, but must be a text.',
    '"b": until is "2026-02-30", but must be a day as 2026-12-31.',
    '"b": reason is "", but must be a text.',
    '"c": The list has it twice.',
    '"d": until is 20261231, but must be a day as 2026-12-31.',
]


def test_mistakes_are_named_at_once(project: Project) -> None:
    with pytest.raises(PasskError) as caught:
        pk.judge_gates(pl.DataFrame(some_log()[:1]), [], quarantine=WRONG)
    said = str(caught.value)
    assert said.startswith("The quarantine has 10 mistakes.")
    for mistake in MISTAKES:
        assert f"\n  - {mistake}" in said
    with pytest.raises(BuildError) as stopped:
        project.run(
            {"passk_quarantine": WRONG, "passk_slices": ["quarantine"]}, select=["passk_gates"]
        )
    lines = stopped.value.message.splitlines()
    found = [line.removeprefix("  - ") for line in lines if line.startswith("  - ")]
    assert len(found) == 11
    assert found[-1] == (
        'passk_slices names "quarantine", which is the slice that passk_quarantine makes.'
    )
    assert [one.removeprefix("passk_quarantine, ") for one in found if ", " in one[:18]] == MISTAKES
    holds = 'holds "all", but must hold mappings, each with a task that is a text.'
    assert (found[0], f"The list {holds}" in said) == (f"passk_quarantine {holds}", True)


def test_a_day_without_quotes_is_told_so(project: Project) -> None:
    entry = {"task": "a", "until": date(2026, 12, 31), "reason": "x"}
    mistake = '"a": until is 2026-12-31, but must be a day as 2026-12-31; write it in quotes.'
    with pytest.raises(PasskError) as caught:
        pk.judge_gates(pl.DataFrame(some_log()[:1]), [], quarantine=[entry])
    assert mistake in str(caught.value)
    with pytest.raises(BuildError) as stopped:
        project.run({"passk_quarantine": [entry]}, select=["passk_gates"])
    assert f"passk_quarantine, {mistake}" in stopped.value.message
