"""Canonical attempts as one JSON list.

The same objects as in the lines of ``jsonl``, as the elements of one list. A rejected row's
``source_line`` is the number of the element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from passk_py.ingest.formats.canonical import CANONICAL_KEYS, Canonical

if TYPE_CHECKING:
    from passk_py.ingest.formats.base import Key
    from passk_py.ingest.formats.kinds import Container

__all__ = ["CanonicalJson"]


class CanonicalJson(Canonical):
    """Canonical attempts as one JSON list."""

    name: ClassVar[str] = "json"
    title: ClassVar[str] = "canonical attempts, one JSON list of objects"
    reader_version: ClassVar[int] = 1
    container: ClassVar[Container] = "json_list"
    suffixes: ClassVar[tuple[str, ...]] = (".json",)
    keys: ClassVar[tuple[Key, ...]] = CANONICAL_KEYS
    example: ClassVar[str] = (
        '[{"run_id": "2026-01-31-a", "task_id": "7", "attempt": 1, "passed": true}]'
    )
