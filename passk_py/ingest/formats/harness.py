"""The shared part of harness formats: records in, attempts out, in Python.

A harness writes one file, or a folder of files, in a shape of its own. Such a format reads it piece
by piece and gives a dict for each attempt, its names those of the contract; typing the values,
deciding what an error counts as, numbering the attempts and rejecting rows is done by
:mod:`passk_py.ingest.landing` for all formats alike.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from passk_py.ingest.containers.open_bytes import open_log, position_of
from passk_py.ingest.containers.shape import Json, loaded
from passk_py.ingest.formats.base import Field, Format
from passk_py.ingest.formats.canonical import CANONICAL_FIELDS
from passk_py.ingest.formats.run_names import run_named_after

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from passk_py.ingest.formats.kinds import Kind, Refusal
    from passk_py.ingest.formats.sample import Sample

_MOST_RAW: Final = 10_001
_MOST_SIDE_BYTES: Final = 16 << 20


class Unfit(Exception):  # noqa: N818 - a row that is rejected, not an error of ours
    """Rejects a row by a ``reason_code`` and a sentence; raised, or given instead of an attempt."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(slots=True)
class Record:
    """An attempt as a format tells it, or the fault for which its row is rejected."""

    values: dict[str, Any] | None
    """The values of the file, by names of ``CANONICAL_FIELDS``; None where ``fault`` is set."""
    raw: Any = ""
    """The row for the table of rejected rows: a text, or what becomes one as JSON."""
    fault: tuple[str, str] | None = None
    ends: bool = False
    line: int | None = None
    """Its line in the file; None where rows are counted instead."""
    size: int = 1000
    """About how many bytes it takes in memory."""

    @property
    def text(self) -> str:
        """The row as text, cut short."""
        return self.raw[:_MOST_RAW] if isinstance(self.raw, str) else _as_text(self.raw)


@dataclass(frozen=True, slots=True)
class Expected:
    """How many attempts of each task the harness was told to make."""

    attempts: int
    tasks: tuple[str, ...] = ()
    run_id: str | None = None
    """The run that this is about; None for every run of the log."""
    only: bool = False
    """Whether it is about these tasks alone. It then comes before what is said of all tasks."""


def expected_of_each(counts: Mapping[str, int], run_id: str | None = None) -> Iterator[Expected]:
    """Say of tasks how many attempts there should be of each, those of one number together."""
    tasks: dict[int, list[str]] = {}
    for task, attempts in counts.items():
        tasks.setdefault(attempts, []).append(task)
    for attempts, names in tasks.items():
        yield Expected(attempts, tuple(names), run_id, only=True)


@dataclass(slots=True)
class Log:
    """A log that is being read: one file, or the files of one folder."""

    path: Path
    """The path that names the log: the file, or the folder."""
    files: tuple[Path, ...]
    run_id: str | None = None
    """The run's name from the caller of the load; None if it is left to the log."""
    has_threshold: bool = False
    """Whether the caller of the load says from which score on an attempt passes."""
    heads: dict[str, Any] = field(default_factory=dict)
    """The log's own facts, above or after its rows; filled while it is read."""
    state: Any = None
    """The format's own notes from row to row."""
    current: Path = field(init=False)
    """The file that is being read."""
    _done: int = 0
    _open: IO[bytes] | None = None

    def __post_init__(self) -> None:
        self.current = self.path

    @contextmanager
    def opened(self, path: Path) -> Iterator[IO[bytes]]:
        """Open one of its files, decompressed."""
        self.current = path
        with open_log(path) as file:
            self._open = file
            try:
                yield file
            finally:
                self._open = None
                self._done += path.stat().st_size

    @property
    def position(self) -> int:
        """How many bytes on the disk are read."""
        return self._done + (position_of(self._open) if self._open else 0)

    def beside(self, path: Path) -> Json:
        """Load a small JSON file that says more; None if it is a link or can't be read."""
        try:
            if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_SIDE_BYTES:
                return None
            return loaded(path.read_bytes())
        except (OSError, ValueError):
            return None


class Harness(Format):
    """The log of a harness."""

    uses_threshold: ClassVar[bool] = False
    is_harness: ClassVar[bool] = True
    numbered_with_others: ClassVar[bool] = False
    """Whether the number of an attempt is its run's place among those that are read with it."""
    runs_have_ids: ClassVar[bool] = False
    """Whether files with attempts of one run are exports of one and the same run."""
    labels: ClassVar[Mapping[str, str]] = {}
    """The file's own name of a contract column, for the reason of a rejected row."""

    @abstractmethod
    def read(self, log: Log) -> Iterator[Record]:
        """Read a log to its end: whatever was read comes out as an attempt or a fault."""

    def fills(self, log: Log) -> Mapping[str, Any]:
        """Give, after the last row, the columns and ``tags`` of attempts that don't say them."""
        return {}

    def expected(self, log: Log) -> Iterable[Expected]:
        """Give how many attempts there should be. Asked once, after the last row."""
        return ()

    def warnings(self, log: Log) -> Iterable[str]:
        """Say, after the last row, how the log was read where another reading is as likely."""
        return ()

    def notes(self, log: Log) -> Iterable[str]:
        """Say, after the last row, what else is worth knowing, and no reason for a doubt."""
        return ()

    def contract(self, columns: Mapping[str, Kind]) -> dict[str, Field]:
        """Map each value to the column of its name."""
        fields = {
            name: Field(f'"{name}"', "text", self.labels.get(name, name))
            for name in CANONICAL_FIELDS
            if name in columns
        }
        if self.numbers_attempts:
            # Some of the rows that are numbered later may say something of their order.
            fields["attempt"] = Field("coalesce(attempt, '1')", "text", "attempt")
        return fields

    def default_run_id(self, path: Path) -> str | None:
        """Name the run after the file, after its folder, or after the folder that the log is."""
        if path.is_dir():
            return path.name or None
        return run_named_after(path, self.suffixes)

    def group(self, sample: Sample) -> Path | None:
        """Name the folder whose files are one log together; None if a file is a log of its own."""
        return None

    def owns(self, sample: Sample) -> Path | None:
        """Name the folder whose inner folders hold nothing but parts of this file's attempt."""
        return None

    def repeated(self, sample: Sample) -> Refusal | None:
        """Say of a file of no format that another one holds what is in it; None if none does."""
        return None

    def doubled(self, sample: Sample) -> Refusal | None:
        """Say of a file of a folder that one beside it holds its rows too; None if none does."""
        return None

    def other_tasks(self, sample: Sample) -> str:
        """Write options that name the tasks otherwise, for a log that shares none with others."""
        return ""

    def companions(self, path: Path) -> tuple[Path, ...]:
        """List the files that say more of a log (a file or a folder), existing or not."""
        return ()


def _as_text(row: object) -> str:
    try:
        made = msgspec.json.encode(row).decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        made = json.dumps(row, default=str)
    return made[:_MOST_RAW]
