"""A database that version 0.1.0 wrote keeps its attempts, and counts as one of today does."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from passk_py.warehouse.catalog import KNOWN_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Said

    Passk = Callable[..., Said]

LANDED = Path(__file__).parent / "landed_by_0_1_0"

COUNTS = {
    ("old", "steady"): (4, 4),
    ("old", "never"): (4, 0),
    ("old", "shaky"): (4, 1),
    ("new", "steady"): (4, 3),
    ("new", "never"): (4, 2),
    # One is excluded.
    ("new", "shaky"): (3, 2),
}
"""Attempts that count and passes, counted by hand in the logs."""


@pytest.fixture
def migrated(tmp_path: Path) -> Path:
    """The database of version 0.1.0, beside its logs."""
    for log in LANDED.glob("*.jsonl"):
        shutil.copy(log, tmp_path)
    statements = (LANDED / "landing.sql").read_text(encoding="utf-8")
    with duckdb.connect(str(tmp_path / "passk.duckdb")) as connection:
        connection.execute(statements.replace("{folder}", str(tmp_path)))
    return tmp_path / "passk.duckdb"


def counts(database: Path) -> dict[tuple[str, str], tuple[int, int]]:
    """Give the attempts that count and the passes of each task."""
    with duckdb.connect(str(database), read_only=True) as connection:
        rows = connection.execute("select run_id, task_id, n, c from passk_tasks")
        return {(run, task): (n, c) for run, task, n, c in rows.fetchall()}


def differing(first: Path, second: Path) -> list[str]:
    """Name the public tables whose rows differ, but for the time of landing."""
    with duckdb.connect() as connection:
        for name, path in (("first", first), ("second", second)):
            connection.execute(f"attach '{path}' as {name} (read_only)")
        kept = {}
        for table in KNOWN_TABLES:
            with suppress(duckdb.CatalogException):
                described = connection.execute(f"describe second.main.{table.name}").fetchall()
                # A sum has another last digit if its parts come in another order.
                kept[table.name] = [
                    f"round({name}, 9) as {name}" if kind == "DOUBLE" else name
                    for name, kind, *_ in described
                    if name != "loaded_at"
                ]
        assert {"passk_attempts", "passk_tasks", "passk_suite_metrics", "passk_runs"} <= set(kept)
        return [
            table
            for table, columns in kept.items()
            for one, other in (("first", "second"), ("second", "first"))
            if connection.execute(
                f"select {', '.join(columns)} from {one}.main.{table} "
                f"except all select {', '.join(columns)} from {other}.main.{table}"
            ).fetchall()
        ]


@pytest.mark.long
def test_build_of_it_is_that_of_a_fresh_load(
    passk: Passk, migrated: Path, tmp_path: Path, models_only: tuple[str, str]
) -> None:
    assert passk("build", *models_only).code == 0
    assert counts(migrated) == COUNTS
    fresh = ("--database", tmp_path / "fresh" / "passk.duckdb")
    (tmp_path / "fresh").mkdir()
    assert passk("load", "old.jsonl", "gone.jsonl", *fresh).code == 0
    assert passk("load", "new.jsonl", "--expected-attempts", 5, *fresh).code == 0
    assert passk("unload", "--run", "gone", *fresh).code == 0
    assert passk("build", *models_only, *fresh).code == 0
    assert differing(migrated, fresh[1]) == []
    # The comparison can fail.
    with duckdb.connect(str(fresh[1])) as connection:
        connection.execute("create table kept as from passk_tasks where run_id <> 'old'")
        connection.execute("drop view passk_tasks")
        connection.execute("alter table kept rename to passk_tasks")
    assert differing(migrated, fresh[1]) == ["passk_tasks"]


@pytest.mark.long
def test_commands_work_on_it(passk: Passk, migrated: Path, models_only: tuple[str, str]) -> None:
    def load(*words: object) -> dict[str, str]:
        files = passk("load", *words, "--json").json["files"]
        return {Path(file["path"]).name: file["status"] for file in files}

    # Known by the bytes and options that version 0.1.0 noted.
    assert load("old.jsonl") == {"old.jsonl": "unchanged"}
    assert load("new.jsonl", "--expected-attempts", 5) == {"new.jsonl": "unchanged"}
    assert load("gone.jsonl") == {"gone.jsonl": "landed"}
    assert passk("build", *models_only).code == 0
    assert counts(migrated) == {**COUNTS, ("gone", "steady"): (2, 0)}
    runs = passk("show", "passk_runs", "--json").json["rows"]
    assert sorted(run["run_id"] for run in runs) == ["gone", "new", "old"]
    # The means over tasks of c / n.
    for run, value in (("old", 5 / 12), ("new", (3 / 4 + 2 / 4 + 2 / 3) / 3)):
        rule = ("--run", run, "--metric", "pass_at_k", "--k", 1, "--min", 0.01)
        (gate,) = passk("gate", *rule, "--json").json["gates"]
        assert gate["estimate"] == pytest.approx(value, abs=1e-12)
    assert passk("validate").code == 0
    # A log that grew replaces its rows.
    with Path("old.jsonl").open("a", encoding="utf-8") as log:
        more = '"suite": "letters", "task_id": "never", "attempt": 5, "outcome": "passed"}'
        log.write(f'{{"run_id": "old", {more}\n')
    assert load("old.jsonl") == {"old.jsonl": "replaced"}
    assert passk("unload", "--run", "new").code == 0
    assert passk("build", "--select", "+passk_tasks", "--no-tests").code == 0
    left = {key: value for key, value in COUNTS.items() if key[0] == "old"}
    assert counts(migrated) == {
        **left,
        ("old", "never"): (5, 1),
        ("gone", "steady"): (2, 0),
    }
