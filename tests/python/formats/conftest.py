"""Fixtures of the tests of harness formats: a log loaded into a database of its own, as rows."""

from __future__ import annotations

import json
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
    """The rows that a load landed."""

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


@pytest.fixture
def report(tmp_path: Path) -> Callable[..., Path]:
    """Write a report of these test cases."""

    def written(cases: str, path: str = "log.xml", suite: str = 'name="s"') -> Path:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        text = f"<testsuites><testsuite {suite}>{cases}</testsuite></testsuites>"
        file.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n{text}', "utf-8")
        return file

    return written


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., Path]:
    """Write a job of trials, each a dict or the text of its file."""

    def written(*trials: dict[str, Any] | str, config: Any = None, lock: Any = None) -> Path:
        folder = tmp_path / "job"
        for number, one in enumerate(trials):
            inner = folder / f"copy__{number}"
            inner.mkdir(parents=True)
            data = one if isinstance(one, str) else json.dumps(one)
            (inner / "result.json").write_text(data, "utf-8")
        (folder / "config.json").write_text(json.dumps({"job_name": "job"} | (config or {})))
        if lock is not None:
            (folder / "lock.json").write_text(json.dumps(lock))
        return folder

    return written


@pytest.fixture
def eval_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load an eval of these rows."""

    def loaded(*rows: Any, head: dict[str, Any] | None = None, **options: Any) -> Any:
        path = tmp_path / "eval.json"
        document = {
            "evalId": "eval-1",
            "results": {"version": 3, "timestamp": "", "prompts": [], "results": rows},
            **(head or {}),
        }
        path.write_text(json.dumps(document), encoding="utf-8")
        return harness_log(path, **options)

    return loaded
