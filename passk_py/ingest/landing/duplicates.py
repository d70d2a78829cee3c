"""Files of the same bytes as another: a duplicate counts once, whatever it is called."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from passk_py.ingest.formats import listed
from passk_py.ingest.landing.fingerprint import digest_of_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from passk_py.ingest.landing.load_report import FileReport
    from passk_py.ingest.landing.source import Source

_SHOWN: Final = 3


class Duplicates:
    """Finds files that have the same bytes as one before them."""

    # Attempts that have their numbers say what they are: duplicates of them count once anyway.

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], list[Path]] = {}
        self._digests: dict[Path, str] = {}
        self._logs: dict[Path, str] = {}
        self._duplicates: dict[Path, list[Path]] = {}
        self._alike: dict[Path, list[Path]] = {}

    def original(self, source: Source) -> Path | None:
        """Give the file that this one is a duplicate of; None if it counts itself."""
        path, size = source.sample.path, source.sample.size
        self._logs.setdefault(path, source.path)
        if source.format.attempts_stay or not size:
            return None
        others = self._known.setdefault((source.format.name, size), [])
        same = [other for other in others if self._digest(other) == self._digest(path)]
        unclear = None
        for other in same:
            is_duplicate = source.format.is_copy(path, other)
            if is_duplicate:
                self._duplicates.setdefault(other, []).append(path)
                return other
            if is_duplicate is None:
                unclear = unclear or other
        others.append(path)
        if unclear:
            self._alike.setdefault(unclear, []).append(path)
        return None

    def belong(self, files: Iterable[Path], log: str) -> None:
        """Note of which log some files are."""
        self._logs |= dict.fromkeys(files, log)

    def told(self, report: FileReport) -> FileReport:
        """Say of a log which files are duplicates of its own."""
        duplicates = self._of(self._duplicates, report)
        alike = self._of(self._alike, report)
        if report.status == "failed" or not (duplicates or alike):
            return report
        said = [report.message] if report.message else []
        if duplicates:
            said.append(f"Copies of its files count once: {listed(duplicates, _SHOWN)}.")
        if alike:
            said.append(
                f"Of the same bytes as one of its files, but under another name: "
                f"{listed(alike, _SHOWN)}. Two runs may come out the same, so each counts: leave "
                "out what is a copy."
            )
        return replace(report, message=" ".join(said), is_doubtful=True)

    def _of(self, found: dict[Path, list[Path]], report: FileReport) -> list[str]:
        return [
            str(path)
            for original, paths in found.items()
            if self._logs.get(original, str(original)) == report.path
            for path in paths
        ]

    def _digest(self, path: Path) -> str:
        if path not in self._digests:
            self._digests[path] = digest_of_file(path)
        return self._digests[path]
