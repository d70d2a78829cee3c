"""Find repeats in JUnit reports: tests by their names, files and folders by theirs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from passk_py.ingest.containers.open_bytes import open_log
from passk_py.ingest.formats.harness import Record
from passk_py.ingest.formats.run_names import (
    REPEATS,
    are_repeats,
    are_repetitions,
    natural,
    without_endings,
)
from passk_py.ingest.formats.test_reports.junit_cases import cases_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from passk_py.ingest.formats.test_reports.junit_cases import Case

SUFFIXES: Final = (".xml",)
SHOWN: Final = 5

# Names that say nothing of the run.
_ANY_NAME: Final = frozenset(
    (
        *("junit", "xunit", "report", "reports", "result", "results", "test", "tests"),
        *("test-report", "test-reports", "test-result", "test-results"),
    )
)
# The text before the number, and in it the text before the word.
_FOLDER: Final = re.compile(
    rf"^((?:(.*[^a-z]))?(?:{REPEATS})[-_. ]?)(?:[0-9]+(?:[-_. ]of[-_. ]?[0-9]+)?|\*)$",
    re.DOTALL | re.IGNORECASE,
)
# A name of a file, what tells repeated runs apart, and what only numbers and times follow.
_REPEATED_FILE: Final = re.compile(
    rf"(|.*[^a-z])(?:{REPEATS})[-_. ]?[0-9]+(?:[-_. ]of[-_. ]?[0-9]+)?", re.DOTALL | re.IGNORECASE
)
_TIMED: Final = re.compile(r"(.*?)[-_. ]*[0-9][0-9TZ:_. +-]*", re.DOTALL | re.IGNORECASE)
_NUMBERED_FILE: Final = re.compile(r"(.*?)[0-9]+", re.DOTALL)


def folder_of_run(folder: Path) -> Path:
    """Give the folder that names a run; of folders of repeated runs, what they share, and ``*``."""
    repeated = _FOLDER.match(folder.name)
    if not repeated:
        return folder
    return folder.with_name(f"{repeated[1]}*") if repeated[2] else folder.parent


def name_of_run(path: Path, name: str | None) -> str | None:
    """Name a run after the folders of :func:`folder_of_run`, or the file if that has a name."""
    repeated = _FOLDER.match(path.name) if path.name.endswith("*") else None
    named = repeated[2].rstrip("-_. ") if repeated else name
    return path.parent.name or named if (named or "").lower() in _ANY_NAME else named


def in_order(files: Iterable[Path]) -> list[Path]:
    """Sort files by their names so that the numbers in them are compared as such."""
    return sorted(files, key=lambda path: [natural(name) for name in path.parts])


class Repeats:
    """The names of a file that are repetitions, and those that are there several times."""

    def __init__(self, cases: Iterable[Case | Record]) -> None:
        steps: dict[int, set[tuple[int, int]]] = {}
        names: dict[int, list[str]] = {}
        times: dict[int, int] = {}
        for case in cases:
            if isinstance(case, Record):
                break
            if repetition := case.repetition():
                stem, step, of = repetition
                key = hash((case.titles()[0], stem))
                steps.setdefault(key, set()).add((step, of))
                known = names.setdefault(key, [])
                if len(known) < SHOWN:
                    known.append(case.task(case.titles()[1]) or "")
            if case.pytest:
                times[case.key] = times.get(case.key, 0) + 1
        self._repeated = {key for key, found in steps.items() if are_repetitions(found)}
        self.unrepeated = [
            name
            for key, found in steps.items()
            if len(found) > 1 and key not in self._repeated
            for name in names[key]
        ]
        """The first names of each test that looks repeated, but is not."""
        self.left = {key: number for key, number in times.items() if number > 1}
        """How often a test of pytest is still to come, of those that are there several times."""

    def stem(self, case: Case) -> tuple[str, int | None]:
        """Give a name without a repetition, and of how many it is: 0 if unsaid, None if of none."""
        repetition = case.repetition()
        if repetition:
            stem, _, of = repetition
            if hash((case.titles()[0], stem)) in self._repeated:
                return stem, of
        return case.titles()[1], None


def runs_of(files: list[Path]) -> tuple[dict[Path, str], tuple[str, ...]]:
    """Name the run of each file, or else the numbered files that are only taken for one run."""
    if len(files) < 2:
        return {}, ()
    series = _series_of(files)
    named = {path: _name_of(path, series) for path in files}
    if len(set(named.values())) > 1 and _share_tests(named):
        default = files[0].parent.name
        return {path: name or default for path, name in named.items()}, ()
    numbered = [path for path in files if _stem_of(path) in series]
    if len(numbered) > 1 and _share_tests({path: path.name for path in numbered}):
        return {}, tuple(path.name for path in numbered)
    return {}, ()


def _stem_of(path: Path) -> str:
    return without_endings(path.name, SUFFIXES) or path.name


def _series_of(files: Iterable[Path]) -> set[str]:
    """Find the names that end in 1 to n, where nothing else says that they are repeated runs."""
    by_stem: dict[str, set[str]] = {}
    for path in files:
        stem = _stem_of(path)
        if (found := _NUMBERED_FILE.fullmatch(stem)) and _plain_name(stem) is None:
            by_stem.setdefault(found[1], set()).add(stem)
    return {
        name
        for names in by_stem.values()
        if len(names) > 1 and are_repeats(names)
        for name in names
    }


def _name_of(path: Path, series: set[str]) -> str:
    """Name what a file is of: the same for repeated runs; empty where its name says nothing."""
    stem = _stem_of(path)
    plain = _plain_name(stem)
    if plain is not None:
        return plain
    if stem in series and (found := _NUMBERED_FILE.fullmatch(stem)):
        return found[1].rstrip("-_. ")
    return stem


def _plain_name(stem: str) -> str | None:
    """Take the name of repeated runs or of parts of one run; None if it is a name of its own."""
    # Surefire, Gradle and Ant write a file for each class.
    if stem.startswith("TEST-"):
        return ""
    if found := _REPEATED_FILE.fullmatch(stem):
        name = found[1].rstrip("-_. ")
        return "" if name.lower() in _ANY_NAME else name
    name = found[1] if (found := _TIMED.fullmatch(stem)) else stem
    return name.lower() if not name or name.lower() in _ANY_NAME else None


def _share_tests(named: Mapping[Path, str]) -> bool:
    """Tell whether files of different names hold a test of the same name."""
    of: dict[int, str] = {}
    for path, name in named.items():
        with open_log(path) as file:
            known = Repeats(cases_in(file))
        with open_log(path) as file:
            for case in cases_in(file):
                if isinstance(case, Record):
                    break
                key = hash((case.titles()[0], known.stem(case)[0]))
                if of.setdefault(key, name) != name:
                    return True
    return False
