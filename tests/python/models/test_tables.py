"""Tables that are built by increments read what is new, and stay as they are where nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

TABLES = (
    "int_passk__duplicate_attempts",
    "int_passk__runs",
    "int_passk__states",
    "int_passk__streaks",
    "int_passk__suite_metrics",
    "int_passk__task_scans",
    "int_passk__unmasked_tasks",
)


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


@pytest.fixture
def built(project: Project, attempts: Callable[..., list[Any]]) -> Project:
    project.land(attempts("run", "task", "PFP"))
    assert changed(project.run()) == set(TABLES)
    return project


def test_a_build_with_nothing_new_leaves_all_tables(built: Project) -> None:
    assert changed(built.run()) == set()


def test_new_attempts_leave_the_tables_that_they_do_not_concern(built: Project) -> None:
    arrive(built, "task", 4, "passed", day=1)
    touched = {"int_passk__runs", "int_passk__suite_metrics", "int_passk__task_scans"}
    # (4, 3) is a new state.
    assert changed(built.run()) == {*touched, "int_passk__states"}
    arrive(built, "other", 1, "passed", day=2)
    arrive(built, "other", 2, "failed", day=2)
    arrive(built, "other", 3, "passed", day=2)
    assert changed(built.run()) == touched
    assert built.query("select task_id, n, c from passk_tasks order by 1") == [
        ("other", 3, 2),
        ("task", 4, 3),
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
    assert "int_passk__states" not in refreshed
    # Another grid has other values, full refresh or not.
    assert "int_passk__states" in changed(built.run({"passk_ks": [1, 7], "passk_deployment_k": 7}))
    states = built.relation("int_passk__states")
    assert built.query(f"select distinct k from {states} order by 1") == [(1,), (7,)]


def test_functions_of_the_database_are_made_when_they_are_asked_for(built: Project) -> None:
    found = "select count(*) from duckdb_functions() where function_name = 'pass_hat_k'"
    built.execute("drop function pass_hat_k")
    built.run({"passk_create_sql_functions": False})
    assert built.query(found) == [(0,)]
    built.run()
    assert built.query("select pass_hat_k(4, 4, 2) = 1") == [(True,)]
