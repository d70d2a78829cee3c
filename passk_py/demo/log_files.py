"""Writes the demo log: as a log file for ``passk load``, and as a seed for dbt."""

from __future__ import annotations

import csv
import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from passk_py.common.files import drafted
from passk_py.demo.evaluation import generate

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from typing import TextIO

    from passk_py.demo.evaluation import AttemptRow


def write_log(path: str | os.PathLike[str], *, seed: int = 2026) -> int:
    """Write the log as JSON lines in the order of execution; give how many attempts it has."""
    with _opened(path) as file:
        rows = list(generate(seed=seed))
        file.writelines(f"{json.dumps(row)}\n" for row in rows)
    return len(rows)


def write_csv(path: str | os.PathLike[str], *, seed: int = 2026) -> int:
    """Write the log as a CSV file that dbt can seed.

    The columns are those of the attempt contract but ``transcript``. Null is an empty field, tags
    are JSON, and times have a space instead of ``T`` and no ``Z``, as every database reads them.
    """
    with _opened(path) as file:
        rows = list(generate(seed=seed))
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(list(rows[0]))
        writer.writerows([_field(name, row) for name in row] for row in rows)
    return len(rows)


def _field(name: str, row: AttemptRow) -> object:
    if name == "tags":
        return json.dumps(row["tags"])
    if name == "started_at":
        return row["started_at"].replace("T", " ").removesuffix("Z")
    return dict(row)[name]


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a file beside the path, which takes its place once it is complete."""
    with drafted(Path(path)) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        yield file
