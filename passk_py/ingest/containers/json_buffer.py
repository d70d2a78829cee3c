"""A JSON document as a buffer over its file: what comes next is taken or passed over, in order.

Nothing is decoded here but the names of members. A value is measured bracket by bracket, string by
string, so that one that is broken inside is found to its end.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import IO, Any, Final

from passk_py.ingest.containers.lines import MAX_RECORD_BYTES, too_long
from passk_py.ingest.containers.open_bytes import read_chunk

KEPT: Final = 20_000

_CHUNK: Final = 4 << 20
_LONGEST_NAME: Final = 4 << 20
# More is kept of the row in which a file ends: the keys of the first row identify the format.
_CUT_OFF: Final = 1 << 20
# Only sets are possessive, because Python before 3.11.5 matches possessive groups wrongly (its
# issue 106052). Groups step back over their match at most once: no step back lets the rest match.
_PLAIN: Final = rb'[^"\\]*+(?:\\.[^"\\]*+)*'
QUOTED: Final = rb'"' + _PLAIN + rb'"'

_BETWEEN: Final = re.compile(rb"[\s,]*+")
_STRING: Final = re.compile(QUOTED, re.DOTALL)
_INSIDE: Final = re.compile(rb'[^"{}\[\]]*+(?:' + QUOTED + rb'[^"{}\[\]]*+)*', re.DOTALL)
_LOOSE: Final = re.compile(rb'[^",\]}{\[]*+(?:' + QUOTED + rb'[^",\]}{\[]*+)*', re.DOTALL)
_IN_STRING: Final = re.compile(_PLAIN, re.DOTALL)
_SPACES: Final = re.compile(rb"[ \t\r\n]*+")


@dataclass(slots=True)
class Element:
    """A row as bytes."""

    data: bytes
    """Its JSON; the start of it where ``fault`` is set."""
    names: tuple[str, ...] = ()
    """The members that lead to it, from the outside in; an element of a list has none."""
    place: int = 0
    """Its place within the innermost list or object, from 0."""
    value: Any = None
    fault: tuple[str, str] | None = None
    keys: tuple[str | int, ...] = ()
    """The name or the place, from 0, that each step of the path to the rows led into."""


class JsonBuffer:
    """A document of which ``_data[_at:]`` is what has not been looked at yet."""

    def __init__(self, file: IO[bytes], begun: bytes = b"") -> None:
        self._file = file
        self._data = begun
        self._at = 0
        self._ended = False
        self._cut = False

    def _more(self) -> bool:
        """Drop what is behind and read on; false at the end of the file."""
        chunk = b"" if self._ended else read_chunk(self._file, _CHUNK) or b""
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
        data = self._data[self._at : self._at + KEPT]
        return Element(data, fault=("malformed_line", reason))

    def _truncated(self, data: bytes = b"") -> Element:
        self._cut = True
        reason = "The file ends before its JSON does; it is cut off."
        return Element(data, fault=("truncated", reason))

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
                    return b"", Element(data[:KEPT], fault=too_long(MAX_RECORD_BYTES))
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
        """Reject a row and find its end without holding it."""
        kept = self._data[self._at : self._at + KEPT]
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
