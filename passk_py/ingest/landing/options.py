"""What the user says of the files: of all their attempts, and how they are judged."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from passk_py.common.contract import MOST_EXPECTED
from passk_py.common.errors import PasskError
from passk_py.ingest.formats.policy import digest_of_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from passk_py.ingest.formats import Format

__all__ = ["Options", "can_be_stored"]


_THRESHOLD: Final = 1.0


@dataclass(frozen=True, slots=True)
class Options:
    """What is so of all attempts, whatever their log says, and the threshold of a score.

    Parameters
    ----------
    run_id, suite, agent, model
        Of all attempts. A log that tells several apart is refused: see
        :mod:`passk_py.ingest.landing.given`.
    tags
        Of all attempts, before those that they have.
    score_threshold
        A score of at least this is a pass, where nothing else tells the verdict.
    policy
        What an attempt without a verdict counts as, by its reason: names, or patterns with ``*``,
        and ``failed`` or ``excluded``. The first that fits decides, before the format's own.
    expected_attempts
        How many attempts of each task there should be, of tasks of which the log does not say it.
    """

    run_id: str | None = None
    suite: str | None = None
    agent: str | None = None
    model: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    score_threshold: float = _THRESHOLD
    policy: Mapping[str, str] = field(default_factory=dict)
    expected_attempts: int | None = None

    def __post_init__(self) -> None:
        """Refuse values that no row may have."""
        texts = {name: getattr(self, name) for name in ("run_id", "suite", "agent", "model")}
        for name, value in [*texts.items(), *(("tag", tag) for tag in self.tags)]:
            if value is not None and (not value or not can_be_stored(value)):
                flag = "--" + name.replace("_", "-")
                raise PasskError(
                    f"{flag} is {value!r}, which is no name.",
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
                hint="Give how many attempts of each task were to be made, or leave it out.",
            )
        if not math.isfinite(self.score_threshold):
            raise PasskError(
                f"--score-threshold is {self.score_threshold}, which no score can be held against.",
                hint="Give a finite number; the default is 1.0.",
            )

    @property
    def given(self) -> dict[str, str]:
        """The columns that are given, and what they are."""
        said = {name: getattr(self, name) for name in ("run_id", "suite", "agent", "model")}
        return {name: text for name, text in said.items() if text is not None}

    @property
    def sets_threshold(self) -> bool:
        """Whether a threshold was given that is not the default."""
        return self.score_threshold != _THRESHOLD

    def as_json(self, reader: Format, after: Mapping[str, str] | None = None) -> str:
        """Write down what decides, beside the file's bytes, which rows come out.

        Parameters
        ----------
        reader
            The format that the file is read as.
        after
            The log after which its attempts are numbered on, and the digest of that.

        Returns
        -------
        str
            JSON with sorted keys. Two loads of the same bytes with equal texts give equal rows.
        """
        said = {
            "given": self.given or None,
            "given_tags": dict(self.tags) or None,
            "score_threshold": self.score_threshold if reader.uses_threshold else None,
            "expected_attempts": self.expected_attempts,
            "mapping": reader.settings or None,
            # In its order, because the first pattern that fits decides.
            "policy": [list(rule) for rule in self.policy.items()] or None,
            "rules": digest_of_rules(reader),
            "after": dict(after or {}) or None,
        }
        given = {name: value for name, value in said.items() if value is not None}
        return json.dumps(
            {"reader": f"{reader.name}/{reader.reader_version}", **given},
            sort_keys=True,
            ensure_ascii=False,
        )


def can_be_stored(text: str) -> bool:
    """Whether a text can be stored: bytes of a command line need not be UTF-8."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
