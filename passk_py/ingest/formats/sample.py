"""The start of a file: all by which a format is recognised."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from passk_py.ingest.containers.json_start import top_level_keys
from passk_py.ingest.containers.json_walk import EACH, JsonWalk
from passk_py.ingest.containers.shape import Json, loaded

if TYPE_CHECKING:
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.open_bytes import Compression
    from passk_py.ingest.formats.kinds import Container, Kind, Refusal


@dataclass(frozen=True, slots=True)
class Sample:
    """The facts from the start of a file."""

    path: Path
    size: int
    """Its bytes on the disk."""
    compression: Compression = "none"
    container: Container | None = None
    """The container of its rows; None where that can't be told."""
    fields: tuple[str, ...] = ()
    """The names of its columns, or all keys of the objects that the sample holds."""
    complete: bool = True
    """Whether the sample holds at least one whole row, so that no key of it is missing."""
    kinds: dict[str, Kind] = field(default_factory=dict)
    delimiter: str = ","
    newline: bytes = b"\n"
    start: bytes = field(default=b"", repr=False)
    """The first bytes of its text, decompressed."""
    one_object: bool = False
    """Whether the file seems to be one JSON object, be it on one line or on many."""
    members: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    """The files of a log that is a folder; else empty."""
    companions: tuple[Path, ...] = ()
    """Files beside it that say more of it."""
    part_of: Path | None = None
    """The folder whose files are one log together, of which only this part was named; else None."""
    some_of: bool = False
    """Whether the files of the log were named one by one, so that others of it may be missing."""
    found_in: Path | None = None
    """The folder that was named, if the file itself was not."""
    problem: Refusal | None = None
    foreign: bool = False
    """Whether that is because it is something else, and not because it is damaged."""
    description: str = ""
    """The likely kind of the file, to be named in an error."""

    @property
    def all_files(self) -> tuple[Path, ...]:
        """Every file of which the log consists."""
        return (*(self.files or (self.path,)), *self.companions)

    def can_be(self, container: Container) -> bool:
        """Tell whether the file can be read as this container."""
        return self.container == container or (container == "json_object" and self.one_object)

    def keys_of_first_row(self, rows_at: tuple[str, ...]) -> frozenset[str]:
        """List the keys of the first row, as far as the sample shows them."""
        first = self._first(rows_at)
        if first is None:
            return frozenset()
        if isinstance(first.value, dict):
            return frozenset(first.value)
        return frozenset(top_level_keys(first.data) if first.data.startswith(b"{") else ())

    def first_row(self, rows_at: tuple[str, ...]) -> Json:
        """Give the first row, if the sample has all of it; else None. Lines need no path."""
        first = self._first(rows_at)
        return None if first is None else first.value

    def _first(self, rows_at: tuple[str, ...]) -> Element | None:
        if rows_at and rows_at[0] not in (EACH, *self.fields):
            return None
        start = self.start
        if self.container == "json_lines" and not self.one_object:
            start = start.split(self.newline, 1)[0]
        return next(JsonWalk(io.BytesIO(start), rows_at, loaded).rows(), None)


def holds_objects(sample: Sample) -> bool:
    """Tell whether a file is JSON with fields: an object, a list of objects or lines of them."""
    if sample.container != "json_lines":
        return sample.container in ("json_list", "json_object") and bool(sample.fields)
    # A recording of a terminal has one such line at its top, and no others.
    lines = [line for line in sample.start.split(sample.newline, 2)[:2] if line.strip()]
    return bool(sample.fields) and all(line.lstrip().startswith(b"{") for line in lines)
