"""Places in an unknown document at which its rows may be."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.json_walk import EACH, Names, fits
from passk_py.ingest.formats.mappings.row_values import are_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from passk_py.ingest.containers.shape import Json
    from passk_py.ingest.formats.mappings.mapping_rows import Path

_DEEPEST: Final = 6
_MOST_NAMES: Final = 200
_MOST_LISTS: Final = 12
_PARTS: Final = re.compile(
    r"(check|step|assertion|criteri|message|event|metric)[a-z]*", re.IGNORECASE
)
"""Names of lists whose elements are parts of a try."""
_MOST_PATHS: Final = 100
_NO_GROUP: Final = re.compile(r"pass[@^]|.*\|", re.IGNORECASE | re.DOTALL)
"""Names of metrics over all tries, and names that ``rows`` would part in two."""
_NUMBER: Final = re.compile(r"(.*?)\d+(.*)", re.DOTALL)
_PLAIN: Final = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


def row_lists(value: Json) -> Iterator[Path]:
    """Give the paths to all that may be rows: elements of lists, members of keyed objects."""
    return itertools.islice(_paths(value, ()), _MOST_PATHS)


def _paths(value: Json, above: Path) -> Iterator[Path]:
    if len(above) >= _DEEPEST or not value:
        return
    if isinstance(value, list):
        yield (*above, EACH)
        yield from _paths(next((one for one in value if one), None), (*above, EACH))
    elif isinstance(value, dict):
        together = _together(value)
        for step in together:
            yield (*above, step)
            yield from _paths(
                next((one for name, one in value.items() if one and fits(step, name)), None),
                (*above, step),
            )
        for name, inner in itertools.islice(value.items(), _MOST_NAMES):
            is_part = isinstance(inner, list) and _PARTS.fullmatch(name)
            if is_part or any(fits(step, name) for step in together):
                continue
            if isinstance(inner, dict | list):
                yield from _paths(inner, (*above, name))


def _together(value: dict[str, Any]) -> list[str]:
    """Give the steps that lead into several members, where members belong together."""
    members = list(value.values())
    if (
        sum(member is not None for member in members) > 1
        and _alike(members)
        and (type(members[0]) is not str or are_words(members))
    ):
        return [EACH]
    lists = {name: one for name, one in value.items() if isinstance(one, list) and one}
    found: list[str] = []
    if 1 < len(lists) <= _MOST_LISTS and _alike([one[0] for one in lists.values()]):
        found += _union(list(lists))
    groups: dict[tuple[str, str], list[str]] = {}
    for name in value:
        if (number := _NUMBER.fullmatch(name)) and not _NO_GROUP.match(name):
            groups.setdefault((number[1], number[2]), []).append(name)
    for (start, end), names in groups.items():
        if len(names) > 1 and _alike([value[name] for name in names]):
            every = Names(f"{start}{EACH}{end}", [f"{start}{EACH}{end}"])
            # Others, such as run_id, may fit too.
            only = [name for name in value if every.fits(name)] == names
            found += [every] if only else _union(names)
    return found


def _union(names: list[str]) -> list[str]:
    """Write the step that leads into members of these names, if they need no quotes."""
    plain = all(map(_PLAIN.fullmatch, names))
    return [Names("|".join(names), names)] if plain else []


def _alike(values: list[Any]) -> bool:
    """Tell whether values are of one kind: all flags, say, or objects that share most names."""
    some = [value for value in values if value is not None]
    kinds = {float if type(value) is int else type(value) for value in some}
    if kinds == {list}:
        return _alike([value[0] for value in some if value])
    if kinds == {dict}:
        names = [set(value) for value in some[:_MOST_NAMES] if value]
        shared = set.intersection(*names) if names else set()
        return 2 * len(shared) >= max(map(len, names), default=1)
    return len(kinds) == 1
