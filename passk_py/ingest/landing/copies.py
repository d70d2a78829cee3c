"""Files of the same bytes as another: a copy counts once, whatever it is called."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from passk_py.ingest.formats import listed
from passk_py.ingest.landing.fingerprint import digest_of_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from passk_py.ingest.formats import Format
    from passk_py.ingest.formats.sample import Sample
    from passk_py.ingest.landing.load_report import FileReport

__all__ = ["Copies"]

_SHOWN: Final = 3


class Copies:
    """Finds files that have the same bytes as one before them.

    Attempts that have their numbers say what they are: copies of them count once in any case.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], list[Path]] = {}
        self._digests: dict[Path, str] = {}
        self._logs: dict[Path, str] = {}
        self._copies: dict[Path, list[Path]] = {}
        self._alike: dict[Path, list[Path]] = {}

    def original(self, sample: Sample, reader: Format) -> Path | None:
        """Give the file that this one is a copy of; None if it counts itself."""
        path = sample.path
        if reader.attempts_stay or not sample.size:
            return None
        others = self._known.setdefault((reader.name, sample.size), [])
        same = [other for other in others if self._digest(other) == self._digest(path)]
        unclear = None
        for other in same:
            is_copy = reader.is_copy(path, other)
            if is_copy:
                self._copies.setdefault(other, []).append(path)
                return other
            if is_copy is None:
                unclear = unclear or other
        others.append(path)
        if unclear:
            self._alike.setdefault(unclear, []).append(path)
        return None

    def belong(self, files: Iterable[Path], log: Path) -> None:
        """Note of which log some files are."""
        self._logs |= dict.fromkeys(files, str(log))

    def told(self, report: FileReport) -> FileReport:
        """Say of a log which files are copies of its own."""
        if report.status == "failed":
            return report
        copies = self._of(self._copies, report)
        alike = self._of(self._alike, report)
        said = [report.message] if report.message else []
        if copies:
            said.append(f"Copies of its files count once: {listed(copies, _SHOWN)}.")
        if alike:
            said.append(
                f"Of the same bytes as one of its files, but under another name: "
                f"{listed(alike, _SHOWN)}. Two runs may come out the same, so each counts: leave "
                "out what is a copy."
            )
        if not (copies or alike):
            return report
        return replace(report, message=" ".join(said), is_doubtful=True)

    def _of(self, found: dict[Path, list[Path]], report: FileReport) -> list[str]:
        return [
            str(copy)
            for original, copies in found.items()
            if self._logs.get(original, str(original)) == report.path
            for copy in copies
        ]

    def _digest(self, path: Path) -> str:
        if path not in self._digests:
            self._digests[path] = digest_of_file(path)
        return self._digests[path]
