"""Fixtures of the landing tests: a database, a way to load into it and to look at what landed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from passk_py.ingest.landing import FileReport, LoadReport, load

if TYPE_CHECKING:
    from pathlib import Path

ROW = {"run_id": "r", "suite": "s", "task_id": "t", "attempt": 1, "outcome": "passed"}
"""A row that lands."""


@dataclass
class Landing:
    """A database in a folder of its own."""

    folder: Path

    @property
    def database(self) -> Path:
        return self.folder / "passk.duckdb"

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def lines(self, *rows: dict[str, Any] | str, name: str = "log.jsonl") -> Path:
        texts = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        return self.write(name, "".join(text + "\n" for text in texts))

    def load(self, *paths: Any, **options: Any) -> LoadReport:
        return load(list(paths), database=self.database, **options)

    def load_one(self, path: Any, **options: Any) -> FileReport:
        (report,) = self.load(path, **options).files
        return report

    def query(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(self.database)) as connection:
            return connection.execute(sql, list(values)).fetchall()

    def attempts(self, columns: str = "run_id, suite, task_id, attempt, outcome") -> list[Any]:
        rows = self.query(
            f"select {columns} from landing.attempts order by source_file, source_line"
        )
        return [row[0] if len(row) == 1 else row for row in rows]

    def rejected(self, columns: str = "source_line, reason_code, reason") -> list[Any]:
        rows = self.query(
            f"select {columns} from landing.rejected order by source_file, source_line"
        )
        return [row[0] if len(row) == 1 else row for row in rows]


@pytest.fixture
def landing(tmp_path: Path) -> Landing:
    return Landing(tmp_path)


@pytest.fixture
def row() -> dict[str, Any]:
    return dict(ROW)
