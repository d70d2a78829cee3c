"""Tests for a contributor of an engine: `integration_tests`, whose tables are held against golden rows; and what an engine is without them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest

import passk_py as pk

from ..integration_project import copy_project
from .engines import MODELS
from .logs import RANDOM_VARS, land_random
from .parity import agree, build, compare_tables, told

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..postgres_server import Postgres

ROOT: Final = Path(__file__).resolve().parents[3]
ADAPTERS: Final = ROOT / "macros" / "engine"
TABLES: Final = 29
FAR_NUMBERS: Final = """
    insert into landing.attempts by name
    select
        'far' as run_id, 'far numbers' as suite, concat('task-', task) as task_id, number as attempt,
        case when (7 * task + 3 * number + task * number) % 5 < 2 then 'failed' else 'passed' end as outcome,
        timestamp '2026-01-01' as loaded_at, 'far.jsonl' as source_file, 100 * task + number as source_line
    from range(15) as tasks(task)
    cross join range(30, 127) as numbers(number)
    where number % 7 <> 0 or task = 14
"""
"""Fourteen tasks whose attempts have the same numbers, with gaps, and one with others. Tasks 2, 7 and 12 pass always: 7t + 3n + tn
is 4 there, modulo 5, whatever n is."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project, whose package is this checkout."""
    return copy_project(tmp_path)


