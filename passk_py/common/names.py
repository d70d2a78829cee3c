"""Names that users give: known, or an error that lists the known ones."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.common.words import and_list, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LISTED: Final = 5


def did_you_mean(given: Iterable[str], there: Iterable[str]) -> str:
    """Ask whether a near name was meant, after a blank; empty if none is near."""
    by_folded = {name.casefold(): name for name in there}
    near = [
        by_folded[found]
        for name in given
        for found in get_close_matches(name.casefold(), by_folded, n=1)
    ]
    if not near:
        return ""
    return f" Did you mean {and_list((plain(name) for name in dict.fromkeys(near)), word='or')}?"


def no_such(kind: str, given: Iterable[str], there: Sequence[str]) -> str:
    """Say that a name is unknown, and list the known ones."""
    some = [*map(plain, there[:_LISTED]), *(["..."] if there[_LISTED:] else [])]
    missing = list(given)
    named = and_list(map(plain, missing), word="or")
    known = f"the {kind}s are {', '.join(some)}" if some else f"there are no {kind}s"
    return f"There is no {kind} {named}; {known}.{did_you_mean(missing, there)}"


def require_known(
    kind: str, given: Iterable[str], known: Sequence[str], *, hint: str | None = None
) -> None:
    """Raise an error if a name is unknown."""
    missing = [name for name in given if name not in known]
    if not missing:
        return
    if not known:
        hint = "`passk load FILE` and `passk build` make some."
    elif hint is None and known[_LISTED:]:
        hint = "`passk show passk_runs` shows all of them."
    raise PasskError(no_such(kind, missing, known), hint=hint)
