"""The aim of the next run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from passk_py.metrics.frames import DEFAULT_KS
from passk_py.stats.estimators.arguments import ArgumentError, checked_confidence, checked_counts

DEFAULT_ATTEMPTS: Final = (1, 2, 4, 8, 16, 32)
"""The attempts per task that are planned when none are given: the var ``passk_plan_attempts``."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The aim of the next run, checked."""

    ks: tuple[int, ...] = DEFAULT_KS
    attempts: tuple[int, ...] = DEFAULT_ATTEMPTS
    width: float = 0.1
    difference: float = 0.05
    power: float = 0.8
    confidence: float = 0.95

    def __post_init__(self) -> None:
        for name in ("ks", "attempts"):
            chosen = checked_counts("plan", name, getattr(self, name))
            object.__setattr__(self, name, tuple(chosen))
        for name, low in (("width", 0.0), ("difference", 0.0), ("power", 0.5)):
            value = getattr(self, name)
            if isinstance(value, bool) or not low < value < 1.0:
                raise ArgumentError(
                    f"plan: {name} must be a number between {low:g} and 1; got {value!r}"
                )
        checked_confidence("plan", self.confidence)

    def grid(self) -> list[tuple[int, int]]:
        """Give every k with the attempts per task that are enough for it."""
        return [(k, n) for k in self.ks for n in self.attempts if n >= k]
