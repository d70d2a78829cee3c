"""What a rule found in a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["UNKNOWN", "Finding"]

UNKNOWN: Final = "(unknown)"
"""The suite, the run or the slice of a finding where the rule and the log name none."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found in one run, slice or pair."""

    result: str
    reason: str
    to_settle: str | None = None
    baseline: str | None = None
    slice_name: str = "all"
    slice_value: str = "all"
    tasks: int | None = None
    estimate: float | None = None
    lower: float | None = None
    upper: float | None = None
