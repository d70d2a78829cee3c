"""The elements of a JSON list with their numbers, in batches, one level deep.

Only brackets and strings are looked at, so an element that is broken inside is found where its
brackets say that it ends, and the elements after it are still read. Nothing is parsed here and at
most one element is held in memory; DuckDB reads from its text what the format asks for.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Final

from passk_py.formats.source import BOM, read_chunk
from passk_py.landing.records import BATCH_BYTES, MAX_RECORD_BYTES, Batch, decode, too_long

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_elements"]

# Possessive: they can't backtrack, whatever the file holds.
_BETWEEN: Final = re.compile(rb"[\s,]*+")
_INSIDE: Final = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_LOOSE: Final = re.compile(rb'(?:[^",\]{\[]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_SKIPPED: Final = re.compile(rb'\\.|["{}\[\]]', re.DOTALL)
_KEPT: Final = 20_000


def read_elements(file: IO[bytes]) -> Iterator[Batch]:
    """Read the elements of a JSON list.

    Parameters
    ----------
    file
        The file's bytes; the list is all that it holds.

    Yields
    ------
    Batch
        The texts of elements. A list that does not end gives a last row with the fault
        ``truncated``.
    """
    reader = _Reader(file)
    while not reader.done:
        batch = Batch()
        size = 0
        while not reader.done and size < BATCH_BYTES:
            before = len(batch)
            reader.next_element(batch)
            size += sum(len(text) for text in batch.texts[before:])
        if len(batch):
            yield batch


class _Reader:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._data = b""
        self._at = 0
        self._number = 0
        self._ended = False
        self.done = False
        self._more()
        self._data = self._data.removeprefix(BOM)
        self._at = len(self._data) - len(self._data.lstrip())
        self._at += self._data[self._at : self._at + 1] == b"["

    def _more(self) -> bool:
        """Drop what is behind and read on; false at the end of the file."""
        chunk = b"" if self._ended else read_chunk(self._file, BATCH_BYTES) or b""
        self._ended = not chunk
        self._data = self._data[self._at :] + chunk
        self._at = 0
        return not self._ended

    def _here(self) -> bytes:
        """Skip to the next thing that is no space and no comma."""
        while True:
            self._at = _BETWEEN.match(self._data, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._data) or not self._more():
                return self._data[self._at : self._at + 1]

    def next_element(self, batch: Batch) -> None:
        """Add the next element, or what is wrong in its place."""
        first = self._here()
        if first == b"]":
            self._at += 1
            self._after_list(batch)
        elif not first:
            self.done = True
            self._number += 1
            reason = "The list does not end; the file is cut off."
            batch.add(self._number, "", ("truncated", reason))
        elif first in b"{[":
            self._value(batch)
        else:
            self._loose(batch)

    def _after_list(self, batch: Batch) -> None:
        self.done = True
        if self._here():
            self._number += 1
            rest = self._data[self._at : self._at + _KEPT]
            reason = "There is something after the end of the list."
            batch.add(self._number, decode(rest)[0], ("malformed_line", reason))

    def _value(self, batch: Batch) -> None:
        depth, scan = 0, self._at
        while True:
            scan = _INSIDE.match(self._data, scan).end()  # type: ignore[union-attr]
            bracket = self._data[scan : scan + 1]
            if bracket in (b"", b'"'):
                # The data ends, maybe within a string: read on and look at that string again.
                if scan - self._at > MAX_RECORD_BYTES or len(self._data) > 2 * MAX_RECORD_BYTES:
                    self._skip_value(batch, depth, scan)
                    return
                scan -= self._at
                if not self._more():
                    self._cut_off(batch)
                    return
                continue
            depth += 1 if bracket in (b"{", b"[") else -1
            scan += 1
            if depth == 0:
                self._take(batch, scan)
                return

    def _loose(self, batch: Batch) -> None:
        """Take what is neither object nor list; DuckDB says whether it is JSON at all."""
        while True:
            end = _LOOSE.match(self._data, self._at).end()  # type: ignore[union-attr]
            if self._data[end : end + 1] not in (b"", b'"'):
                self._take(batch, end)
                return
            if len(self._data) - self._at > MAX_RECORD_BYTES:
                self._skip_value(batch, 0, end)
                return
            if not self._more():
                self._cut_off(batch)
                return

    def _take(self, batch: Batch, end: int) -> None:
        self._number += 1
        text, fault = decode(self._data[self._at : end])
        batch.add(self._number, text, fault)
        self._at = end

    def _cut_off(self, batch: Batch) -> None:
        self.done = True
        self._number += 1
        text, fault = decode(self._data[self._at :])
        batch.add(self._number, text, fault, ends=True)

    def _skip_value(self, batch: Batch, depth: int, scan: int) -> None:
        """Refuse an element and find its end without holding it."""
        self._number += 1
        text, _ = decode(self._data[self._at : self._at + _KEPT])
        batch.add(self._number, text, too_long(MAX_RECORD_BYTES, "element"))
        self._at, in_string = scan, False
        while True:
            # A backslash at the very end waits for the character that it escapes.
            limit = len(self._data) - (self._data[-1:] == b"\\")
            for token in _SKIPPED.finditer(self._data, self._at, limit):
                mark = token[0]
                if mark == b'"':
                    in_string = not in_string
                elif not in_string and len(mark) == 1:
                    depth += 1 if mark in b"{[" else -1
                    if depth <= 0:
                        self._at = token.end() - (depth < 0)
                        return
            self._at = limit
            if not self._more():
                self.done = True
                return
