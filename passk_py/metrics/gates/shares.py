"""The shares of a run's attempts that a rule may limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["SHARES", "Share"]


@dataclass(frozen=True, slots=True)
class Share:
    """A share of attempts that a rule may limit."""

    part: str
    """The column of ``passk_runs`` that is counted."""
    whole: tuple[str, ...]
    """The columns whose sum it is a share of."""
    said: str
    """What it is, after two numbers."""
    of: str
    word: str
    """In a rule: at most 0.1 of OF WORD."""
    unsure: str = ""
    """The column with what may belong to part and whole, or to neither."""


SHARES: Final = {
    "excluded_attempts": Share(
        "excluded", ("attempts",), "attempts are excluded", "the attempts", "excluded"
    ),
    "missing_attempts": Share(
        "missing_attempts",
        ("expected_attempts",),
        "expected attempts are missing",
        "the expected attempts",
        "missing",
    ),
    "rejected_attempts": Share(
        "rejected",
        ("rejected", "attempts"),
        "rows are rejected",
        "the rows that were read",
        "rejected",
        unsure="rejected_unnamed",
    ),
}
