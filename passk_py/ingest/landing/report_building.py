"""The outcome of each path, file and log: the steps tell it here, in the order of the files."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import duckdb

from passk_py.common.errors import PasskError
from passk_py.common.files import absolute, is_disk_full
from passk_py.ingest.landing.duplicates import Duplicates
from passk_py.ingest.landing.load_report import FileReport, LoadReport, SkippedFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from passk_py.ingest.landing.options import Options
    from passk_py.ingest.landing.source import Source

_DISK: Final = "Check your rights in the folder of the database."
_NO_ROOM: Final = (
    "Free some room, then run the command again: a log has landed whole or not at all, and one "
    "that has landed is unchanged."
)


class ReportBuilder:
    """Collects the reports of a load, some of which are still to come."""

    def __init__(self) -> None:
        self.duplicates = Duplicates()
        self._reports: list[Callable[[], FileReport]] = []
        self._skipped: list[SkippedFile] = []
        self._passed_over: list[str] = []
        self._companions: set[str] = set()
        self._logs_in: dict[str, int] = {}

    def add(self, report: Callable[[], FileReport]) -> None:
        """Take what gives the report on a log once it has landed or failed."""
        self._reports.append(report)

    def fail(self, path: str, message: str, hint: str = "") -> None:
        """Note what could not be read."""
        self.add(lambda: FileReport(path, "failed", message=message, hint=hint))

    def skip(self, path: str, reason: str) -> None:
        """Note a file of a folder that is left alone."""
        self._skipped.append(SkippedFile(path, reason))

    def pass_over(self, path: Path) -> None:
        """Note a file of a folder that is not read because of its name."""
        self._passed_over.append(str(path))

    def look_into(self, folder: str | None) -> None:
        """Note the folder that the user named, of which a file is looked at."""
        if folder is not None:
            self._logs_in.setdefault(folder, 0)

    def found_log_in(self, folder: str | None) -> None:
        """Count a log of a folder, be it good or damaged."""
        if folder is not None:
            self._logs_in[folder] += 1

    def put_together(self, source: Source) -> None:
        """Note which files are those of one log."""
        self.duplicates.belong(source.sample.all_files, source.path)
        # They are read, even if each by itself was no log.
        self._companions |= {str(path) for path in source.sample.companions}

    def build(self, parquet: Path | None, options: Options) -> LoadReport:
        """Wait for all logs and tell what became of them."""
        named = options.named
        files = [self.duplicates.told(report()) for report in self._reports]
        skipped = tuple(file for file in self._skipped if file.path not in self._companions)
        files += [_without_logs(name, skipped) for name, logs in self._logs_in.items() if not logs]
        if options.known_as:
            files = [
                replace(
                    file, path=named(file.path), message=named(file.message), hint=named(file.hint)
                )
                for file in files
            ]
            skipped = tuple(SkippedFile(named(one.path), named(one.reason)) for one in skipped)
        return LoadReport(tuple(files), skipped, parquet, tuple(map(named, self._passed_over)))


def explained(path: str, error: Exception) -> tuple[str, str]:
    """Say what went wrong with a file, and what to do; an interrupt is raised on."""
    if isinstance(error, PasskError):
        return error.message, error.hint or ""
    if is_disk_full(error):
        return f"The disk was full before {path} was noted as landed.", _NO_ROOM
    if isinstance(error, duckdb.FatalException):
        return f"{path} was not read: DuckDB had stopped.", _NO_ROOM
    if isinstance(error, duckdb.OutOfMemoryException):
        needs = f"{path} needs more memory than DuckDB may use."
        return needs, "Close other programs, or split the file."
    if isinstance(error, duckdb.IOException):
        return f"{path} did not land: {_first_line(error)}", _DISK
    if isinstance(error, (OSError, EOFError, zlib.error, duckdb.Error, RuntimeError)):
        # DuckDB tells an interrupt in two ways, and in neither of them is it the file's fault.
        if isinstance(error, duckdb.InterruptException) or "interrupted" in str(error):
            raise KeyboardInterrupt from error
        return f"{path} can't be read: {_first_line(error)}", "Write or copy it again."
    return (
        f"{path} did not land, because passk failed: {type(error).__name__}: {_first_line(error)}",
        "This is a bug in passk: please report it.",
    )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _without_logs(folder: str, skipped: tuple[SkippedFile, ...]) -> FileReport:
    inside = str(absolute(folder))
    one = next((file for file in skipped if file.path.startswith(inside)), None)
    example = f": {one.path}, for one, is {one.reason}" if one else ""
    return FileReport(
        folder,
        "failed",
        message=f"There is no log in the folder {folder}{example}.",
        hint="`passk formats` lists what passk reads.",
    )
