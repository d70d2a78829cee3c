"""How long tasks may be, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from passk_py.common.words import plain, plural, symbol

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]

_MOST_RUNS: Final = 4


def horizon_sentences(horizons: Sequence[Row]) -> list[str]:
    """Say at which length pass^k of the last runs is one half: rows of ``passk_horizons``."""
    said = [f"{_sentence(row)}." for row in horizons[-_MOST_RUNS:]]
    if len(horizons) > len(said):
        said.append(f"{plural(len(horizons) - len(said), 'other run')} in passk_horizons.")
    return said


def length(value: float) -> str:
    """Write a length with three digits."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def length_limits(row: Row) -> str:
    """Write the limits of a horizon, of which those beyond all lengths are open."""
    lower, upper = row["horizon_lower"], row["horizon_upper"]
    if lower is None and upper is None:
        return "limits not known"
    if lower is None or upper is None:
        return f"{length(lower)} or more" if upper is None else f"{length(upper)} or less"
    return f"{length(lower)} to {length(upper)}"


def _sentence(row: Row) -> str:
    of = f"{symbol('pass_hat_k', row['k'])} of {plain(row['run_id'])}"
    if row["horizon"] is None:
        reason = row["null_reason"].removeprefix("pass^k ")
        if reason == row["null_reason"]:
            return f"The length at which {of} is one half is not known: {reason}"
        return f"{of} {reason}"
    name = plain(row["difficulty"])
    return f"{of} is one half at {name} {length(row['horizon'])} ({length_limits(row)})"
