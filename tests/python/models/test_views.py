"""Views stay as they are while nothing that they are made from changes, and are made anew when it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ..public import PUBLIC_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

VIEWS = (
    "stg_passk__attempts",
    "stg_passk__expected_attempts",
    "int_passk__attempts",
    "int_passk__gate_bounds",
    "int_passk__gate_runs",
    "int_passk__gate_tasks",
    "int_passk__missing_attempts",
    "int_passk__pairs",
    "int_passk__rejected_attempts",
    "int_passk__run_order",
    "int_passk__settings",
    "int_passk__task_counts",
    "int_passk__task_streaks",
    "int_passk__task_windows",
    "int_passk__unusable_runs",
    *PUBLIC_TABLES,
)


def remade(done: Any) -> set[str]:
    """Give the views that a build made anew; of the others dbt says UNCHANGED."""
    models = [result for result in done if result.node.resource_type == "model"]
    views = [result for result in models if result.node.config.materialized == "passk_view"]
    assert {result.node.name for result in views} == set(VIEWS)
    return {result.node.name for result in views if result.message != "UNCHANGED"}


@pytest.fixture
def built(project: Project, attempts: Callable[..., list[Any]]) -> Project:
    project.land(attempts("run", "task", "PFP"))
    assert remade(project.run()) == set(VIEWS)
    return project


def test_a_build_with_new_attempts_leaves_all_views(built: Project) -> None:
    built.execute(
        "insert into landing.attempts by name select 'other' as run_id, 'suite' as suite, 'task' as"
        " task_id, 1 as attempt, 'passed' as outcome, timestamp '2027-01-01' as loaded_at"
    )
    assert remade(built.run()) == set()
    assert built.query("select run_id, c from passk_runs order by 1") == [("other", 1), ("run", 2)]


def test_a_full_refresh_gives_views_that_read_the_new_tables(built: Project) -> None:
    built.execute("update landing.attempts set outcome = 'failed'")
    built.run(full_refresh=True)
    assert built.query("select c from passk_runs") == [(0,)]
    assert built.query("select distinct pass_at_k from passk_task_metrics where k = 1") == [(0.0,)]


def test_changed_vars_make_all_views_anew(built: Project) -> None:
    """The types of the tables that they read may follow the vars."""
    assert remade(built.run({"passk_ks": [1, 2], "passk_deployment_k": 2})) == set(VIEWS)
    assert built.query("select distinct k from passk_task_metrics order by 1") == [(1,), (2,)]


def test_a_var_that_only_views_read_makes_those_anew(built: Project) -> None:
    assert remade(built.run({"passk_deployment_k": 2})) == {"int_passk__settings", "passk_tasks"}
    assert built.query("select distinct k from passk_tasks") == [(2,)]


def test_a_view_that_somebody_replaced_or_dropped_is_restored(built: Project) -> None:
    built.execute(
        "create or replace view passk_runs as select 1 as mine", "drop view passk_suite_metrics"
    )
    assert remade(built.run()) == {"passk_runs", "passk_suite_metrics"}
    assert built.query("select run_id, n, c from passk_runs") == [("run", 3, 2)]
    assert built.query("select count(*) from passk_suite_metrics where k = 1") == [(1,)]


def test_a_table_in_a_views_place_gives_way(built: Project) -> None:
    built.execute("drop view passk_runs", "create table passk_runs as select 1 as mine")
    built.run()
    assert built.query("select run_id, n, c from passk_runs") == [("run", 3, 2)]


def test_where_nothing_landed_an_unchanged_view_still_says_so(built: Project) -> None:
    built.execute("drop table landing.attempts")
    with pytest.raises(Exception, match="Load a log with `passk load FILE`"):
        built.run()
