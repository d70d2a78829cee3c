"""Where reliability is lost, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from passk_py.common.words import and_list, percent, plain, plural, symbol

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]

_MOST_RUNS: Final = 4
_SAID: Final = {
    "agent": "is the agent's",
    "environment": "is the environment's",
    "grader": "is the grader's",
    "limit": "hits a limit",
    "unknown": "has an unknown cause",
    "user_simulator": "is the user simulator's",
}


def cause_name(part: str) -> str:
    """Say a cause: a name from the var ``passk_causes`` stays as it is."""
    return "user simulator" if part == "user_simulator" else part


def loss_sentences(runs: Sequence[Sequence[Row]], *, of_several: bool) -> list[str]:
    """Say whose doing it is that runs lack pass^k, where failures have more than one cause.

    Each run is its rows of ``passk_lost_reliability`` at one k that lose anything, the largest
    first. The last runs are said; ``of_several`` names even a single one.
    """
    mixed = [rows for rows in runs if len(rows) > 1]
    said = mixed[-_MOST_RUNS:]
    sentences = [_sentence(rows, is_named=of_several) for rows in said]
    if len(mixed) > len(said):
        left = plural(len(mixed) - len(said), "other run")
        sentences.append(f"{left} in passk_lost_reliability.")
    return sentences


def _sentence(rows: Sequence[Row], *, is_named: bool) -> str:
    hat = symbol("pass_hat_k", rows[0]["k"])
    of = f"the {hat} that {plain(rows[0]['run_id'])} lacks" if is_named else f"the lost {hat}"
    shares = and_list(
        f"{percent(row['lost_share'])}% {_SAID.get(row['part']) or 'is of ' + plain(row['part'])}"
        for row in rows
    )
    return f"Of {of}, {shares}."
