"""Trends from run to run, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from passk_py.common.words import plain, points, symbol

if TYPE_CHECKING:
    from collections.abc import Sequence


def trend_sentences(trends: Sequence[dict[str, Any]]) -> list[str]:
    """Say how pass^k of agents rises or falls, from rows of ``passk_trends`` at one k.

    Falls come first, the steepest of them at the start.
    """
    return [_sentence(row) for row in sorted(trends, key=lambda row: row["slope"])]


def _sentence(row: dict[str, Any]) -> str:
    whose = f"{plain(row['agent'])}: " if row["agent"] is not None else ""
    moves = "falls" if row["slope"] < 0 else "rises"
    least, most = sorted(abs(row[f"slope_{end}"]) for end in ("lower", "upper"))
    left_out = row["left_out_runs"]
    runs = f"{row['runs']} of " if left_out else ""
    return (
        f"{whose}{symbol('pass_hat_k', row['k'])} {moves} by {points(row['slope'])} a run over "
        f"{runs}the last {row['runs'] + left_out} runs ({100 * least:.1f} to {100 * most:.1f})."
    )
