"""Canonical attempts as a CSV table.

The first line names the columns, as the contract does; ``tags`` holds a JSON object. The separator
is a comma, semicolon, tab or bar, whichever gives a header with ``task_id``. Fields may be quoted
with ``"``, doubled inside. An empty field is null. May be compressed with gzip or zstd.
"""

from __future__ import annotations

from passk_py.ingest.formats.canonical import Canonical

__all__ = ["CanonicalCsv"]


class CanonicalCsv(Canonical):
    """Canonical attempts as a CSV table."""

    name = "csv"
    title = "canonical attempts, a CSV table with a header"
    reader_version = 1
    container = "csv"
    suffixes = (".csv", ".tsv")
    example = "run_id,task_id,attempt,passed\n2026-01-31-a,7,1,true"
