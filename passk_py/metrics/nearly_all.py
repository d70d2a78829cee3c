"""How many of a run's tasks another run must share for what holds of them to hold of its suite."""

from __future__ import annotations

from typing import Final

NEARLY_ALL_PERCENT: Final = 90
"""``scripts/written_macros.py`` writes it into the dbt project as a macro."""


def are_nearly_all(part: int, whole: int) -> bool:
    """Say whether so many tasks are enough of the whole, without a rounded share."""
    return part * 100 >= whole * NEARLY_ALL_PERCENT
