"""Canonical attempts as a Parquet table.

Columns are named as the contract does and may have any type that holds such values: ``attempt`` an
integer or a whole number in a double or a text, ``tags`` a map, a struct or a JSON text.
"""

from __future__ import annotations

from passk_py.ingest.formats.canonical import Canonical

__all__ = ["CanonicalParquet"]


class CanonicalParquet(Canonical):
    """Canonical attempts as a Parquet table."""

    name = "parquet"
    title = "canonical attempts, a Parquet table"
    reader_version = 1
    container = "parquet"
    suffixes = (".parquet", ".pq")
    example = "run_id, suite, task_id, attempt, outcome, ... as columns"
