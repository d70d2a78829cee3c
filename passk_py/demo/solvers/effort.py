"""The result of a solver."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Effort:
    """The end of a search."""

    output: str | None
    """The answer as text, which may be wrong; null where the solver has none to give."""
    steps: int
    finished: bool
    """Whether the solver holds its answer to be right; the verdict is the checker's."""
