"""The rows of a CSV file with the numbers of their lines, in batches: the careful way to read."""

from __future__ import annotations

import csv
import sys
from collections import deque
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Final

from passk_py.ingest.containers.lines import BATCH_BYTES, MAX_RECORD_BYTES, Batch, read_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from passk_py.ingest.containers.lines import Row

_ROWS: Final = 20_000
# The rows of a quoted field that is never closed are given back to be read as rows of their own;
# the limit keeps that from holding the rest of a large file.
_MAX_LINES_OF_A_ROW: Final = 100_000


@dataclass(slots=True)
class TableBatch(Batch):
    """Some rows of a table."""

    columns: dict[int, list[str | None]] = field(default_factory=dict)
    """The values of each column that is kept, by its place; None in a row with a fault."""


class _Lines:
    """Physical lines with their numbers, which can be given back."""

    def __init__(self, file: IO[bytes], newline: bytes) -> None:
        self._read = (
            line for batch in read_lines(file, newline, exact=True) for line in batch.rows()
        )
        self._waiting: deque[Row] = deque()
        self.taken: list[Row] = []
        self.size = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._waiting.popleft() if self._waiting else next(self._read)
        self.taken.append(line)
        self.size += len(line[1])
        if self.size > MAX_RECORD_BYTES or len(self.taken) > _MAX_LINES_OF_A_ROW:
            raise csv.Error("a quoted field that does not end")
        return line[1] + "\n"

    def give_back_all_but_first(self) -> None:
        self._waiting.extendleft(reversed(self.taken[1:]))
        del self.taken[1:]

    def start_row(self) -> None:
        self.taken.clear()
        self.size = 0


def read_table(
    file: IO[bytes], *, width: int, kept: Collection[int], delimiter: str, newline: bytes = b"\n"
) -> Iterator[TableBatch]:
    """Read a CSV table of ``width`` columns below its header; ``kept`` are places of columns."""
    # A row with too few or too many fields, or with a quoted field that does not end, has a fault,
    # and the lines after it are read as rows of their own.
    # For all of Python, hence only ever raised: a field may be as long as a row.
    csv.field_size_limit(max(csv.field_size_limit(), min(sys.maxsize, 2 * MAX_RECORD_BYTES)))
    lines = _Lines(file, newline)
    for row in _rows(lines, delimiter):
        if row.error or any(value.strip() for value in row.values):
            break  # the header, which may follow blank lines
    batch, size = _new(kept), 0
    for row in _rows(lines, delimiter):
        if _is_blank(row, lines.taken, delimiter):
            continue
        _add(batch, row, lines, width)
        size += len(batch.texts[-1])
        if len(batch) >= _ROWS or size >= BATCH_BYTES:
            yield batch
            batch, size = _new(kept), 0
    if len(batch):
        yield batch


def _new(kept: Collection[int]) -> TableBatch:
    return TableBatch(columns={place: [] for place in kept})


@dataclass(slots=True)
class _Row:
    values: list[str]
    error: str = ""


def _rows(lines: _Lines, delimiter: str) -> Iterator[_Row]:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        lines.start_row()
        try:
            yield _Row(next(reader))
        except StopIteration:
            return
        except csv.Error as error:
            yield _Row([], str(error))
            reader = csv.reader(lines, delimiter=delimiter, strict=True)


def _is_blank(row: _Row, taken: list[Row], delimiter: str) -> bool:
    _, text, code, _, _ = taken[0]
    # Tabs alone are a row of empty fields where they separate fields, as commas alone are.
    return (
        len(taken) == 1
        and not row.error
        and not code
        and delimiter not in text
        and not text.strip(" \t\r")
    )


def _add(batch: TableBatch, row: _Row, lines: _Lines, width: int) -> None:
    taken = lines.taken
    number = taken[0][0]
    fault = _fault(row, taken, width)
    if fault:
        # The other lines may be rows even if the first was no row.
        lines.give_back_all_but_first()
    batch.add(number, "\n".join(line[1] for line in taken).removesuffix("\r"), fault)
    for place, column in batch.columns.items():
        column.append(None if fault else row.values[place])


def _fault(row: _Row, taken: list[Row], width: int) -> tuple[str, str] | None:
    _, _, code, reason, ends = taken[0]
    if code and reason:
        return code, reason
    if any(line[2] for line in taken):
        return "malformed_line", "The line opens a quoted field that goes on in a broken line."
    if row.error:
        what = f"is not CSV: {row.error}"
    elif len(row.values) != width:
        plural = "s" * (len(row.values) != 1)
        what = f"has {len(row.values)} field{plural} where the header has {width}"
    else:
        return None
    if ends:
        return "truncated", f"The last line {what}; the file is probably cut off."
    return "malformed_line", f"The line {what}."
