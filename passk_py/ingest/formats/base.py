"""The description of a format: how it is recognised and how its rows become attempts.

A format is one file with one class. It names the container that its rows come in (lines of JSON, a
JSON list or object, a CSV or a Parquet table, a zip or an XML document) and maps what it calls
things to the columns of the contract. Reading the container, typing the values, rejecting rows and
writing them is shared by all formats, in :mod:`passk_py.ingest.landing`. Formats of harnesses have
a base of their own, in :mod:`passk_py.ingest.formats.harness`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from passk_py.ingest.formats.kinds import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from passk_py.ingest.formats.kinds import Container, Kind, Outcome
    from passk_py.ingest.formats.sample import Sample


@dataclass(frozen=True, slots=True)
class Field:
    """Where a column of the contract comes from."""

    sql: str
    """An expression over the reader's columns, in which nothing may be pasted that a file says."""
    kind: Kind
    label: str
    """The file's own name of the value, for the reason of a rejected row."""
    in_order: bool = False
    """Whether a map has its names in their order."""


@dataclass(frozen=True, slots=True)
class Key:
    """A value that a JSON format reads from each of its rows."""

    path: tuple[str, ...]
    """The object keys that lead to it, from the outside in."""
    scalar: bool = False
    """Whether an object, a list or a boolean in its place is rejected, not stored as JSON."""
    table: bool = False
    measure: bool = False
    """Whether true and false may be 1 and 0: it can be read as a double, a third faster."""

    @property
    def column(self) -> str:
        """The name of the reader's column."""
        return ".".join(self.path)


class Format(ABC):
    """One format of attempt logs; ``passk formats`` prints what its attributes say."""

    name: ClassVar[str]
    title: ClassVar[str]
    reader_version: ClassVar[int]
    """Raised when the same file gives other rows, so that it lands again."""
    container: ClassVar[Container]
    suffixes: ClassVar[tuple[str, ...]]
    recognised_by: ClassVar[str]
    fields: ClassVar[tuple[tuple[str, str], ...]]
    verdict_rule: ClassVar[str]
    attempt_rule: ClassVar[str]
    error_rule: ClassVar[str]
    documentation: ClassVar[str]
    example: ClassVar[str]
    keys: ClassVar[tuple[Key, ...]] = ()
    """The paths that a JSON format reads in each row; empty for tables."""
    columns: ClassVar[tuple[str, ...]] = ()
    """The columns that a format of tables reads in each row; empty for JSON."""
    default_suite: ClassVar[str] = "default"
    """The suite of a file that does not say it."""
    uses_threshold: ClassVar[bool] = True
    """Whether the verdict may come from a score and the threshold of the command line."""
    numbers_attempts: ClassVar[bool] = False
    """Whether the log leaves the order of a task's attempts to their start times or, where it has
    none, to the order of its rows. The contract's ``attempt`` is then a 1 in each row, or a number
    that tells the order of those that start at the same time or don't say when."""
    attempts_stay: ClassVar[bool] = False
    """Whether attempts keep the numbers that the log has, also in a run of several logs."""
    holds_transcripts: ClassVar[bool] = False
    """Whether each element of a JSON list holds the transcript of its attempt."""
    settings: str = ""
    """The text of a mapping, which decides with the format's name which rows come out."""
    differs_by_run: ClassVar[bool] = True
    """Whether no two runs write the same bytes, since they say when, or what happened."""
    is_harness: ClassVar[bool] = False
    """Whether the errors of attempts are a harness's own words, which the policy has to judge."""
    reasons: ClassVar[Mapping[str, Outcome]] = {}
    """How an attempt without a verdict counts, by its reason; it goes before the general policy."""

    @property
    def unit(self) -> str:
        """The unit that ``source_line`` counts."""
        return {"json_lines": "line", "csv": "line", "json_list": "element"}.get(
            self.container, "row"
        )

    @abstractmethod
    def recognises(self, sample: Sample) -> bool:
        """Tell from the start of a file whether it is of this format."""

    def can_read(self, sample: Sample) -> bool:
        """Tell whether the file is of the container that the rows come in, or of one of several."""
        return sample.can_be(self.container)

    @abstractmethod
    def contract(self, columns: Mapping[str, Kind]) -> dict[str, Field]:
        """Say where the columns of the contract come from that are not null, and ``passed``."""

    def refuse(self, sample: Sample) -> Refusal | None:
        """Say why no row of the file could land, as far as its start shows it."""
        for name in self.columns:
            if sample.fields.count(name) > 1:
                what = f"more than one column {name}"
                return Refusal(what, "Leave the one that counts and load it again.")
        return None

    def is_copy(self, path: Path, other: Path) -> bool | None:
        """Tell whether files of the same bytes are duplicates; None if two runs may be alike."""
        return self.differs_by_run or path.name == other.name or None

    def without_threshold(self, sample: Sample) -> str | None:
        """Say why a threshold for scores decides nothing in the file; None if it may."""
        if self.uses_threshold:
            return None
        return f"{self.name} has verdicts of its own ({self.verdict_rule})"

    def is_judged_by_score(self, sample: Sample) -> bool:
        """Tell whether scores and the threshold are all that decides what passed."""
        return self.uses_threshold

    def without_attempt(self, sample: Sample) -> Refusal:
        """Say what is missing where no row of the file tells which try of its task it is."""
        return Refusal(
            "no row that says which try of its task it is",
            f"Files of the format {self.name} say it so: {self.attempt_rule}.",
        )

    def unknown_fields(self, sample: Sample) -> tuple[str, ...]:
        """List the fields of the file that have no place in the contract."""
        return ()

    def default_run_id(self, path: Path) -> str | None:
        """Give the run of a file that can't say it itself; None if there is no good guess."""
        return None
