"""A second dbt project installs this one from beside it and builds, as a user's would.

Long, because it runs every test of every table; ``test_own_project.py`` has a smaller project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from ..faster_dbt import close_database
from ..integration_project import copy_project

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def consumer(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """The project, built in a copy whose package entry points back at this checkout."""
    from dbt.cli.main import dbtRunner

    folder = tmp_path_factory.mktemp("consumer")
    results: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PASSK_INTEGRATION_DATABASE", str(folder / "it.duckdb"))
        patch.chdir(copy_project(folder))
        for command in (["deps"], ["build", "--warn-error"]):
            try:
                done: Any = dbtRunner().invoke(
                    [*command, "--profiles-dir", ".", "--log-level", "none"]
                )
            finally:
                close_database()
            assert done.exception is None, done.exception
            results += done.result or ()
    return folder / "it.duckdb", results


def test_build_passes(consumer: tuple[Path, list[Any]]) -> None:
    assert len(consumer[1]) > 100
    assert [
        (result.node.name, result.message)
        for result in consumer[1]
        if result.status not in ("success", "pass")
    ] == []


def test_tables_stand_in_the_schemas_that_the_consumer_named(
    consumer: tuple[Path, list[Any]],
) -> None:
    with duckdb.connect(str(consumer[0]), read_only=True) as connection:
        schemas = dict(
            connection.execute(
                "select table_name, table_schema from information_schema.tables"
            ).fetchall()
        )
    assert schemas["passk_suite_metrics"] == "analytics_reliability"
    assert schemas["eval_attempts"] == "analytics_evals"


def test_package_brings_no_seeds_of_its_own(consumer: tuple[Path, list[Any]]) -> None:
    with duckdb.connect(str(consumer[0]), read_only=True) as connection:
        names = {
            name
            for (name,) in connection.execute(
                # Where the project puts its own.
                "select table_name from information_schema.tables where table_schema <> 'analytics_golden'"
            ).fetchall()
        }
    assert "passk_runs" in names
    assert not {name for name in names if "golden" in name or "demo" in name}


def test_excluded_by_policy_leaves_n(consumer: tuple[Path, list[Any]]) -> None:
    with duckdb.connect(str(consumer[0]), read_only=True) as connection:
        row = connection.execute(
            "select n, c, excluded from analytics_reliability.passk_tasks"
            " where run_id = 'v2' and task_id = 'invoice'"
        ).fetchone()
    assert row == (3, 2, 1)
