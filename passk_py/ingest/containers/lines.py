"""Lines of a file with their numbers, in batches: the careful way to read.

DuckDB's own readers are faster, but they skip blank lines without counting them and give up at the
first line that they can't read. This reader loses nothing: each line comes out as text or as a
fault, in bounded memory whatever the file holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Final

from passk_py.ingest.containers.open_bytes import BOM, read_chunk

if TYPE_CHECKING:
    from collections.abc import Iterator

Row = tuple[int, str, "str | None", "str | None", bool]
"""A row as a batch has it: number, text, code, reason, whether the file ends within it."""

BATCH_BYTES: Final = 16 << 20
"""How much is read at a time. Planning the query of a batch costs as much as running a few MB."""

MAX_RECORD_BYTES: Final = 64 << 20
"""The longest row that is read. A longer one is rejected without being held in memory."""

_KEPT: Final = 20_000
_BLANK: Final = " \t\r\n"


@dataclass(slots=True)
class Batch:
    """Some rows of a file as text."""

    numbers: list[int] = field(default_factory=list)
    """The number of each row's line, or of the element, from 1."""
    texts: list[str] = field(default_factory=list)
    """The text of each row; as much of it as can be shown where ``codes`` has a fault."""
    codes: list[str | None] = field(default_factory=list)
    reasons: list[str | None] = field(default_factory=list)
    """Why the reader rejects a row, in a word and in a sentence; None where it does not."""
    ends: list[bool] = field(default_factory=list)
    """Whether the file ended within the row, before its end was seen."""

    def add(
        self, number: int, text: str, fault: tuple[str, str] | None = None, *, ends: bool = False
    ) -> None:
        """Append one row."""
        code, reason = fault or (None, None)
        self.numbers.append(number)
        self.texts.append(text)
        self.codes.append(code)
        self.reasons.append(reason)
        self.ends.append(ends)

    def rows(self) -> Iterator[Row]:
        """Give row by row what is known of each."""
        return zip(self.numbers, self.texts, self.codes, self.reasons, self.ends, strict=True)

    def __len__(self) -> int:
        return len(self.numbers)


def decode(data: bytes) -> tuple[str, tuple[str, str] | None]:
    """Decode one row; of bytes that are not UTF-8, give what can be shown, and the fault."""
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError as error:
        return data.decode("utf-8", "backslashreplace"), not_utf8(error)


def not_utf8(error: UnicodeDecodeError) -> tuple[str, str]:
    """Give the fault of a row that is not UTF-8."""
    byte, place = error.object[error.start], error.start + 1
    return "invalid_utf8", f"The row is not valid UTF-8: byte 0x{byte:02x} at position {place}."


def too_long(size: int, what: str = "row") -> tuple[str, str]:
    """Give the fault of a row that is too long to be looked into."""
    return (
        "field_too_large",
        f"The {what} has more than {size} bytes; at most {MAX_RECORD_BYTES} are allowed.",
    )


def read_lines(file: IO[bytes], newline: bytes = b"\n", *, exact: bool = False) -> Iterator[Batch]:
    """Read a file line by line; blank lines and carriage returns only where ``exact``."""
    carry, number, first = b"", 1, True
    while chunk := read_chunk(file, BATCH_BYTES):
        if first:
            chunk, first = chunk.removeprefix(BOM), False
        carry += chunk
        end = carry.rfind(newline) + 1
        if end:
            batch, number = _split(carry[:end], number, newline, exact=exact)
            carry = carry[end:]
            yield batch
        elif len(carry) > MAX_RECORD_BYTES:
            batch = Batch()
            batch.add(number, decode(carry[:_KEPT])[0], too_long(MAX_RECORD_BYTES, "line"))
            yield batch
            number, carry = number + 1, _skip_line(file, newline)
    end = carry.rfind(newline) + 1
    last, number = _split(carry[:end], number, newline, exact=exact)
    carry = carry[end:]
    if chunk is None:
        cut_off = "The compressed file ends too early; it is cut off."
        last.add(number, decode(carry)[0], ("truncated", cut_off), ends=True)
    elif carry.strip():
        text, fault = decode(carry)
        last.add(number, text if exact else text.rstrip("\r"), fault, ends=True)
    if len(last):
        yield last


def raw_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Give the lines of a file that are not too long as bytes, for a look before they are read."""
    carry = b""
    while chunk := read_chunk(file, BATCH_BYTES):
        *lines, last = chunk.split(b"\n")
        if lines:
            yield carry + lines[0]
            yield from lines[1:]
            carry = last
        else:
            carry += last
        if len(carry) > MAX_RECORD_BYTES:
            *lines, carry = _skip_line(file, b"\n").split(b"\n")
            yield from lines
    yield carry


def _skip_line(file: IO[bytes], newline: bytes) -> bytes:
    """Read to the end of the line and give what follows it."""
    while chunk := read_chunk(file, BATCH_BYTES):
        end = chunk.find(newline)
        if end >= 0:
            return chunk[end + 1 :]
    return b""


def _split(block: bytes, number: int, newline: bytes, *, exact: bool) -> tuple[Batch, int]:
    """Split what ends with a line's end into lines."""
    batch = Batch()
    lines: list[tuple[str, tuple[str, str] | None]]
    try:
        lines = [(text, None) for text in block.decode("utf-8").split(newline.decode())]
    except UnicodeDecodeError:
        lines = [decode(line) for line in block.split(newline)]
    for place, (text, fault) in enumerate(lines[:-1], number):
        if exact or text.strip(_BLANK):
            batch.add(place, text if exact else text.rstrip("\r"), fault)
    return batch, number + len(lines) - 1
