"""The results of a build."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_FRAME: Final = re.compile(r"^[\w ]*Error( in .*)?$")
"""The lines of dbt above a message."""
_PREFIX: Final = re.compile(
    r"^\[error\] \[\w+ \(dbt\d+\)\]: "
    r"(Failed to render SQL invalid operation: (Compilation Error for \S+ from \S*: )?)?"
)
"""The prefix of dbt v2."""
_PLACE: Final = re.compile(
    r"> in macro|> called by|compiled code at |\(in .*:\d+:\d+\)$|--> |at \./"
)
"""Where dbt was when it found a mistake, in its own code and in the package's."""
_STACK: Final = re.compile(r"\d+: \S+$")


@dataclass(frozen=True, slots=True)
class NodeReport:
    """A model or test, and how it ended."""

    name: str
    kind: str
    """``model``, ``test``, ``seed``, ..."""
    status: str
    """``success``, ``pass``, ``error``, ``fail``, ``warn`` or ``skipped``."""
    message: str


@dataclass(frozen=True, slots=True)
class BuildReport:
    """The results of a build."""

    models: int
    tests: int
    skipped: int
    """Nodes that dbt left out, because one before them failed."""
    failed: tuple[NodeReport, ...]
    """Nodes with an error, and tests that the data fail."""
    warned: tuple[NodeReport, ...]
    """Tests that the data fail, which only warn."""
    seconds: float
    """How long dbt ran, without its imports and parsing."""
    is_unchanged: bool = False
    """Whether nothing was new: dbt was not started, and warnings are those of the last build."""

    @property
    def exit_code(self) -> int:
        """0 if all went well, 1 if the data fail a test, 2 if something could not be built."""
        if any(node.status == "error" for node in self.failed):
            return 2
        return 1 if self.failed else 0


def report_of(nodes: Iterable[NodeReport], seconds: float) -> BuildReport:
    """Sum up the nodes of a run."""
    models = tests = skipped = 0
    failed: list[NodeReport] = []
    warned: list[NodeReport] = []
    for node in nodes:
        if node.status in ("success", "pass"):
            if "test" in node.kind:
                tests += 1
            else:
                models += node.kind not in ("seed", "operation")
        elif node.status == "warn":
            warned.append(node)
        elif node.status in ("error", "fail"):
            failed.append(node)
        else:
            skipped += 1
    return BuildReport(models, tests, skipped, tuple(failed), tuple(warned), seconds)


def sentence(message: str) -> str:
    """Take away the frame that dbt puts around a message."""
    lines = [line.strip() for line in _PREFIX.sub("", message.strip()).splitlines()]
    while len(lines) > 1 and _FRAME.match(lines[0]):
        del lines[0]
    return "\n".join(
        line for line in lines if line and not _PLACE.match(line) and not _STACK.fullmatch(line)
    )


def could_not_run(message: str, database: Path, log: Path) -> PasskError:
    """Make the error of a dbt that stopped before it built anything."""
    if "lock on file" in message:
        return PasskError(
            f"The database {database} is in use by another process.",
            hint="Close it there, or wait until it is done.",
        )
    said = sentence(message)
    if said.startswith(("passk: ", "passk.")):
        return PasskError(said.removeprefix("passk: "), hint="Correct --vars and build again.")
    return PasskError(f"dbt could not run: {said}", hint=f"The full output of dbt is in {log}.")
