"""The result of a diagnostic, and the sums over tasks that most of them are."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final, NamedTuple

LEAST: Final = 10
"""Tasks that a test needs."""


@dataclass(slots=True)
class Sum:
    """A sum over tasks of what is seen less what chance gives, and its variance."""

    tasks: int = 0
    terms: list[float] = field(default_factory=list)
    variances: list[float] = field(default_factory=list)

    def add(self, excess: float, variance: float) -> None:
        """Add one task."""
        self.tasks += 1
        self.terms.append(excess)
        self.variances.append(variance)

    @property
    def excess(self) -> float:
        """The effect beyond chance, over all tasks."""
        return math.fsum(self.terms)

    @property
    def z(self) -> float | None:
        """The excess in standard deviations; null where nothing varies."""
        variance = math.fsum(self.variances)
        return self.excess / math.sqrt(variance) if variance > 0 else None


class Result(NamedTuple):
    """The result of one diagnostic on one run."""

    statistic: float | None
    p: float | None
    tasks: int
    verdict: str | None
    """None where a test decides."""
    finding: str


def rounded(value: float, digits: int = 3) -> str:
    """Round half away from zero, as SQL does."""
    scale = 10**digits
    return repr(math.copysign(math.floor(abs(value) * scale + 0.5) / scale, value))


def too_few(tasks: int) -> str:
    """Say that not enough tasks inform a test."""
    return f"{tasks} tasks inform it, and {LEAST} are needed."
