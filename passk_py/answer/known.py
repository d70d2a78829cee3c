"""Runs and suites that are asked for by name: they are there, or it is said which are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.answer.words import no_such
from passk_py.errors import PasskError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["require_known"]


def require_known(kind: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse names that there are not.

    Parameters
    ----------
    kind
        ``run`` or ``suite``.
    given
        The names that are asked for.
    known
        The names that there are.

    Raises
    ------
    PasskError
        If one of the names is not known: it says which, what there is instead, and what shows all.

    Examples
    --------
    >>> require_known("run", ["new"], ["new", "old"])
    >>> require_known("run", ["nope", "new"], ["new", "old"])
    Traceback (most recent call last):
    passk_py.errors.PasskError: There is no run nope; there is new, old.
    `passk show passk_runs` shows all of them.
    """
    missing = [name for name in given if name not in known]
    if missing:
        raise PasskError(
            no_such(kind, missing, known), hint="`passk show passk_runs` shows all of them."
        )
