"""Files that a harness is writing to, copied up to their last complete row."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from passk_py.common.files import absolute
from passk_py.ingest.landing.discovery import discover
from passk_py.ingest.landing.options import Options
from passk_py.ingest.landing.report_building import ReportBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from passk_py.ingest.landing.load_report import FileReport

_CHUNK: Final = 1 << 20
_TABLES: Final = (".csv", ".tsv")
_LINES: Final = (".jsonl", ".ndjson", *_TABLES)
_LARGEST_BESIDE: Final = 1 << 20
"""Files whose name is not a log's say at most a little of one."""

_Stamp = tuple[int, int, int]


class LiveFiles:
    """Copies of the files that paths lead to, taken again when they change.

    A file of lines is copied up to its last newline. Any other file is copied when it has not
    changed from one look to the next, because half of a document is no log.
    """

    def __init__(self, paths: Sequence[str], folder: Path) -> None:
        self._given = tuple(paths)
        self._named: dict[Path, Path] = {}
        self._folder = folder / "files"
        self._seen: dict[Path, _Stamp] = {}
        self._copied: dict[Path, _Stamp] = {}
        self._unfinished: set[Path] = set()
        self.problems: tuple[FileReport, ...] = ()
        """The paths that lead to no file that can be read, as of the last look."""

    @property
    def known_as(self) -> dict[str, str]:
        """The start of the copies' paths, and the start of the paths of the originals."""
        anchor = absolute(".").anchor
        return {f"{self._folder}{os.sep}": anchor}

    @property
    def paths(self) -> list[Path]:
        """The copies of the files and folders that were given, to be loaded."""
        named = (self._copy_of(name) for path, name in self._named.items() if path in self._copied)
        return list(dict.fromkeys(named))

    def look(self, *, is_last: bool = False) -> bool:
        """Copy what has changed; tell whether anything has. The last look takes half rows too."""
        report = ReportBuilder()
        files = list(discover(self._given, report))
        self.problems = report.build(None, Options()).files
        named = {one.path: absolute(one.folder) if one.folder else one.path for one in files}
        # The rows of a file that was removed stay.
        self._named = named | {
            path: name for path, name in self._named.items() if path not in named
        }
        changed = False
        for file in files:
            # It may have been removed since its folder was listed.
            with suppress(FileNotFoundError):
                if not file.is_passed_over:
                    changed |= self._look_at(file.path, is_last=is_last)
                elif file.path.stat().st_size <= _LARGEST_BESIDE:
                    self._look_at(file.path, is_last=is_last)
        return changed

    def _look_at(self, path: Path, *, is_last: bool) -> bool:
        stamp = _stamp(path)
        before, self._seen[path] = self._seen.get(path), stamp
        if self._copied.get(path) == stamp and not (is_last and path in self._unfinished):
            return False
        of_lines = not is_last and _is_of_lines(path)
        if not of_lines and before != stamp and not is_last:
            return False
        copy = self._copy_of(path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        draft = self._folder.parent / "draft"
        end, size = _copy(path, draft, in_table=path.suffix in _TABLES, of_lines=of_lines)
        if size < stamp[0] or (not of_lines and _stamp(path) != stamp and not is_last):
            # It was cut or rewritten meanwhile.
            return False
        self._unfinished = self._unfinished - {path} | ({path} if end < size else set())
        if not end and path not in self._copied:
            return False
        self._copied[path] = stamp
        if not end:
            # The rows stay until there are others to take their place.
            return False
        draft.replace(copy)
        return True

    def _copy_of(self, path: Path) -> Path:
        return self._folder / path.relative_to(path.anchor)


def _stamp(path: Path) -> _Stamp:
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def _is_of_lines(path: Path) -> bool:
    """Tell by its name or its first line whether each line of a file is a row."""
    if path.suffix in _LINES:
        return True
    with path.open("rb") as file:
        first = file.readline(_CHUNK)
    return first.startswith(b"{") and first.rstrip().endswith(b"}") and first.endswith(b"\n")


def _copy(path: Path, draft: Path, *, of_lines: bool, in_table: bool) -> tuple[int, int]:
    """Copy a file of the size that it has now; give the end of its last row, and that size."""
    with path.open("rb") as file, draft.open("wb") as copy:
        left = os.fstat(file.fileno()).st_size
        done = end = quotes = 0
        while left and (chunk := file.read(min(_CHUNK, left))):
            copy.write(chunk)
            at = chunk.rfind(b"\n")
            # A newline between quotes is part of a value.
            while in_table and at >= 0 and (quotes + chunk[:at].count(b'"')) % 2:
                at = chunk.rfind(b"\n", 0, at)
            if at >= 0:
                end = done + at + 1
            quotes += chunk.count(b'"') if in_table else 0
            done += len(chunk)
            left -= len(chunk)
        if of_lines:
            copy.truncate(end)
    return (end if of_lines else done), done
