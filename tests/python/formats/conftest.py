"""Fixtures of the tests of harness formats: a log loaded into a database of its own, as rows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from passk_py.ingest.landing import LoadReport, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# They are run by the harnesses, not by us.
collect_ignore = ["fixtures"]


@dataclass
class Loaded:
    """What a load landed."""

    report: LoadReport
    attempts: list[dict[str, Any]]
    rejected: list[dict[str, Any]]
    expected: list[dict[str, Any]]

    def counts(self, *, excluded_fail: bool = False) -> dict[str, tuple[int, int]]:
        """Give n and c of each task, excluded attempts counted as failures or left out."""
        found: dict[str, list[str]] = defaultdict(list)
        for row in self.attempts:
            if excluded_fail or row["outcome"] != "excluded":
                found[row["task_id"]].append(row["outcome"])
        return {task: (len(all_), all_.count("passed")) for task, all_ in found.items()}

    def verdicts(self) -> dict[tuple[str, int], str]:
        return {(row["task_id"], row["attempt"]): row["outcome"] for row in self.attempts}

    def reasons(self) -> dict[tuple[str, int], str | None]:
        return {(row["task_id"], row["attempt"]): row["outcome_reason"] for row in self.attempts}


@pytest.fixture(scope="session")
def reader() -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB to attach databases to: to start one for each takes longer than to read it."""
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture
def harness_log(tmp_path: Path, reader: duckdb.DuckDBPyConnection) -> Callable[..., Loaded]:
    """Load logs into a new database and give what landed."""
    databases = iter(range(1000))

    def loaded(*paths: str | Path, **options: Any) -> Loaded:
        database = tmp_path / f"passk_{next(databases)}.duckdb"
        report = load(list(paths), database=database, **options)
        if not database.exists():
            return Loaded(report, [], [], [])

        def rows(table: str, order: str) -> list[dict[str, Any]]:
            found = reader.execute(f"from log.landing.{table} order by {order}")
            names = [column[0] for column in found.description]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

        reader.execute(f"attach '{database}' as log (read_only)")
        try:
            return Loaded(
                report,
                rows("attempts", "run_id, suite, task_id, attempt, source_file, source_line"),
                rows("rejected", "source_file, source_line"),
                rows("expected_attempts", "run_id, suite, task_id"),
            )
        finally:
            reader.execute("detach log")

    return loaded
