"""pass^k by the score that passes, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from passk_py.common.words import and_list, percent, plain, plural, symbol

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]

_MOST_RUNS: Final = 4
_MOST_THRESHOLDS: Final = 6


def threshold_sentences(runs: Sequence[Sequence[Row]]) -> list[str]:
    """Say pass^k of the last runs at each threshold: their rows by ``at_thresholds``."""
    scored = [rows for rows in runs if rows]
    said = [_sentence(rows) for rows in scored[-_MOST_RUNS:]]
    if len(scored) > len(said):
        said.append(f"{plural(len(scored) - len(said), 'other run')} in passk_threshold_metrics.")
    return said


def _sentence(rows: Sequence[Row]) -> str:
    first = rows[0]
    of = f"{symbol('pass_hat_k', first['k'])} of {plain(first['run_id'])}"
    if first["null_reason"] is not None:
        return f"{of} at thresholds of the score is not known: {first['null_reason']}."
    values = [f"{percent(row['pass_hat_k'])}% from {row['threshold']:g}" for row in rows]
    values[0] = f"{percent(first['pass_hat_k'])}% if a score passes from {first['threshold']:g} on"
    caveat = "" if first["caveat"] is None else f"; {first['caveat']}"
    return f"{of} is {and_list(values, most=_MOST_THRESHOLDS)}{caveat}."
