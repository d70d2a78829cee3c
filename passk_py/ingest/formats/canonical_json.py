"""Canonical attempts as one JSON list.

The same objects as in the lines of ``jsonl``, as the elements of one list. A rejected row's
``source_line`` is the number of the element.
"""

from __future__ import annotations

from passk_py.ingest.formats.canonical import CANONICAL_KEYS, Canonical

__all__ = ["CanonicalJson"]


class CanonicalJson(Canonical):
    """Canonical attempts as one JSON list."""

    name = "json"
    title = "canonical attempts, one JSON list of objects"
    reader_version = 1
    container = "json_list"
    suffixes = (".json",)
    keys = CANONICAL_KEYS
    example = '[{"run_id": "2026-01-31-a", "task_id": "7", "attempt": 1, "passed": true}]'
