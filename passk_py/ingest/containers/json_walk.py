"""The rows of one large JSON document, wherever in it they are, one at a time.

Harnesses write a result file as one object with the attempts in a list somewhere inside. Only the
levels above the rows are looked at here; a row is handed on as bytes, and at most one is held in
memory. Where a row ends is guessed from how the file is written and proved by decoding it, because
a JSON object can't be the beginning of a longer one; what can't be decoded is measured bracket by
bracket, so that a row that is broken inside is found and the rows after it are still read.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.lines import MAX_RECORD_BYTES, too_long
from passk_py.ingest.containers.open_bytes import BOM, read_chunk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["EACH", "Element", "JsonWalk"]

EACH: Final = "*"
"""In the path to the rows: every element of a list, or every value of an object."""

_CHUNK: Final = 4 << 20
_LONGEST_NAME: Final = 4 << 20
_GUESSES: Final = 4
_LOOKS: Final = 32
# How far a row's end is looked for, at least, and how often that may be in vain: each success makes
# up for a part of a failure.
_REACH: Final = 256 << 10
_MOST_MISSES: Final = 8
_GAIN: Final = 0.1
_KEPT: Final = 20_000
# Of the row in which a file ends, more is kept: formats are told by the keys of the first row.
_CUT_OFF: Final = 1 << 20
# Only sets are possessive, because Python before 3.11.5 matches possessive groups wrongly (its
# issue 106052). Groups step back over their match at most once: no step back lets the rest match.
_PLAIN: Final = rb'[^"\\]*+(?:\\.[^"\\]*+)*'
_QUOTED: Final = rb'"' + _PLAIN + rb'"'
_BETWEEN: Final = re.compile(rb"[\s,]*+")
_STRING: Final = re.compile(_QUOTED, re.DOTALL)
_INSIDE: Final = re.compile(rb'[^"{}\[\]]*+(?:' + _QUOTED + rb'[^"{}\[\]]*+)*', re.DOTALL)
_LOOSE: Final = re.compile(rb'[^",\]}{\[]*+(?:' + _QUOTED + rb'[^",\]}{\[]*+)*', re.DOTALL)
_IN_STRING: Final = re.compile(_PLAIN, re.DOTALL)
_SPACES: Final = re.compile(rb"[ \t\r\n]*+")
# The value of the first name, if it is a short plain one, and the second name.
_LONGEST_VALUE: Final = 1000
_SECOND_KEY: Final = re.compile(
    rb'\s*(?:"(?:[^"\\]|\\.){0,500}"|[-+.\w]{1,100})\s*,\s*("(?:[^"\\]|\\.){0,200}"\s*:)', re.DOTALL
)
_FIRST_KEY: Final = re.compile(rb"\{\s*" + _QUOTED + rb"\s*:")


@dataclass(slots=True)
class Element:
    """A row as bytes.

    Parameters
    ----------
    data
        Its JSON; the start of it where ``fault`` is set.
    names
        The names of the members that lead to it, from the outside in; an element of a list has
        none.
    place
        Its place within the innermost list or object, from 0.
    value
        What ``decode`` made of it; None where it failed.
    fault
        Why it can't be a row: a code and a sentence.
    """

    data: bytes
    names: tuple[str, ...] = ()
    place: int = 0
    value: Any = None
    fault: tuple[str, str] | None = None


@dataclass(slots=True)
class JsonWalk:
    """A walk over one JSON document.

    Parameters
    ----------
    file
        The file's bytes.
    path
        The names that lead to the rows; :data:`EACH` for every element or member. Empty where
        the document itself is the row.
    decode
        Makes a value of the bytes of a row; raises ValueError if they are no JSON, TypeError if
        they are JSON of an unexpected shape. Both are left to the caller's second look.
    wanted
        Paths of other values that are to be kept, as bytes, in ``heads``.
    begun
        The first bytes of the document, where they have been read from the file already.

    Attributes
    ----------
    heads
        The wanted values that were met so far. They may come after the rows.
    """

    file: IO[bytes]
    path: tuple[str, ...]
    decode: Callable[[bytes], Any]
    wanted: frozenset[tuple[str, ...]] = frozenset()
    begun: bytes = b""
    heads: dict[tuple[str, ...], bytes] = field(default_factory=dict)
    _data: bytes = b""
    _at: int = 0
    _ended: bool = False
    _cut: bool = False
    _misses: float = 0.0
    _longest: int = 0

    def rows(self) -> Iterator[Element]:
        """Give the rows in the order of the file.

        Yields
        ------
        Element
            A row, or a fault in its place. A document that is cut off or broken above its rows
            ends with an element with the fault ``truncated`` or ``malformed_line``.
        """
        self._data = self.begun
        if not self._data:
            self._more()
        self._data = self._data.removeprefix(BOM)
        if self.path:
            yield from self._value((), 0)
        elif self._here():
            yield self._row((), 0)
        if not self._cut and self._here(commas=False):
            yield self._broken("There is something after the end of the document.")

    # What follows is a reader over a buffer: _data[_at:] is what has not been looked at yet.

    def _more(self) -> bool:
        """Drop what is behind and read on; false at the end of the file."""
        chunk = b""
        if not self._ended:
            piece = read_chunk(self.file, _CHUNK)
            chunk = piece or b""
            self._ended = not chunk
        self._data = self._data[self._at :] + chunk
        self._at = 0
        return not self._ended

    def _here(self, *, commas: bool = True) -> bytes:
        """Skip to the next thing that is no space, and no comma if those are skipped too."""
        while True:
            match = _BETWEEN.match(self._data, self._at)
            end = match.end() if match else self._at
            if not commas:
                rest = self._data[self._at : end]
                end = self._at + len(rest) - len(rest.lstrip(b" \t\r\n"))
            self._at = end
            if end < len(self._data) or not self._more():
                return self._data[self._at : self._at + 1]

    def _broken(self, reason: str) -> Element:
        self._cut = True
        data = self._data[self._at : self._at + _KEPT]
        return Element(data, fault=("malformed_line", reason))

    def _truncated(self, data: bytes = b"") -> Element:
        self._cut = True
        reason = "The file ends before its JSON does; it is cut off."
        return Element(data, fault=("truncated", reason))

    def _value(self, names: tuple[str, ...], depth: int) -> Iterator[Element]:
        """Go into the value that comes next: it is above the rows."""
        first = self._here()
        step = self.path[depth]
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
            yield problem or Element(data[:_KEPT], names, fault=fault)

    def _list(self, names: tuple[str, ...], depth: int) -> Iterator[Element]:
        self._at += 1
        place = 0
        while not self._cut:
            first = self._here()
            if not first:
                yield self._truncated()
            elif first == b"]":
                self._at += 1
                return
            elif first == b"}":
                yield self._broken("A list ends with }.")
            elif depth + 1 == len(self.path):
                yield self._row(names, place)
                place += 1
            else:
                yield from self._value(names, depth + 1)

    def _object(self, names: tuple[str, ...], depth: int) -> Iterator[Element]:
        self._at += 1
        place = 0
        step = self.path[depth]
        while not self._cut:
            first = self._here()
            if not first:
                yield self._truncated()
                return
            if first == b"}":
                self._at += 1
                return
            name = self._name()
            if isinstance(name, Element):
                yield name
                return
            inside = (*names, name)
            if step not in (EACH, name):
                if problem := self._beside(inside):
                    yield problem
            elif depth + 1 == len(self.path):
                if not self._here():
                    yield self._truncated()
                    return
                yield self._row(inside, place)
                place += 1
            else:
                yield from self._value(inside, depth + 1)

    def _name(self) -> str | Element:
        """Read the name of a member and its colon, or say what is there instead."""
        while True:
            match = _STRING.match(self._data, self._at)
            rest = _SPACES.match(self._data, match.end()) if match else None
            after = self._data[rest.end() : rest.end() + 1] if rest else b""
            if match and rest and after == b":":
                self._at = rest.end() + 1
                try:
                    return str(json.loads(match[0]))
                except ValueError:
                    return match[0][1:-1].decode("utf-8", "backslashreplace")
            if after or self._data[self._at : self._at + 1] != b'"':
                return self._broken("There is something else where a name and a colon should be.")
            if len(self._data) - self._at > _LONGEST_NAME:
                return self._broken(f"A name has more than {_LONGEST_NAME} bytes.")
            if not self._more():
                return self._truncated()

    def _beside(self, names: tuple[str, ...]) -> Element | None:
        """Pass over a value that holds no rows, and keep it if it is wanted."""
        first = self._here()
        if not first:
            return self._truncated()
        inner = any(path[: len(names)] == names and len(path) > len(names) for path in self.wanted)
        if inner and first == b"{":
            return self._inside(names)
        if names in self.wanted:
            data, problem = self._take()
            if problem is None:
                self.heads[names] = data
            return problem if self._cut else None
        if first in b"{[":
            self._skip(0)
            return self._truncated() if self._cut else None
        problem = self._take()[1]
        return problem if self._cut else None

    def _inside(self, names: tuple[str, ...]) -> Element | None:
        """Look for wanted values in an object that holds no rows."""
        self._at += 1
        while True:
            first = self._here()
            if not first:
                return self._truncated()
            if first == b"}":
                self._at += 1
                return None
            name = self._name()
            if isinstance(name, Element):
                return name
            if problem := self._beside((*names, name)):
                return problem

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
            element.value = self.decode(data)
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
                value = self.decode(data)
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

    def _take(self) -> tuple[bytes, Element | None]:
        """Take the value that comes next by its brackets and quotes."""
        first = self._data[self._at : self._at + 1]
        if first not in b"{[":
            return self._take_loose()
        depth, scan = 0, self._at
        while True:
            match = _INSIDE.match(self._data, scan)
            scan = match.end() if match else scan
            bracket = self._data[scan : scan + 1]
            if bracket in (b"", b'"'):
                # The data ends, maybe within a string: read on and look at that string again.
                if len(self._data) - self._at > MAX_RECORD_BYTES:
                    return b"", self._too_long(depth, scan)
                scan -= self._at
                if not self._more():
                    return b"", self._truncated(self._data[self._at : self._at + _CUT_OFF])
                continue
            depth += 1 if bracket in (b"{", b"[") else -1
            scan += 1
            if depth == 0:
                data = self._data[self._at : scan]
                self._at = scan
                if len(data) > MAX_RECORD_BYTES:
                    return b"", Element(data[:_KEPT], fault=too_long(MAX_RECORD_BYTES))
                return data, None

    def _take_loose(self) -> tuple[bytes, Element | None]:
        """Take what is neither object nor list."""
        while True:
            match = _LOOSE.match(self._data, self._at)
            end = match.end() if match else self._at
            if self._data[end : end + 1] not in (b"", b'"'):
                break
            if len(self._data) - self._at > MAX_RECORD_BYTES:
                return b"", self._too_long(0, end)
            if not self._more():
                return b"", self._truncated(self._data[self._at : self._at + _CUT_OFF])
        if end == self._at:
            # A bracket that belongs to nothing would be met again and again.
            return b"", self._broken("There is a bracket where a value should be.")
        data = self._data[self._at : end]
        self._at = end
        return data.rstrip(), None

    def _too_long(self, depth: int, scan: int) -> Element:
        """Refuse a row and find its end without holding it."""
        kept = self._data[self._at : self._at + _KEPT]
        self._at = scan
        self._skip(depth)
        return Element(kept, fault=too_long(MAX_RECORD_BYTES))

    def _skip(self, depth: int) -> None:
        """Go behind the value that comes next, or that was begun ``depth`` brackets ago."""
        while True:
            match = _INSIDE.match(self._data, self._at)
            self._at = match.end() if match else self._at
            mark = self._data[self._at : self._at + 1]
            if mark in (b"", b'"'):
                # The data ends, maybe within a string: read on and look at that string again.
                if mark and len(self._data) - self._at > _CHUNK:
                    self._skip_string()
                elif not self._more():
                    self._cut = True
                if self._cut:
                    return
                continue
            depth += 1 if mark in b"{[" else -1
            if depth < 0:
                return
            self._at += 1
            if depth == 0:
                return

    def _skip_string(self) -> None:
        """Go behind a string that is longer than what is held of the file."""
        self._at += 1
        while True:
            match = _IN_STRING.match(self._data, self._at)
            self._at = match.end() if match else self._at
            if self._data[self._at : self._at + 1] == b'"':
                self._at += 1
                return
            # A backslash at the very end waits for the character that it escapes.
            if not self._more():
                self._cut = True
                return
