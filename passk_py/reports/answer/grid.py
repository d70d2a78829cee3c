"""The k of the grid for which a table on a terminal has room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from passk_py.reports.answer.answer_facts import Suite

_MOST: Final = 7


def shown_ks(suite: Suite, deployment_k: int, *, most: int = _MOST) -> list[int]:
    """Choose at least three k with a value, thinned where they stand closest."""
    known = [k for k in suite.ks if any(run.pass_at_k.get(k) is not None for run in suite.runs)]
    ks = sorted({*known, deployment_k} if deployment_k in suite.ks else known)
    while len(ks) > max(3, min(most, _MOST)):
        inner = [place for place in range(1, len(ks) - 1) if ks[place] != deployment_k]
        closest = min(inner, key=lambda place: ks[place + 1] / ks[place - 1])
        del ks[closest]
    return ks
