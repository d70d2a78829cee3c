"""Views read what a build has made, whatever somebody left in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ..public import PUBLIC_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project


@pytest.fixture
def built(project: Project, attempts: Callable[..., list[Any]]) -> Project:
    project.land(attempts("run", "task", "PFP"))
    project.run()
    return project


@pytest.mark.long
def test_public_tables_are_dbts_own_views(built: Project) -> None:
    models = {result.node.name: result.node.config.materialized for result in built.run()}
    # One is made whole in each build, and is small.
    assert {models[name] for name in PUBLIC_TABLES if name != "passk_m_of_k"} == {"view"}
    assert models["passk_m_of_k"] == "table"


@pytest.mark.long
def test_a_build_with_new_attempts_is_seen_by_all_views(built: Project) -> None:
    built.execute(
        "insert into landing.attempts by name select 'other' as run_id, 'suite' as suite, 'task' as"
        " task_id, 1 as attempt, 'passed' as outcome, timestamp '2027-01-01' as loaded_at"
    )
    built.run()
    assert built.query("select run_id, c from passk_runs order by 1") == [("other", 1), ("run", 2)]


@pytest.mark.long
def test_a_full_refresh_gives_views_that_read_the_new_tables(built: Project) -> None:
    built.execute("update landing.attempts set outcome = 'failed'")
    built.run(full_refresh=True)
    assert built.query("select c from passk_runs") == [(0,)]
    assert built.query("select distinct pass_at_k from passk_task_metrics where k = 1") == [(0.0,)]


@pytest.mark.long
def test_views_follow_the_vars(built: Project) -> None:
    """The types of the tables that they read may follow the vars."""
    built.run({"passk_ks": [1, 2], "passk_deployment_k": 2})
    assert built.query("select distinct k from passk_task_metrics order by 1") == [(1,), (2,)]
    assert built.query("select distinct k from passk_tasks") == [(2,)]


@pytest.mark.long
def test_a_view_that_somebody_replaced_or_dropped_is_restored(built: Project) -> None:
    built.execute(
        "create or replace view passk_runs as select 1 as mine", "drop view passk_suite_metrics"
    )
    built.run()
    assert built.query("select run_id, n, c from passk_runs") == [("run", 3, 2)]
    assert built.query("select count(*) from passk_suite_metrics where k = 1") == [(1,)]


@pytest.mark.long
def test_a_table_in_a_views_place_gives_way(built: Project) -> None:
    built.execute("drop view passk_runs", "create table passk_runs as select 1 as mine")
    built.run()
    assert built.query("select run_id, n, c from passk_runs") == [("run", 3, 2)]


@pytest.mark.long
def test_where_nothing_landed_a_build_still_says_so(built: Project) -> None:
    built.execute("drop table landing.attempts")
    with pytest.raises(Exception, match="Load a log with `passk load FILE`"):
        built.run()
