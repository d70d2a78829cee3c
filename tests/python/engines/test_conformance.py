"""What a contributor of an engine runs: `integration_tests`, whose tables are held against golden rows."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING, Final

import pytest

from ..integration_project import copy_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ..postgres_server import Postgres

TABLES: Final = 13


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project, whose package is this checkout."""
    return copy_project(tmp_path)


def call(dbt: str, project: Path, target: str, environment: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [dbt, "--no-use-colors", *words, "--profiles-dir", ".", "--target", target],
        cwd=project, env=os.environ | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return f"{done.returncode}\n{done.stdout}{done.stderr}"


def test_postgres_has_the_golden_rows(
    postgres_dbt: str, new_database: Callable[[], Postgres], project: Path
) -> None:
    database = new_database()
    environment = database.environment("analytics")
    for command in (["deps"], ["build"]):
        said = call(postgres_dbt, project, "postgres", environment, *command)
        # What differs is said by the comparison, not by dbt's tests.
        assert said.startswith("0\n"), said[-4000:] + call(
            postgres_dbt, project, "postgres", environment, "run-operation", "conformance"
        )
    assert "WARN=0 ERROR=0" in said
    said = call(postgres_dbt, project, "postgres", environment, "run-operation", "conformance")
    assert said.startswith("0\n"), said[-8000:]
    assert (
        len(re.findall(r"^PASS passk_\w+: \d+ golden rows, 0 apart$", said, re.MULTILINE)) == TABLES
    )

    # And it does see what is wrong: a number, a row too many, and a null.
    database.ask(
        "update analytics_golden.golden_passk_tasks set pass_rate = '0.123' where run_id = 'v1' and task_id = 'refund'",
        "update analytics_golden.golden_passk_runs set agent = null where run_id = 'finder 1' and suite = 'search'",
        "delete from analytics_golden.golden_passk_plans where run_id = 'v2' and attempts = '8'",
    )
    said = call(postgres_dbt, project, "postgres", environment, "run-operation", "conformance")
    assert said.startswith("1\n")
    assert re.search(
        r"FAIL passk_tasks: \d+ golden rows, 1 apart\n +billing / v1 / refund: pass_rate is 1, not 0.123; ",
        said,
    )
    assert re.search(
        r"FAIL passk_runs: \d+ golden rows, 1 apart\n +search / finder 1: agent is finder, not null; ",
        said,
    )
    assert "should not be there" in said
    assert said.count("PASS passk_") == TABLES - 3
