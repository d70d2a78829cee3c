"""The effects of the vars, and the build's messages on them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project


def suite(project: Project, k: int, *columns: str) -> tuple[Any, ...]:
    sql = f"select {', '.join(columns)} from passk_suite_metrics where k = ? and slice_name = 'all'"
    rows = project.query(sql, k)
    assert len(rows) == 1
    return rows[0]


@pytest.fixture
def ragged(project: Project, attempts: Callable[..., list[Any]]) -> Project:
    """Three tasks with n = 4, 3 and 2 counted attempts, one of 5 excluded."""
    project.land(
        attempts("run", "long", "PPFPX") + attempts("run", "middle", "FFP") +
        attempts("run", "short", "PP")
    )  # fmt: skip
    return project


def test_a_short_task_makes_the_suite_null(ragged: Project) -> None:
    ragged.run({"passk_ks": [1, 2, 3, 4], "passk_deployment_k": 2}, select=["+passk_suite_metrics"])
    columns = ("eligible_tasks", "total_tasks", "null_reason", "pass_at_k", "pass_hat_k", "reading")
    assert suite(ragged, 3, *columns) == (2, 3, "n < 3 in 1 of 3 tasks", None, None, None)
    assert suite(ragged, 4, *columns)[:4] == (1, 3, "n < 4 in 2 of 3 tasks", None)
    eligible, total, reason, at, hat, _ = suite(ragged, 2, *columns)
    assert (eligible, total, reason) == (3, 3, None)
    # 1 - C(1,2)/C(4,2) = 1, 1 - C(2,2)/C(3,2) = 2/3, 1; and C(3,2)/C(4,2) = 1/2, 0, 1.
    assert at == pytest.approx(8 / 9, rel=1e-15)
    assert hat == pytest.approx(1 / 2, rel=1e-15)


@pytest.mark.long
def test_a_share_of_0_takes_the_mean_of_those_that_are_long_enough(ragged: Project) -> None:
    ragged.run(
        {"passk_ks": [1, 2, 3, 4, 5], "passk_deployment_k": 2, "passk_min_eligible_share": 0}
    )
    columns = ("eligible_tasks", "total_tasks", "null_reason", "pass_at_k", "pass_hat_k")
    assert suite(ragged, 3, *columns) == (2, 3, None, 1.0, pytest.approx(1 / 8, rel=1e-15))
    assert suite(ragged, 4, *columns) == (1, 3, None, 1.0, 0.0)
    assert suite(ragged, 5, *columns) == (0, 3, "n < 5 in 3 of 3 tasks", None, None)


@pytest.mark.long
def test_deployment_k_is_the_k_of_the_tasks_table(ragged: Project) -> None:
    ragged.run({"passk_ks": [1, 2, 3], "passk_deployment_k": 3})
    rows = ragged.query(
        "select task_id, k, pass_hat_k, lost_reliability from passk_tasks order by 1"
    )
    assert rows == [
        ("long", 3, pytest.approx(0.25, rel=1e-15), pytest.approx(0.75, rel=1e-15)),
        ("middle", 3, 0.0, 1.0),
        ("short", 3, None, None),
    ]


@pytest.mark.long
def test_thresholds_of_tasks_and_suites(ragged: Project) -> None:
    variables = {
        "passk_ks": [1, 2],
        "passk_deployment_k": 2,
        "passk_consistent_rate": 0.75,
        "passk_incapable_rate": 0.34,
        "passk_capable_threshold": 0.88,
        "passk_consistent_threshold": 0.5,
    }
    ragged.run(variables)
    classes = dict(ragged.query("select task_id, task_class from passk_tasks"))
    assert classes == {"long": "consistent", "middle": "incapable", "short": "consistent"}
    assert suite(ragged, 2, "reading") == ("capable and consistent",)
    ragged.run({**variables, "passk_consistent_threshold": 0.51})
    assert suite(ragged, 2, "reading") == ("capable but flaky",)
    ragged.run({**variables, "passk_capable_threshold": 0.89})
    assert suite(ragged, 2, "reading") == ("not capable",)


@pytest.mark.long
def test_without_ordered_metrics_they_are_null_and_nothing_else_changes(ragged: Project) -> None:
    ordered = ("windows", "pass_at_k_window", "pass_hat_k_window", "pass_at_k_first_k",
               "pass_hat_k_first_k", "first_pass_rank", "first_fail_rank", "longest_pass_streak",
               "longest_fail_streak")  # fmt: skip
    variables = {"passk_ks": [1, 2], "passk_deployment_k": 2}
    keys = {
        "passk_suite_metrics": "k",
        "passk_task_metrics": "task_id, k",
        "passk_tasks": "task_id",
    }
    ragged.run(variables)
    first = {table: ragged.records(f"from {table} order by {key}") for table, key in keys.items()}
    ragged.run({**variables, "passk_ordered_metrics": False})
    for table, key in keys.items():
        second = ragged.records(f"from {table} order by {key}")
        assert len(second) == len(first[table]) > 0
        for row, before in zip(second, first[table], strict=True):
            assert {name: row[name] for name in row if name in ordered} == {
                name: None for name in row if name in ordered
            }
            for name in row.keys() - set(ordered):
                expected = before[name]
                if isinstance(expected, float):
                    expected = pytest.approx(expected, rel=1e-12, abs=1e-15)
                assert row[name] == expected, (table, name)


@pytest.mark.long
def test_the_policy_decides_what_failures_count(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    project.land([
        *attempts("run", "task", "FF", outcome_reason="timeout"),
        *attempts("run", "task", "P", first=3, outcome_reason="timeout"),
        *attempts("run", "task", "X", first=4, outcome_reason="o'clock"),
        *attempts("run", "task", "F", first=5, outcome_reason="crash"),
        *attempts("run", "task", "P", first=6),
    ])  # fmt: skip
    columns = "n, c, excluded"
    project.run()
    assert project.query(f"select {columns} from passk_tasks") == [(5, 2, 1)]
    project.run({"passk_outcome_policy": {"timeout": "excluded", "o'clock": "failed"}})
    assert project.query(f"select {columns} from passk_tasks") == [(4, 2, 2)]
    outcomes = project.query("select outcome from passk_attempts order by attempt")
    assert [o for (o,) in outcomes] == [
        "excluded", "excluded", "passed", "failed", "failed", "passed",
    ]  # fmt: skip


@pytest.mark.long
def test_slices_are_tags_or_expressions(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    project.land([
        *attempts("run", "a", "PP", tags={"it's": "hard", "other": "x"}, model="m1"),
        *attempts("run", "b", "PF", tags={"it's": "easy"}, model="m2"),
        *attempts("run", "c", "FF", model="m1"),
    ])  # fmt: skip
    project.run({
        "passk_ks": [1, 2], "passk_deployment_k": 2,
        "passk_slices": ["it's", {"name": "half", "expression": "case when attempt > 1 then 'late' end"}],
    })  # fmt: skip
    rows = project.query(
        "select slice_name, slice_value, k, total_tasks, n, c, pass_hat_k from passk_suite_metrics"
        " order by 1, 2, 3"
    )
    assert rows == [
        ("all", "all", 1, 3, 6, 3, 0.5),
        ("all", "all", 2, 3, 6, 3, pytest.approx(1 / 3)),
        ("half", "(untagged)", 1, 3, 3, 2, pytest.approx(2 / 3)),
        ("half", "(untagged)", 2, 3, 3, 2, None),
        ("half", "late", 1, 3, 3, 1, pytest.approx(1 / 3)),
        ("half", "late", 2, 3, 3, 1, None),
        ("it's", "(untagged)", 1, 1, 2, 0, 0.0),
        ("it's", "(untagged)", 2, 1, 2, 0, 0.0),
        ("it's", "easy", 1, 1, 2, 1, 0.5),
        ("it's", "easy", 2, 1, 2, 1, 0.0),
        ("it's", "hard", 1, 1, 2, 2, 1.0),
        ("it's", "hard", 2, 1, 2, 2, 1.0),
    ]


@pytest.mark.long
def test_another_landing_schema(project: Project, attempts: Callable[..., list[Any]]) -> None:
    project.land(attempts("run", "task", "PFP"))
    project.execute(
        "create schema elsewhere",
        *(
            f"create table elsewhere.{table} as from landing.{table}"
            for table in ("attempts", "rejected", "removed_tasks")
        ),
        "update elsewhere.attempts set run_id = 'elsewhere'",
    )
    project.run({"passk_landing_schema": "elsewhere"})
    assert project.query("select run_id from passk_runs") == [("elsewhere",)]


@pytest.mark.long
def test_changing_the_landing_schema_leaves_nothing_of_the_other(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    project.land(attempts("first", "task", "PFP"))
    project.execute(
        "create schema elsewhere",
        *(
            f"create table elsewhere.{table} as from landing.{table}"
            for table in ("attempts", "rejected", "removed_tasks")
        ),
        "update elsewhere.attempts set run_id = 'second'",
    )
    for schema, run in (("landing", "first"), ("elsewhere", "second"), ("landing", "first")):
        project.run({"passk_landing_schema": schema})
        assert project.query("select run_id from passk_runs") == [(run,)]
        assert project.query("select distinct run_id from passk_suite_metrics") == [(run,)]


@pytest.mark.long
def test_the_vars_of_a_build_are_in_the_database(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    from passk_py.warehouse.project import default_variables

    mine = {
        "passk_ks": [1, 2],
        "passk_deployment_k": 2,
        "passk_consistent_threshold": 0.9,
        "passk_slices": ["it's", {"name": "été", "expression": "coalesce(agent, 'none')"}],
        "passk_outcome_policy": {"it's late": "failed"},
    }
    project.land(attempts("run", "task", "PFP"))
    project.run(mine)
    rows = project.query("select var_name, var_value from main_passk_internal.int_passk__settings")
    assert {name: json.loads(value) for name, value in rows} == default_variables() | mine
