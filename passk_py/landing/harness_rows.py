"""The rows of a harness's log, in batches with a column for each value of an attempt."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from passk_py.containers.collector import COLLECTOR
from passk_py.containers.lines import BATCH_BYTES
from passk_py.containers.table import TableBatch
from passk_py.contract import CONTRACT_COLUMNS
from passk_py.formats.harness import HARNESS_FIELDS
from passk_py.landing.values import identifier

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from passk_py.formats.harness import Harness, Log, Record

__all__ = ["HarnessBatch", "harness_relation", "read_harness"]

_ROWS: Final = 20_000
_NOTHING: Final[dict[str, Any]] = {}
_PLAIN: Final = frozenset((str, type(None)))
_IDENTIFIERS: Final = frozenset(
    column.name for column in CONTRACT_COLUMNS if column.duckdb_type == "VARCHAR"
)


def read_harness(reader: Harness, log: Log) -> Iterator[HarnessBatch]:
    """Read a harness's log.

    Parameters
    ----------
    reader
        Its format.
    log
        The log.

    Yields
    ------
    HarnessBatch
        Its rows, numbered from 1 in the order in which they are read; the columns are
        :data:`~passk_py.formats.harness.HARNESS_FIELDS` by their places.
    """
    records = reader.read(log)
    first = 1
    while True:
        with COLLECTOR.paused():
            some = _take(records)
            batch = HarnessBatch(some, first, reader) if some else None
        if batch is None:
            return
        yield batch
        first += len(some)


def _take(records: Iterator[Record]) -> list[Record]:
    """Take as many records as make a batch; none if there are no more."""
    taken: list[Record] = []
    size = 0
    for record in records:
        taken.append(record)
        size += record.size
        if len(taken) >= _ROWS or size >= BATCH_BYTES:
            break
    return taken


class HarnessBatch(TableBatch):
    """Some rows of a harness's log, column by column.

    The texts of the rows are for those that are refused, so they are written where one is.

    Parameters
    ----------
    records
        The rows.
    first
        The number of the first.
    reader
        The format.
    """

    def __init__(self, records: Sequence[Record], first: int, reader: Harness) -> None:
        super().__init__()
        self._records = records
        self.numbers = [record.line or number for number, record in enumerate(records, first)]
        self.texts = [""] * len(records)
        faults = [record.fault for record in records]
        self.ends = [record.ends for record in records]
        rows = [record.values or _NOTHING for record in records]
        for place, name in enumerate(HARNESS_FIELDS):
            values = [row.get(name) for row in rows]
            types = set(map(type, values))
            if types == {type(None)}:
                continue
            self.columns[place] = (
                values
                if types <= _PLAIN and _are_texts(values)
                else _texts(values, name, faults, reader)
            )
        self.codes = [fault and fault[0] for fault in faults]
        # A reason may quote what the row says, which may be no text.
        self.reasons = [fault and _printable(fault[1]) for fault in faults]

    def write_texts(self) -> None:
        """Write down the rows as they were read."""
        self.texts = [_printable(record.text) for record in self._records]


def harness_relation(name: str, given: Collection[int]) -> str:
    """Write SQL for the rows of a registered batch, with the reader's columns.

    Parameters
    ----------
    name
        What the batch is registered as.
    given
        The places of the columns that it has.
    """
    # A value that no row of the batch has is no column of it.
    columns = ", ".join(
        f"{f'c{place}' if place in given else 'null::varchar'} as {identifier(column)}"
        for place, column in enumerate(HARNESS_FIELDS)
    )
    return (
        f"select {columns}, line as source_line, text as raw, code as read_code, "
        f"reason as read_reason from {name}"
    )


def _are_texts(values: Sequence[str | None]) -> bool:
    """Tell whether no text has half of a surrogate pair, which JSON can write and nothing store."""
    try:
        "".join(filter(None, values)).encode()
    except UnicodeEncodeError:
        return False
    return True


def _texts(
    values: Sequence[Any], name: str, faults: list[tuple[str, str] | None], reader: Harness
) -> list[str | None]:
    """Write the values of a column as texts, and note the rows of which that can't be done."""
    texts: list[str | None] = [None] * len(values)
    for place, value in enumerate(values):
        try:
            texts[place] = _text(name, value)
        except _WrongType as wrong:
            label = reader.labels.get(name, name)
            faults[place] = faults[place] or (
                "wrong_type",
                f"{label} is {wrong.kind}, which is neither text nor a number.",
            )
        except UnicodeEncodeError:
            faults[place] = (
                "invalid_utf8",
                "The row holds half of a surrogate pair, which is no text.",
            )
    return texts


class _WrongType(Exception):  # noqa: N818 - becomes the reason of a rejected row
    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def _text(name: str, value: Any) -> str | None:  # noqa: ANN401 - JSON
    """Write a value as the text of which the contract makes its own type."""
    if value is None:
        return None
    if isinstance(value, str):
        if not value.isascii():
            value.encode()
        return value
    if isinstance(value, bool):
        if name in _IDENTIFIERS:
            raise _WrongType("a boolean")
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if name == "tags" and isinstance(value, dict):
        given = {key: tag for key, tag in value.items() if tag is not None}
        made = json.dumps({str(key): _tag(tag) for key, tag in given.items()})
        return made if given else None
    raise _WrongType("a list" if isinstance(value, list) else "an object")


def _tag(value: Any) -> str:  # noqa: ANN401 - JSON
    """Write the value of a tag: texts as they are, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _printable(raw: str) -> str:
    return raw if raw.isascii() else raw.encode("utf-8", "backslashreplace").decode()
