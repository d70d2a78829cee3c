"""The results of a load, file by file, and how it tells its progress."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from pathlib import Path

Status = Literal["landed", "unchanged", "replaced", "failed"]
"""New rows; the same bytes and options as before; new rows for old ones; nothing written."""


class Progress(Protocol):
    """Is told how far a load is, a few times a second, maybe from another thread."""

    def __call__(self, file: str, bytes_done: int, bytes_total: int, rows: int) -> None:
        """Take note: bytes are those on the disk, and rows 0 while they are not known."""


@dataclass(frozen=True, slots=True)
class FileReport:
    """The outcome of one file."""

    path: str
    """Its absolute path; or, for a path that leads to no file, what the user gave."""
    status: Status
    format: str | None = None
    rows_read: int = 0
    """The sum of those landed and rejected, unless ``strict`` rejected the file."""
    rows_landed: int = 0
    rows_rejected: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    message: str = ""
    """For a person: what went wrong, or what is worth knowing. Empty if all is well."""
    hint: str = ""
    ignored: tuple[str, ...] = ()
    """Names of fields that have no place in the contract."""
    refused: bool = False
    """Whether the file failed only because ``strict`` rejects files with rejected rows."""
    excluded: dict[str, int] = field(default_factory=dict)
    """How many attempts of a harness are excluded, by reason. Known when they land."""
    missing: int = 0
    is_doubtful: bool = False
    """Whether its attempts may count twice, or another reading of the file is as likely."""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file in a folder that was left alone."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class LoadReport:
    """The results of a load."""

    files: tuple[FileReport, ...]
    skipped: tuple[SkippedFile, ...] = ()
    parquet: Path | None = None
    passed_over: tuple[str, ...] = ()
    """Files of folders that hold JSON or a log, and were not read because of their names."""

    @property
    def rows_read(self) -> int:
        """Rows read, of all files."""
        return sum(file.rows_read for file in self.files)

    @property
    def rows_landed(self) -> int:
        """Rows that are in ``landing.attempts``, of all files."""
        return sum(file.rows_landed for file in self.files)

    @property
    def rows_rejected(self) -> int:
        """Rows that the contract rejects, of all files."""
        return sum(file.rows_rejected for file in self.files)

    @property
    def reasons(self) -> dict[str, int]:
        """How many rows were rejected for which reason, the most frequent first."""
        total: Counter[str] = Counter()
        for file in self.files:
            total.update(file.reasons)
        return dict(total.most_common())

    @property
    def statuses(self) -> dict[Status, int]:
        """How many files landed, were unchanged, replaced, failed."""
        return dict(Counter(file.status for file in self.files))

    @property
    def exit_code(self) -> int:
        """0 if every file is in, 1 if ``strict`` rejected one, 2 if one could not be read."""
        failed = [file for file in self.files if file.status == "failed"]
        if any(not file.refused for file in failed):
            return 2
        return 1 if failed else 0


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """The removed runs and rows."""

    rows: int
    rejected: int
    files: int
    tasks: int
    labels: int = 0
    """Rows of a file of ``passk load --labels`` or ``--verdicts``."""
