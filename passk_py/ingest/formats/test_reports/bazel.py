"""Where Bazel puts the JUnit XML of a test: its target, shard, run and attempt.

``bazel test`` writes ``bazel-testlogs/<package>/<target>/test.xml``, below the target in
``shard_1_of_4``, ``run_1_of_3`` or ``shard_1_of_4_run_1_of_3`` where there are several. Failed
attempts before the last one are in ``test_attempts/attempt_1.xml`` and so on beside it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_REPORT: Final = re.compile(r"test\.xml(?:\.gz|\.zst)?")
_ATTEMPT: Final = re.compile(r"attempt_([0-9]{1,6})\.xml(?:\.gz|\.zst)?")
_ATTEMPTS: Final = "test_attempts"
_PART: Final = re.compile(
    r"(?:shard_([0-9]{1,6})_of_[0-9]{1,6})?_?(?:run_([0-9]{1,6})_of_[0-9]{1,6})?"
)
# The file beside each report.
_BESIDE: Final = ("test.log", "test.cache_status")
_MOST_ATTEMPTS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Place:
    """The part of a test that a report is of."""

    target: str
    run: int
    attempt: int | None
    """None for the last one, whose report is beside the folder of the others."""
    shard: int

    @property
    def order(self) -> int:
        """The place among the attempts of the target."""
        attempt = _MOST_ATTEMPTS - 1 if self.attempt is None else self.attempt
        return self.run * _MOST_ATTEMPTS + attempt

    @property
    def sorts(self) -> tuple[str, int, int]:
        """The key by which reports are sorted."""
        return self.target, self.order, self.shard


def root_of(path: Path, given: Path | None) -> Path | None:
    """Find the folder of all targets; ``given`` is the one in which the file was found, if any."""
    if not is_report(path):
        return None
    above = list(reversed(path.parents))
    # A package may be called so too, so the first is the root; best one that only Bazel makes.
    for folder in above:
        if folder.name == "bazel-testlogs":
            return folder
    for folder in above:
        below = given is not None and (folder == given or given in folder.parents)
        if folder.name == "testlogs" and (below or "bazel-out" in folder.parts):
            return folder
    return given if _has_traces(path) else None


def place_of(path: Path, root: Path) -> Place:
    """Take the path of a report apart, below the folder that :func:`root_of` gives."""
    folder, attempt = path.parent, None
    if found := _ATTEMPT.fullmatch(path.name):
        folder, attempt = folder.parent, int(found[1])
    run = shard = 0
    while folder != root and (part := _part_of(folder)):
        shard, run = part[0] or shard, part[1] or run
        folder = folder.parent
    target = folder.relative_to(root).as_posix() if root in folder.parents else folder.name
    return Place(target, run, attempt, shard)


def is_report(path: Path) -> bool:
    """Tell whether a file is called as Bazel calls the report of a test."""
    if _ATTEMPT.fullmatch(path.name):
        return path.parent.name == _ATTEMPTS
    return _REPORT.fullmatch(path.name) is not None


def _has_traces(path: Path) -> bool:
    """Tell whether the file is at a place where only Bazel puts one."""
    folder = path.parent
    named = folder.name == _ATTEMPTS or _part_of(folder) is not None
    return named or any((folder / name).is_file() for name in _BESIDE)


def _part_of(folder: Path) -> tuple[int, int] | None:
    """Take the numbers of a shard and of a run from a folder's name; None if it has neither."""
    found = _PART.fullmatch(folder.name)
    numbers = (int(found[1] or 0), int(found[2] or 0)) if found else (0, 0)
    return numbers if any(numbers) else None
