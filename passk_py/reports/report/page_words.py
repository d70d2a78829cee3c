"""Numbers and tones as the page writes them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.words import DASH, percents, plural, side_of_zero

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = dict[str, Any]

_TONES: Final = {
    "improvement": "good",
    "equivalent": "good",
    "regression": "bad",
    "inconclusive": "unsure",
    "insufficient": "unsure",
    "pass": "good",
    "fail": "bad",
    "warning": "bad",
    "ok": "good",
    "capable and consistent": "good",
    "capable but flaky": "unsure",
    "not capable": "bad",
}
"""The colour of each verdict; its words are beside the colour everywhere."""


def signed_points(row: Row, column: str, limits: str | None = None) -> str:
    """Write a difference in percentage points, with its limits."""
    if row[column] is None:
        return DASH
    low, high = (row[f"{limits or column}_{side}"] for side in ("lower", "upper"))
    if low is None or high is None:
        return _signed(row[column])
    ends = " to ".join(side_of_zero(end, _signed(end)) for end in (low, high))
    return f"{_signed(row[column])} ({ends})"


def _signed(share: float) -> str:
    text = f"{100 * share:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def unwarned(diagnostics: Iterable[Row]) -> str:
    """Say of diagnostics of which none warns how many could have."""
    verdicts = Counter(row["verdict"] for row in diagnostics)
    fine, short = verdicts["ok"], verdicts["insufficient"]
    if not fine and not short:
        return "No diagnostic applies to these runs."
    if not fine:
        return f"No diagnostic could warn: {plural(short, 'check')} had too little data."
    unable = f", and {short} had too little data to tell" if short else ""
    return f"No diagnostic warns: {plural(fine, 'check')} found nothing{unable}."


def limits_of(row: Row, metric: str) -> str:
    """Write the limits of a share in percent."""
    return percents(row[f"{metric}_lower"], row[f"{metric}_upper"])


def tone(said: str | None) -> str:
    """Name the tone of a verdict, a result or a reading."""
    return _TONES.get(said or "", "plain")


def tone_colour(said: str | None) -> str:
    """Name the colour of a tone."""
    found = tone(said)
    return "quiet" if found == "plain" else found
