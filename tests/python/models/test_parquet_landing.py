"""Attempts that landed as Parquet give the tables that the same attempts give in a database, by increments too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.ingest.landing import forget, load

from .snapshots import differences, snapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Project

LANDING = ("attempts", "rejected", "files", "removed_tasks", "expected_attempts")
VARIABLES = {"passk_slices": ["level"]}


def write(path: Path, run: str, tasks: int, attempts: int, every: int) -> Path:
    """Write a log in which each attempt of a number that ``every`` divides fails."""
    rows: list[dict[str, Any]] = [
        {
            "run_id": run, "suite": "s", "task_id": f"t{task}", "attempt": number,
            "passed": (task + number) % every != 0, "tags": {"level": str(task % 2)}, "agent": "a",
            "output_hash": f"{task}-{number % 3}", "duration_s": 0.1 * number,
        }
        for task in range(tasks) for number in range(1, attempts + 1)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "broken\n")
    return path


def assert_same(parquet: Project, table: Project, *, full_refresh: bool) -> None:
    """Build by an increment from Parquet, and from tables of the same rows; compare all tables."""
    copied = [
        f"create or replace table landing.{name} as from parquet.landing.{name}" for name in LANDING
    ]
    table.execute(
        f"attach '{parquet.database}' as parquet (read_only)",
        "create schema if not exists landing",
        *copied,
    )
    parquet.run(VARIABLES)
    table.run(VARIABLES, full_refresh=full_refresh)
    assert differences(snapshot(parquet), snapshot(table)) == []


@pytest.mark.long
def test_parquet_gives_the_tables_that_a_database_gives(
    make_project: Callable[[], Project],
) -> None:
    parquet, table = make_project(), make_project()
    logs = parquet.folder / "logs"
    logs.mkdir()
    load(
        write(logs / "1.jsonl", "r1", 12, 5, 3),
        database=parquet.database,
        parquet=parquet.folder / "parquet",
    )
    assert_same(parquet, table, full_refresh=False)
    # A new run, late attempts, and copies of those that came before.
    write(logs / "2.jsonl", "r2", 12, 5, 4)
    write(logs / "late.jsonl", "r1", 3, 8, 3)
    load(logs, database=parquet.database)
    assert_same(parquet, table, full_refresh=True)
    write(logs / "2.jsonl", "r2", 9, 6, 5)
    load(logs, database=parquet.database)
    assert_same(parquet, table, full_refresh=True)
    forget(parquet.database, run_id="r1")
    assert_same(parquet, table, full_refresh=True)
    assert parquet.query("select run_id, n from passk_runs") == [("r2", 54)]
    kinds = "select table_type from information_schema.tables where table_schema = 'landing' and table_name = 'attempts'"
    assert (parquet.query(kinds), table.query(kinds)) == ([("VIEW",)], [("BASE TABLE",)])
