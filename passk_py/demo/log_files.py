"""Writes the demo log: as a log file for ``passk load``, and as a seed for dbt."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

from passk_py.common.contract import CONTRACT_COLUMNS
from passk_py.common.files import drafted
from passk_py.demo.evaluation import generate

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from passk_py.demo.evaluation import AttemptRow

__all__ = ["write_csv", "write_log"]


def write_log(path: str | os.PathLike[str], *, seed: int = 2026) -> int:
    """Write the log as JSON lines in the order of execution; give how many attempts it has."""
    return _write(path, (f"{json.dumps(row)}\n" for row in generate(seed=seed)))


def write_csv(path: str | os.PathLike[str], *, seed: int = 2026) -> int:
    """Write the log as a CSV file that dbt can seed.

    The columns are those of the attempt contract. Null is an empty field, tags are JSON, and
    times have a space instead of ``T`` and no ``Z``, as every database reads them.
    """
    names = [column.name for column in CONTRACT_COLUMNS]
    header = ",".join(names) + "\n"
    rows = (_csv_line([_field(name, row) for name in names]) for row in generate(seed=seed))
    return _write(path, rows, header=header)


def _field(name: str, row: AttemptRow) -> object:
    if name == "tags":
        return json.dumps(row["tags"])
    if name == "started_at":
        return row["started_at"].replace("T", " ").removesuffix("Z")
    return dict(row)[name]


def _csv_line(fields: list[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(fields)
    return line.getvalue()


def _write(path: str | os.PathLike[str], lines: Iterable[str], *, header: str = "") -> int:
    """Write lines to a file beside the path, then put it in its place."""
    written = 0
    with drafted(Path(path)) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        file.write(header)
        for line in lines:
            file.write(line)
            written += 1
    return written
