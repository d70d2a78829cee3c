"""Canonical attempts as a Parquet table.

Columns are named as the contract does and may have any type that holds such values: ``attempt`` an
integer or a whole number in a double or a text, ``tags`` a map, a struct or a JSON text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from passk_py.ingest.formats.canonical import Canonical

if TYPE_CHECKING:
    from passk_py.ingest.formats.kinds import Container

__all__ = ["CanonicalParquet"]


class CanonicalParquet(Canonical):
    """Canonical attempts as a Parquet table."""

    name: ClassVar[str] = "parquet"
    title: ClassVar[str] = "canonical attempts, a Parquet table"
    reader_version: ClassVar[int] = 1
    container: ClassVar[Container] = "parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".pq")
    example: ClassVar[str] = "run_id, suite, task_id, attempt, outcome, ... as columns"
