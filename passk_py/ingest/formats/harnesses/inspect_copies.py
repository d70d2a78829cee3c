"""Logs of Inspect that hold the attempts of another one: retries, copies and merged logs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.formats.json_values import at, seconds_between, text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIXES: Final = (".eval", ".json")
# The id of a task, which its logs have in their names: 22 digits to the base 57.
_TASK_ID: Final = re.compile(r"(?<![0-9A-Za-z])[2-9A-HJ-NP-Za-km-z]{22}(?![0-9A-Za-z])")
_SHARDS: Final = ".shards"


@dataclass(slots=True)
class Survey:
    """The epochs of its samples that a log has, and the eval that it records."""

    spec: Any = None
    keys: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)

    def is_in(self, other: Survey, *, copied: bool) -> bool:
        """Tell whether another log holds what this one does, as a copy or a retry of it."""
        same = [at(self.spec, name) == at(other.spec, name) for name in ("task", "model")]
        if not all(same) or not self.keys:
            return False
        if copied:
            return self.keys <= other.keys
        # A retry runs again what ended with an error, and copies the rest.
        ids = text(at(self.spec, "task_id")), text(at(other.spec, "task_id"))
        times = [str(at(one.spec, "created")) for one in (self, other)]
        later = seconds_between(*times)
        return ids[0] is not None and ids[0] == ids[1] and bool(later) and self.ended <= other.keys


def logs_beside(path: Path) -> Iterator[tuple[Path, bool]]:
    """Give the logs that may hold what a log does, and whether they would be copies of it."""
    folder, stem = path.parent.parent, path.stem
    if folder.name.endswith(_SHARDS):
        merged = folder.name.removesuffix(_SHARDS)
        for name in (f"{merged}.eval", f"{merged}-recovered.eval"):
            other = folder.with_name(name)
            if other.is_file() and not other.is_symlink():
                yield other, True
    found = _TASK_ID.findall(stem)
    if not found:
        return
    for other in _logs_of(path.parent, path.parent.stat().st_mtime_ns).get(found[-1], ()):
        if other == path or other.is_symlink():
            continue
        if other.stem == stem:
            if (path.suffix, other.suffix) == (".json", ".eval"):
                yield other, True
        elif other.stem.startswith(f"{stem}-"):
            yield other, True
        elif not stem.startswith(f"{other.stem}-"):
            yield other, False


@lru_cache(maxsize=4)
def _logs_of(folder: Path, changed: int) -> dict[str, list[Path]]:
    """List the logs in a folder by the ids of tasks in their names; of one state of it."""
    del changed
    logs: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        found = _TASK_ID.findall(path.stem)
        if found and path.suffix in SUFFIXES and not path.name.startswith("."):
            logs.setdefault(found[-1], []).append(path)
    return logs
