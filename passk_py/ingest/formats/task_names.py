"""Names of tasks, made of what a harness says at length."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from passk_py.ingest.formats.digests import short_digest

if TYPE_CHECKING:
    from collections.abc import Hashable

    from passk_py.ingest.containers.shape import Json

LONGEST_TASK: Final = 200

_UUID: Final = re.compile(
    r"(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])",
    re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"(?<!\d)\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?(?!\d)"
)
# Seconds or milliseconds since 1970, from 2015 to 2040.
_CLOCK: Final = re.compile(r"(?:1[4-9]|2[0-1])\d{8}(?:\d{3})?(?:\.\d+)?")
# More names than any log has; beyond them they are not compared any more.
_MOST_NAMES: Final = 1_000_000


@dataclass(slots=True)
class Names:
    """Finds out which names stand for more than one thing, in a log that is read twice."""

    _first: dict[int, int] = field(default_factory=dict)
    _unclear: set[int] = field(default_factory=set)

    def note(self, name: Hashable, thing: Hashable) -> None:
        """Note what a name stands for in a row. Only their hashes are kept."""
        if len(self._first) < _MOST_NAMES:
            key, value = hash(name), hash(thing)
            if self._first.setdefault(key, value) != value:
                self._unclear.add(key)

    def are_clear(self, name: Hashable) -> bool:
        """Tell whether a name stands for one thing only."""
        return hash(name) not in self._unclear


def shortened(name: str, most: int) -> str:
    """Make one line of a text, cut and with a digest if it is longer."""
    if len(name) <= most and "\n" not in name:
        return name
    digest = short_digest(name.encode("utf-8", "surrogatepass"))
    return f"{' '.join(name[:most].split())}~{digest}"


def without_ids(value: Json) -> Json:
    """Put ``<uuid>`` and ``<time>`` for UUIDs and times; RecursionError if nested too deep."""
    if isinstance(value, str):
        return (
            "<time>" if _CLOCK.fullmatch(value) else _TIME.sub("<time>", _UUID.sub("<uuid>", value))
        )
    if isinstance(value, dict):
        return {name: without_ids(one) for name, one in value.items()}
    if isinstance(value, list):
        return [without_ids(one) for one in value]
    if type(value) in (int, float) and _CLOCK.fullmatch(repr(value)):
        return "<time>"
    return value
