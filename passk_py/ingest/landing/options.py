"""The options of a load: the values for all attempts, how they are judged and read."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from passk_py.common.contract import MOST_EXPECTED
from passk_py.common.errors import PasskError
from passk_py.ingest.formats import format_named

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from passk_py.ingest.formats.mappings.mapping import Mapping as FileMapping
    from passk_py.ingest.landing.load_report import Progress

_THRESHOLD: Final = 1.0
_NAMES: Final = ("run_id", "suite", "agent", "model")


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a load; :func:`~passk_py.ingest.landing.loading.load` describes each."""

    format: str | None = None
    run_id: str | None = None
    suite: str | None = None
    agent: str | None = None
    model: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    strict: bool = False
    score_threshold: float = _THRESHOLD
    policy: Mapping[str, str] = field(default_factory=dict)
    expected_attempts: int | None = None
    mapping: FileMapping | None = None
    jobs: int = 1
    parquet: str | Path | None = None
    progress: Progress | None = None
    known_as: Mapping[str, str] = field(default_factory=dict)
    keep: bool = True
    """Whether the database outlives the load."""
    careful: bool = False
    """Whether to read the careful way from the start; for tests."""

    def __post_init__(self) -> None:
        """Check that the options make sense."""
        texts = {name: getattr(self, name) for name in _NAMES}
        for name, value in [*texts.items(), *(("tag", tag) for tag in self.tags)]:
            if value is not None and (not value or not can_be_stored(value)):
                flag = "--" + name.replace("_", "-")
                raise PasskError(
                    f"{flag} is {value!r}, which is not a name.",
                    hint=f"Give {flag} a text, or leave it out.",
                )
        for name, value in self.tags.items():
            if not can_be_stored(value):
                raise PasskError(
                    f"--tag {name} is {value!r}, which can't be stored.",
                    hint="Give it a text in UTF-8 without NUL.",
                )
        for reason, outcome in self.policy.items():
            if not reason or not can_be_stored(reason) or outcome not in ("failed", "excluded"):
                raise PasskError(
                    f"--policy says {reason[:60]}={outcome}, but an attempt without a verdict "
                    "counts as failed or excluded.",
                    hint="Write --policy timeout=failed, for example.",
                )
        expected = self.expected_attempts
        if expected is not None and not 1 <= expected <= MOST_EXPECTED:
            raise PasskError(
                f"--expected-attempts is {expected}, but must be from 1 to {MOST_EXPECTED:,}.",
                hint="Give the number of attempts that each task should have, or leave it out.",
            )
        if not math.isfinite(self.score_threshold):
            raise PasskError(
                f"--score-threshold is {self.score_threshold}, which is not a finite number.",
                hint="Give a finite number, such as the default 1.0.",
            )
        if self.mapping and self.format:
            raise PasskError(
                "A file is read by a mapping or as a format, not both.",
                hint="Leave out --format, or the mapping.",
            )
        if self.format:
            format_named(self.format)
        if self.jobs < 1:
            raise PasskError(
                f"--jobs is {self.jobs}.", hint="Give how many logs to read at a time, from 1."
            )

    @property
    def given(self) -> dict[str, str]:
        """The columns that are given, and what they are."""
        said = {name: getattr(self, name) for name in _NAMES}
        return {name: text for name, text in said.items() if text is not None}

    def named(self, text: str) -> str:
        """Replace the paths of files that have other names, in a path or a sentence."""
        for start, name in self.known_as.items():
            text = text.replace(start, name)
        return text

    @property
    def sets_threshold(self) -> bool:
        """Whether a threshold was given that is not the default."""
        return self.score_threshold != _THRESHOLD


def can_be_stored(text: str) -> bool:
    """Whether a text can be stored: bytes of a command line need not be UTF-8."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