def call(
    dbt: str | list[str], project: Path, target: str, environment: dict[str, str], *words: str
) -> str:
    done = subprocess.run(
        [*([dbt] if isinstance(dbt, str) else dbt), "--no-use-colors", *words, "--profiles-dir", ".", "--target", target],
        cwd=project, env=os.environ | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return f"{done.returncode}\n{done.stdout}{done.stderr}"


@pytest.fixture
def fakesnow() -> str:
    """The emulator of Snowflake, in an environment that has dbt-snowflake too."""
    program = os.environ.get("PASSK_FAKESNOW")
    if not program or not Path(program).exists():
        pytest.skip("no emulator of Snowflake: PASSK_FAKESNOW names it; see scripts/test_engines")
    return program


def all_pass(said: str) -> bool:
    """Whether the conformance of every table was printed as one that has the golden rows."""
    found = re.findall(r"^PASS passk_\w+: \d+ golden rows, 0 apart$", said, re.MULTILINE)
    return said.startswith("0\n") and len(found) == TABLES


def test_postgres_has_the_golden_rows(
    postgres_dbt: str, new_database: Callable[[], Postgres], project: Path
) -> None:
    database = new_database()
    environment = database.environment("analytics")
    for command in (["deps"], ["build"]):
        said = call(postgres_dbt, project, "postgres", environment, *command)
        # The comparison names the differences, not dbt's tests.
        assert said.startswith("0\n"), said[-4000:] + call(
            postgres_dbt, project, "postgres", environment, "run-operation", "conformance"
        )
    assert "WARN=0 ERROR=0" in said
    said = call(postgres_dbt, project, "postgres", environment, "run-operation", "conformance")
    assert all_pass(said), said[-8000:]

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


@pytest.mark.long
def test_dbt_2_has_the_golden_rows(dbt_2: str, project: Path, tmp_path: Path) -> None:
    environment = {"PASSK_INTEGRATION_DATABASE": str(tmp_path / "passk.duckdb")}
    # The second build finds the tables of the first.
    for command in (["deps"], ["build"], ["build"]):
        said = call(dbt_2, project, "duckdb", environment, *command)
        assert said.startswith("0\n"), said[-6000:]
    said = call(dbt_2, project, "duckdb", environment, "run-operation", "conformance")
    assert all_pass(said), said[-8000:]


@pytest.mark.long
def test_an_engine_without_masks_makes_the_same_tables(duckdb_dbt: str, tmp_path: Path) -> None:
    """DuckDB in a project that gives it the macros which an engine has before anyone wrote some for it."""
    defaults = re.findall(
        r"macro default_(__?\w*(?:mask|_first_rank|_bits_of|_later_attempts|_long_)\w*)\((.*?)\)",
        "".join(path.read_text() for path in ADAPTERS.glob("*.sql")),
    )
    assert len(defaults) == 17
    database, other = tmp_path / "passk.duckdb", tmp_path / "other.duckdb"
    land_random(database)
    with duckdb.connect(str(database)) as connection:
        connection.execute(FAR_NUMBERS)
    shutil.copy(database, other)
    build(
        duckdb_dbt, MODELS, target="duckdb", folder=tmp_path, variables=RANDOM_VARS,
        environment={"PASSK_DATABASE": str(database)},
    )  # fmt: skip

    output = {"type": "duckdb", "path": str(other), "schema": "main", "threads": 2}
    order = [{"macro_namespace": "passk", "search_order": ["lab", "passk"]}]
    files: dict[str, Any] = {
        "dbt_project.yml": {
            "name": "lab", "version": "1.0.0", "config-version": 2, "profile": "lab", "dispatch": order,
            "vars": RANDOM_VARS, "flags": {"require_generic_test_arguments_property": True},
        },
        "packages.yml": {"packages": [{"local": str(ROOT)}]},
        "profiles.yml": {"lab": {"target": "duckdb", "outputs": {"duckdb": output}}},
    }  # fmt: skip
    project = tmp_path / "lab"
    (project / "macros").mkdir(parents=True)
    for name, content in files.items():
        (project / name).write_text(json.dumps(content))
    (project / "macros" / "without_masks.sql").write_text(
        "".join(
            f"{{% macro duckdb_{name}({words}) %}}{{{{ return(passk.default_{name}({words})) }}}}{{% endmacro %}}\n"
            for name, words in defaults
        )
    )
    for command in ("deps", "run"):
        said = call(duckdb_dbt, project, "duckdb", {}, command)
        assert said.startswith("0\n"), said[-4000:]

    def read(
        connection: duckdb.DuckDBPyConnection, table: str, _columns: Mapping[str, str]
    ) -> None:
        connection.execute(f"attach if not exists '{other}' as other (read_only)")
        connection.execute(f"create table there as from other.main.{table}")

    with duckdb.connect(str(other), read_only=True) as connection:
        masks = connection.execute(
            "select count(pass_mask), count(*) from main_passk_internal.int_passk__task_counts"
        ).fetchone()
        informed = connection.execute(
            "select max(tasks) from passk_diagnostics where diagnostic = 'shared_run_effect' and run_id = 'far'"
        ).fetchone()
    assert masks is not None
    assert masks[0] == 0 < masks[1]
    assert informed is not None
    assert informed[0] == 11
    assert agree(told("A random log", "DuckDB without masks", compare_tables(database, read)))


@pytest.mark.long
def test_a_log_with_every_edge_case_passes_the_tests_of_all_tables(tmp_path: Path) -> None:
    """On DuckDB; the other engines are held against its tables."""
    database = tmp_path / "passk.duckdb"
    land_random(database)
    report = pk.build(database, variables=RANDOM_VARS)
    assert [node.name for node in report.failed] == []
    with duckdb.connect(str(database), read_only=True) as connection:
        untested = connection.execute("select count(*) from passk_task_comparisons where p is null")
        assert untested.fetchall() != [(0,)]


def test_an_emulator_of_snowflake_has_the_golden_rows(
    fakesnow: str, project: Path, tmp_path: Path
) -> None:
    """It takes dbt-snowflake's statements, and runs them on DuckDB: functions that Snowflake lacks pass too.

    It has no temporary table in a database that is named, which dbt makes for an increment.
    """
    account = {"account": "fakesnow", "user": "fake", "password": "snow", "warehouse": "warehouse"}
    target = {"type": "snowflake", "database": "evals", "schema": "analytics", "threads": 1}
    (project / "profiles.yml").write_text(
        json.dumps({"passk_integration_tests": {"outputs": {"snowflake": account | target}}})
    )
    (tmp_path / "databases").mkdir()
    dbt = [fakesnow, "-d", str(tmp_path / "databases"), "-m", "dbt.cli.main"]
    again = ["build", "--full-refresh", "--exclude", "int_passk__looks"]
    for command in (["deps"], ["build"], again):
        said = call(dbt, project, "snowflake", {}, *command)
        assert said.startswith("0\n"), said[-6000:]
    assert "WARN=0 ERROR=0" in said
    said = call(dbt, project, "snowflake", {}, "run-operation", "conformance")
    assert all_pass(said), said[-8000:]
