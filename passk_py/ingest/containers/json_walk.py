"""The rows of one large JSON document, wherever in it they are, one at a time.

Harnesses write a result file as one object with the attempts in a list somewhere inside. Only the
levels above the rows are looked at here; a row is handed on as bytes, and at most one is held in
memory. Where a row ends is guessed from how the file is written and proved by decoding it, because
a JSON object can't be the beginning of a longer one; what can't be decoded is measured bracket by
bracket, so that a row that is broken inside is found and the rows after it are still read.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Any, Final, Self

from passk_py.ingest.containers.json_buffer import KEPT, QUOTED, Element, JsonBuffer
from passk_py.ingest.containers.lines import MAX_RECORD_BYTES
from passk_py.ingest.containers.open_bytes import BOM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

EACH: Final = "*"
"""In the path to the rows: every element of a list, or every value of an object."""


class Names(str):
    """In the path to the rows: every value of an object that has one of several names."""

    __slots__ = ("_match",)
    _match: Callable[[str], re.Match[str] | None]

    def __new__(cls, text: str, names: Iterable[str]) -> Self:
        """Make it of names, in which ``*`` is any text; ``text`` is how they are written."""
        made = super().__new__(cls, text)
        each = "|".join(re.escape(name).replace(r"\*", ".*") for name in names)
        made._match = re.compile(each or "(?!)", re.DOTALL).fullmatch
        return made

    def fits(self, name: str) -> bool:
        """Tell whether a name is one of these."""
        return self._match(name) is not None


def fits(step: str, name: str) -> bool:
    """Tell whether a step of the path leads into a value of this name."""
    return step.fits(name) if isinstance(step, Names) else step in (EACH, name)


def is_level(step: str) -> bool:
    """Tell whether a step of the path may lead into several values."""
    return step == EACH or isinstance(step, Names)


_GUESSES: Final = 4
_LOOKS: Final = 32
# How far a row's end is looked for, at least, and how often that may be in vain: each success makes
# up for a part of a failure.
_REACH: Final = 256 << 10
_MOST_MISSES: Final = 8
_GAIN: Final = 0.1
# The value of the first name, if it is a short plain one, and the second name.
_LONGEST_VALUE: Final = 1000
_SECOND_KEY: Final = re.compile(
    rb'\s*(?:"(?:[^"\\]|\\.){0,500}"|[-+.\w]{1,100})\s*,\s*("(?:[^"\\]|\\.){0,200}"\s*:)', re.DOTALL
)
_FIRST_KEY: Final = re.compile(rb"\{\s*" + QUOTED + rb"\s*:")


class JsonWalk(JsonBuffer):
    """A walk over one JSON document.

    The path has the names that lead to the rows, and :data:`EACH` or :class:`Names` for every
    element or member; it is empty where the document itself is the row. ``decode`` makes a value of
    the bytes of a row, and raises ValueError if they are no JSON, TypeError if they are JSON of an
    unexpected shape: both are left to the caller's second look. Values at the paths in ``wanted``
    are kept as bytes in ``heads`` when they are met, which may be after the rows. ``begun`` is what
    has been read from the file already.
    """

    def __init__(
        self,
        file: IO[bytes],
        path: tuple[str, ...],
        decode: Callable[[bytes], Any],
        wanted: frozenset[tuple[str, ...]] = frozenset(),
        begun: bytes = b"",
    ) -> None:
        super().__init__(file, begun)
        self.heads: dict[tuple[str, ...], bytes] = {}
        self._path = path
        self._keys: list[str | int] = [""] * len(path)
        self._decode = decode
        self._wanted = wanted
        self._misses = 0.0
        self._longest = 0

    def rows(self) -> Iterator[Element]:
        """Give the rows of the file; where it is cut off or broken, the last is a fault."""
        if not self._data:
            self._more()
        self._data = self._data.removeprefix(BOM)
        if self._path:
            for element in self._value((), 0):
                element.keys = tuple(self._keys)
                yield element
        elif self._here():
            yield self._row((), 0)
        if not self._cut and self._here(commas=False):
            yield self._broken("There is something after the end of the document.")

    def _value(self, names: tuple[str, ...], depth: int) -> Iterator[Element]:
        """Go into the value that comes next: it is above the rows."""
        first = self._here()
        step = self._path[depth]
        if not first:
            yield self._truncated()
        elif first == b"{":
            yield from self._object(names, depth)
        elif first == b"[" and step == EACH:
            yield from self._list(names, depth)
        else:
            where = ".".join(names) or "The document"
            kind = "a list" if first == b"[" else "neither an object nor a list"
            fault = ("malformed_line", f"{where} is {kind}, in which no attempts can be found.")
            data, problem = self._take()
            yield problem or Element(data[:KEPT], names, fault=fault)

    def _list(self, names: tuple[str, ...], depth: int) -> Iterator[Element]:
        self._at += 1
        place = -1
        while not self._cut:
            first = self._here()
            if not first:
                yield self._truncated()
            elif first == b"]":
                self._at += 1
                return
            elif first == b"}":
                yield self._broken("A list ends with }.")
            else:
                self._keys[depth] = place = place + 1
                if depth + 1 == len(self._path):
                    yield self._row(names, place)
                else:
                    yield from self._value(names, depth + 1)

    def _members(self) -> Iterator[str | Element]:
        """Go into an object; give the name before each value, or at last what is wrong."""
        self._at += 1
        while not self._cut:
            first = self._here()
            if first == b"}":
                self._at += 1
                return
            yield self._name() if first else self._truncated()

    def _object(self, names: tuple[str, ...], depth: int) -> Iterator[Element]:
        place = 0
        step = self._path[depth]
        for name in self._members():
            if isinstance(name, Element):
                yield name
                return
            inside = (*names, name)
            if not fits(step, name):
                if problem := self._beside(inside):
                    yield problem
                continue
            self._keys[depth] = name
            if depth + 1 == len(self._path):
                if not self._here():
                    yield self._truncated()
                    return
                yield self._row(inside, place)
                place += 1
            else:
                yield from self._value(inside, depth + 1)

    def _beside(self, names: tuple[str, ...]) -> Element | None:
        """Pass over a value that holds no rows, and keep it if it is wanted."""
        first = self._here()
        if not first:
            return self._truncated()
        inner = any(path[: len(names)] == names and len(path) > len(names) for path in self._wanted)
        if inner and first == b"{":
            return self._inside(names)
        wanted = names in self._wanted
        if first in b"{[" and not wanted:
            self._skip(0)
            return self._truncated() if self._cut else None
        data, problem = self._take()
        if wanted and problem is None:
            self.heads[names] = data
        return problem if self._cut else None

    def _inside(self, names: tuple[str, ...]) -> Element | None:
        """Look for wanted values in an object that holds no rows."""
        for name in self._members():
            problem = name if isinstance(name, Element) else self._beside((*names, name))
            if problem:
                return problem
        return None

    def _row(self, names: tuple[str, ...], place: int) -> Element:
        if guessed := self._guessed(names, place):
            return guessed
        data, problem = self._take()
        if problem:
            problem.names, problem.place = names, place
            return problem
        self._longest = max(self._longest, len(data))
        element = Element(data, names, place)
        try:
            element.value = self._decode(data)
        except (TypeError, ValueError, RecursionError):
            element.value = None
        return element

    def _guessed(self, names: tuple[str, ...], place: int) -> Element | None:
        """Guess where a row ends and prove it; None if that does not work out."""
        if self._misses > _MOST_MISSES or self._data[self._at : self._at + 1] != b"{":
            return None
        reach = min(max(_REACH, 8 * self._longest), MAX_RECORD_BYTES)
        after = 1
        for _ in range(_GUESSES):
            end = self._candidate(after, reach)
            while end is None and len(self._data) - self._at <= reach and self._more():
                end = self._candidate(after, reach)
            if end is None:
                break
            data = self._data[self._at : end]
            try:
                value = self._decode(data)
            except TypeError:
                # JSON, but of another shape than expected: the caller takes a second look.
                value = None
            except (ValueError, RecursionError):
                after = end - self._at
                continue
            self._at = end
            self._longest = max(self._longest, len(data))
            # A file whose rows are seldom guessed is read without guessing, or it would be read
            # over and over.
            self._misses = max(0.0, self._misses - _GAIN)
            return Element(data, names, place, value)
        self._misses += 1
        return None

    def _candidate(self, after: int, reach: int) -> int | None:
        """Find where the row may end: before what looks like the start of another."""
        start = _FIRST_KEY.match(self._data, self._at)
        if start is None:
            return None
        # Objects inside of a row may begin as it does, but seldom with the same two names.
        second = _SECOND_KEY.match(self._data, start.end())
        following = self._at + after
        for _ in range(_LOOKS):
            following = self._data.find(start[0], following, self._at + reach)
            if following < 0:
                return None
            behind = following + len(start[0])
            if second is None:
                break
            other = _SECOND_KEY.match(self._data, behind)
            if other is None and len(self._data) - behind < _LONGEST_VALUE and not self._ended:
                # It may only be cut off.
                return None
            if other and other[1] == second[1]:
                break
            following = behind
        else:
            return None
        return self._data.rfind(b"}", self._at, following) + 1 or None
