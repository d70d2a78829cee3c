r"""Canonical attempts as lines of JSON.

One JSON object a line, its keys named as the contract's columns; ``tags`` is an object. Numbers
may be written as texts; ``true`` and ``false`` count as 1 and 0 for the score and the measures
(duration, cost, tokens), not for ``attempt`` and ``seed``. Blank lines are skipped. May be
compressed with gzip or zstd.

>>> from passk_py.ingest.formats.canonical_jsonl import CanonicalJsonl
>>> CanonicalJsonl.name, CanonicalJsonl.container
('jsonl', 'json_lines')
"""

from __future__ import annotations

from passk_py.ingest.formats.canonical import CANONICAL_KEYS, Canonical

__all__ = ["CanonicalJsonl"]


class CanonicalJsonl(Canonical):
    """Canonical attempts as lines of JSON."""

    name = "jsonl"
    title = "canonical attempts, one JSON object a line"
    reader_version = 1
    container = "json_lines"
    suffixes = (".jsonl", ".ndjson", ".json")
    keys = CANONICAL_KEYS
    example = (
        '{"run_id": "2026-01-31-a", "suite": "airline", "task_id": "7", "attempt": 1, '
        '"outcome": "passed"}'
    )
