"""Words that several sections of a card have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from passk_py.common.markdown import name
from passk_py.common.words import and_list, plural
from passk_py.metrics.diagnostic_words import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]


def trust_of(diagnostics: Sequence[Row]) -> str:
    """Say which diagnostics warn, and how many have nothing to go by."""
    if not diagnostics:
        return "not known whether it can be trusted, because there are no diagnostics."
    warned = [row["diagnostic"] for row in diagnostics if row["verdict"] == "warning"]
    unknown = sum(row["verdict"] in UNKNOWN for row in diagnostics)
    said = "no warning"
    if warned:
        said = f"{plural(len(warned), 'warning')}, {and_list(warned, most=len(warned))}"
    if unknown:
        said += f"; {unknown} of {len(diagnostics)} diagnostics can't be known from it"
    return f"{said}."


def named(value: str | None) -> str:
    """Write a name, or that none was recorded."""
    return "not recorded" if value is None else name(value, whole=True)


def time_of(moment: str) -> str:
    """Write a time to the second."""
    return f"{moment[:10]} {moment[11:19]} UTC"
