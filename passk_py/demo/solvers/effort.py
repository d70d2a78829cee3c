"""What a solver gives back."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Effort"]


@dataclass(frozen=True, slots=True)
class Effort:
    """The end of a search.

    Parameters
    ----------
    output
        The answer as text, which may be wrong; null where the solver has none to give.
    steps
        How many steps the search took.
    finished
        Whether the solver stopped because it holds its answer to be right. That is what a next
        solver in line goes by; the verdict is the checker's.
    """

    output: str | None
    steps: int
    finished: bool
