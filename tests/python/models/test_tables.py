"""Tables that are built by increments read what is new, and stay as they are where nothing is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.landing import forget, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Project

TABLES = (
    "int_passk__comparisons",
    "int_passk__copy_checks",
    "int_passk__duplicate_attempts",
    "int_passk__expected_attempts",
    "int_passk__order_checks",
    "int_passk__pair_states",
    "int_passk__permutation_variances",
    "int_passk__read_attempts",
    "int_passk__runs",
    "int_passk__state_limits",
    "int_passk__state_uncertainty",
    "int_passk__states",
    "int_passk__streaks",
    "int_passk__suite_metrics",
    "int_passk__task_scans",
    "int_passk__unmasked_tasks",
)
STATES = {name for name in TABLES if name.startswith("int_passk__state")}
"""Values of formulas over the distinct (n, c), which a full refresh leaves."""


def changed(done: Any) -> set[str]:
    """Give the tables that a build touched; of the others dbt says UNCHANGED."""
    models = [result for result in done if result.node.resource_type == "model"]
    tables = [result for result in models if result.node.config.materialized == "passk_incremental"]
    assert {result.node.name for result in tables} == set(TABLES)
    return {result.node.name for result in tables if result.message != "UNCHANGED"}


def arrive(project: Project, task: str, attempt: int, outcome: str, day: int) -> None:
    project.execute(
        "insert into landing.attempts by name select 'run' as run_id, 'suite' as suite,"
        f" '{task}' as task_id, {attempt} as attempt, '{outcome}' as outcome,"
        f" timestamp '2027-01-{day:02}' as loaded_at"
    )


def everything(project: Project) -> dict[str, list[Any]]:
    """Give all that people query, and what it comes from, in an order of its own."""
    tables = [project.relation(name) for name in TABLES if name not in STATES]
    tables += [f"passk_{name}" for name in ("tasks", "runs", "task_metrics", "suite_metrics")]
    return {table: sorted(map(repr, project.query(f"select * from {table}"))) for table in tables}


@pytest.fixture
def built(project: Project, attempts: Callable[..., list[Any]]) -> Project:
    project.land(attempts("run", "task", "PFP"))
    assert changed(project.run()) == set(TABLES)
    return project


def test_a_build_with_nothing_new_leaves_all_tables(built: Project) -> None:
    assert changed(built.run()) == set()


def test_new_attempts_leave_the_tables_that_they_do_not_concern(built: Project) -> None:
    arrive(built, "task", 4, "passed", day=1)
    touched = {
        "int_passk__copy_checks",
        "int_passk__order_checks",
        "int_passk__runs",
        "int_passk__suite_metrics",
        "int_passk__task_scans",
    }
    # (4, 3) is a new state.
    assert changed(built.run()) == touched | STATES
    for attempt, outcome in enumerate(("passed", "failed", "passed"), start=1):
        arrive(built, "other", attempt, outcome, day=2)
    # (3, 2) is known, but with n = 4 and c = 3 about, (3, 3) and (4, 2) are made ahead.
    assert changed(built.run()) == touched | STATES
    for attempt, outcome in enumerate(("failed", "passed", "failed", "passed"), start=1):
        arrive(built, "third", attempt, outcome, day=3)
    assert changed(built.run()) == touched
    assert built.query("select task_id, n, c from passk_tasks order by 1") == [
        ("other", 3, 2),
        ("task", 4, 3),
        ("third", 4, 2),
    ]


def test_new_attempts_are_added_without_a_look_at_the_old_ones(built: Project) -> None:
    # Nothing tells of this change, so only a look at the old rows would show it.
    built.execute("update landing.attempts set outcome = 'failed'")
    arrive(built, "task", 4, "passed", day=1)
    built.run()
    assert built.query("select n, c, first_fail_rank from passk_tasks") == [(4, 3, 2)]


def test_a_task_that_lost_attempts_is_read_again(built: Project) -> None:
    built.execute(
        "delete from landing.attempts where attempt = 1",
        "insert into landing.removed_tasks by name select 'run' as run_id, 'suite' as suite,"
        " 'task' as task_id, timestamp '2027-01-01' as removed_at",
    )
    arrive(built, "task", 4, "passed", day=1)
    built.run()
    assert built.query("select n, c, first_fail_rank from passk_tasks") == [(3, 2, 1)]


def test_a_late_copy_takes_its_task_to_the_slow_road_and_back(built: Project) -> None:
    slow = {"int_passk__unmasked_tasks", "int_passk__streaks", "int_passk__duplicate_attempts"}
    arrive(built, "task", 2, "passed", day=1)
    assert slow <= changed(built.run())
    # Attempt 2 is told twice, with two verdicts: none is kept.
    assert built.query("select n, c from passk_tasks") == [(2, 2)]
    assert built.query("select count(*) from passk_rejected_attempts") == [(2,)]
    built.execute(
        "delete from landing.attempts where loaded_at = timestamp '2027-01-01'",
        "insert into landing.removed_tasks by name select 'run' as run_id, 'suite' as suite,"
        " 'task' as task_id, timestamp '2027-01-02' as removed_at",
    )
    assert slow <= changed(built.run())
    assert built.query("select n, c from passk_tasks") == [(3, 2)]
    assert built.query("select count(*) from passk_rejected_attempts") == [(0,)]
    unmasked = built.relation("int_passk__unmasked_tasks")
    assert built.query(f"select count(*) from {unmasked}") == [(0,)]


def test_an_unchanged_task_of_the_slow_road_is_not_settled_again(built: Project) -> None:
    arrive(built, "large", 1000, "passed", day=1)
    built.run()
    built.execute("update landing.attempts set outcome = 'failed' where task_id = 'large'")
    arrive(built, "task", 4, "passed", day=2)
    assert not changed(built.run()) & {"int_passk__unmasked_tasks", "int_passk__streaks"}
    arrive(built, "larger", 1000, "passed", day=3)
    built.run()
    assert built.query("select task_id, c from passk_tasks order by 1") == [
        ("large", 1),
        ("larger", 1),
        ("task", 3),
    ]


def test_an_empty_table_of_another_version_is_made_anew(built: Project) -> None:
    unmasked = built.relation("int_passk__unmasked_tasks")
    # Only a view or two would notice, when a later build fills the table.
    built.execute("drop view passk_runs", f"alter table {unmasked} drop column log_rows")
    assert "int_passk__unmasked_tasks" in changed(built.run())
    assert built.query(f"select count(log_rows) from {unmasked}") == [(0,)]


def test_a_full_refresh_leaves_the_states_which_are_values_of_formulas(built: Project) -> None:
    refreshed = changed(built.run(full_refresh=True))
    assert "int_passk__task_scans" in refreshed
    assert not STATES & refreshed
    # Another grid has other values, full refresh or not; the limits of p know nothing of k.
    remade = changed(built.run({"passk_ks": [1, 7], "passk_deployment_k": 7}))
    assert STATES & remade == {"int_passk__states", "int_passk__state_uncertainty"}
    for table in sorted(STATES & remade):
        states = built.relation(table)
        assert built.query(f"select distinct k from {states} order by 1") == [(1,), (7,)]


def test_another_level_makes_the_limits_anew_and_no_estimate(built: Project) -> None:
    remade = changed(built.run({"passk_confidence": 0.9}))
    assert STATES & remade == {"int_passk__state_limits", "int_passk__state_uncertainty"}
    assert not {"int_passk__task_scans", "int_passk__suite_metrics"} & remade


def test_functions_of_the_database_are_made_when_they_are_asked_for(built: Project) -> None:
    found = "select count(*) from duckdb_functions() where function_name = 'pass_hat_k'"
    built.execute("drop function pass_hat_k")
    built.run({"passk_create_sql_functions": False})
    assert built.query(found) == [(0,)]
    built.run()
    assert built.query("select pass_hat_k(4, 4, 2) = 1") == [(True,)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({1: "P", 2: "P", 3: "P"}, {5: "F", 6: "F", 7: "F"}, id="other numbers"),
        pytest.param({1: "P", 2: "P"}, {1: "P", 2: "P", 3: "F"}, id="a log that grew"),
        pytest.param({1: "P", 2: "P"}, {1: "F", 2: "P"}, id="a verdict corrected"),
        pytest.param({1: "P", 2: "P"}, {1: "P"}, id="an attempt taken out"),
        pytest.param({1: "P", 200: "P"}, {1: "F", 300: "P"}, id="large numbers"),
        pytest.param({1: "P", 2: "F"}, {}, id="a task taken out"),
    ],
)
def test_a_file_that_is_loaded_again_gives_what_a_full_refresh_gives(
    project: Project, tmp_path: Path, first: dict[int, str], second: dict[int, str]
) -> None:
    def write(name: str, task: str, outcomes: dict[int, str]) -> None:
        rows = [
            {"run_id": "r", "task_id": task, "attempt": attempt, "passed": outcome == "P"}
            for attempt, outcome in outcomes.items()
        ] + [{"run_id": "r", "task_id": "stays", "attempt": 1, "passed": True}]
        (tmp_path / name).write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
        assert load(tmp_path / name, database=project.database).rows_rejected == 0

    write("log.jsonl", "t", first)
    project.run()
    write("log.jsonl", "t", second)
    project.run()
    refreshed = project.copy(tmp_path / "refreshed")
    refreshed.run(full_refresh=True)
    assert everything(project) == everything(refreshed)
    assert changed(project.run()) == set()


def test_a_table_that_a_build_left_out_catches_up(
    project: Project, tmp_path: Path, attempts: Callable[..., list[Any]]
) -> None:
    project.land([*attempts("run", "t", "PPP"), *attempts("run", "u", "FF")])
    project.run()
    arrive(project, "t", 130, "passed", day=1)
    arrive(project, "u", 3, "passed", day=1)
    # What somebody runs who names models, and not all that they need.
    project.run(select=["int_passk__task_scans", "int_passk__runs", "int_passk__suite_metrics"])
    project.run()
    refreshed = project.copy(tmp_path / "refreshed")
    refreshed.run(full_refresh=True)
    assert everything(project) == everything(refreshed)


def test_a_forgotten_run_goes(project: Project, tmp_path: Path) -> None:
    rows = [{"run_id": run, "task_id": "t", "attempt": 1, "passed": True} for run in "ab"]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    load(tmp_path / "log.jsonl", database=project.database)
    project.run()
    forget(project.database, run_id="b")
    project.run()
    assert project.query("select run_id from passk_runs") == [("a",)]
    assert project.query("select distinct run_id from passk_suite_metrics") == [("a",)]


def test_names_that_look_like_something_else_are_found_again(
    project: Project, tmp_path: Path
) -> None:
    names = ["007", "7", "1e3", "2026-01-01", "true", "null", "it's", "a */ b", " spaced ", "ä"]
    log = tmp_path / "log.jsonl"

    def write(attempts: int) -> None:
        rows = [
            {"run_id": run, "suite": run, "task_id": run, "attempt": attempt, "passed": False}
            for run in names
            for attempt in range(1, attempts + 1)
        ]
        log.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
        load(log, database=project.database)

    write(1)
    project.run()
    # All of them at once, and each alone.
    write(2)
    project.run()
    assert project.query("select distinct n from passk_runs") == [(2,)]
    for day, run in enumerate(names, 1):
        quoted = run.replace("'", "''")
        project.execute(
            f"insert into landing.attempts by name select '{quoted}' as run_id, '{quoted}' as suite,"
            f" '{quoted}' as task_id, 3 as attempt, 'passed' as outcome,"
            f" timestamp '2027-01-{day:02}' as loaded_at"
        )
        project.run()
    for table in ("passk_runs", "passk_suite_metrics where k = 1", "passk_tasks"):
        found = project.query(f"select run_id, n, c from {table}")
        assert sorted(found) == sorted((run, 3, 1) for run in names)
