"""A second dbt project installs this one from beside it and builds, as a user's would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from ..integration_project import copy_project


@pytest.fixture(scope="module")
def consumer(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The project, built in a copy whose package entry points back at this checkout."""
    folder = tmp_path_factory.mktemp("consumer")
    project = copy_project(folder)
    output = ""
    for command in (["deps"], ["build", "--warn-error"]):
        done = subprocess.run(
            [str(Path(sys.executable).parent / "dbt"), *command, "--profiles-dir", "."],
            cwd=project,
            env=os.environ | {"PASSK_INTEGRATION_DATABASE": str(folder / "it.duckdb")},
            capture_output=True,
            text=True,
            check=False,
        )
        output += done.stdout + done.stderr
        assert done.returncode == 0, output
    return folder / "it.duckdb", output


def test_build_passes(consumer: tuple[Path, str]) -> None:
    assert "ERROR=0" in consumer[1]
    assert "WARN=0" in consumer[1]


def test_tables_stand_in_the_schemas_that_the_consumer_named(consumer: tuple[Path, str]) -> None:
    with duckdb.connect(str(consumer[0]), read_only=True) as connection:
        schemas = dict(
            connection.execute(
                "select table_name, table_schema from information_schema.tables"
            ).fetchall()
        )
    assert schemas["passk_suite_metrics"] == "analytics_reliability"
    assert schemas["eval_attempts"] == "analytics_evals"


def test_package_brings_no_seeds_of_its_own(consumer: tuple[Path, str]) -> None:
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


def test_excluded_by_policy_leaves_n(consumer: tuple[Path, str]) -> None:
    with duckdb.connect(str(consumer[0]), read_only=True) as connection:
        row = connection.execute(
            "select n, c, excluded from analytics_reliability.passk_tasks"
            " where run_id = 'v2' and task_id = 'invoice'"
        ).fetchone()
    assert row == (3, 2, 1)
