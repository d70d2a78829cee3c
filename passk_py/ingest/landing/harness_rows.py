"""The rows of a harness's log, in batches with a column for each value of an attempt.

A batch goes to DuckDB in one of two ways. If nothing is wrong with its rows, a column of numbers
goes as numbers, and one of tags as their names and values. Otherwise all values go as texts, and
DuckDB says what is wrong with them. Valid values mean the same both ways, so the difference is one
of speed.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from passk_py.common.contract import CONTRACT_COLUMNS, EXPECTED_ATTEMPTS
from passk_py.common.sql_text import identifier
from passk_py.ingest.containers.lines import BATCH_BYTES
from passk_py.ingest.containers.table import TableBatch
from passk_py.ingest.formats.canonical import CANONICAL_FIELDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import polars as pl

    from passk_py.ingest.formats import Kind
    from passk_py.ingest.formats.harness import Harness, Log, Record

    Tags = Mapping[str, str]

_ROWS: Final = 20_000
_NOTHING: Final[dict[str, Any]] = {}
_TEXTS: Final[dict[str, Kind]] = dict.fromkeys(CANONICAL_FIELDS, "text")
_TAGS: Final = "passk_tags"
# A list is looked up faster than a table is joined, and the rows keep their order.
_MAP: Final = (
    "(select list(case when names is not null then map(names, labels) end order by place) "
    f"from {_TAGS})[tags + 1]"
)
_ENCODE: Final = msgspec.msgpack.Encoder().encode
_TYPES: Final = {
    **{column.name: column.duckdb_type for column in (*CONTRACT_COLUMNS, EXPECTED_ATTEMPTS)},
    "passed": "BOOLEAN",
}
# Python's values may go to DuckDB as they are, where DuckDB reads them as it reads their text: not
# the number 3.0 for an integer, which is 3, while 1e16 is rejected.
_KINDS: Final[dict[tuple[str, type], Kind]] = {
    **{(kind, str): "text" for kind in _TYPES.values()},
    ("VARCHAR", int): "integer",
    ("BIGINT", int): "integer",
    ("DOUBLE", int): "integer",
    ("DOUBLE", float): "float",
    ("BOOLEAN", bool): "boolean",
}
_IDENTIFIERS: Final = frozenset(
    column.name for column in CONTRACT_COLUMNS if column.duckdb_type == "VARCHAR"
)


def read_harness(harness: Harness, log: Log) -> Iterator[HarnessBatch]:
    """Read a harness's log in batches; its rows are numbered from 1 as they are read."""
    records = harness.read(log)
    first, ended = 1, False
    while not ended:
        some, ended = _take(records)
        if some:
            yield HarnessBatch(some, first, harness, whole=ended and first == 1)
        first += len(some)


def _take(records: Iterator[Record]) -> tuple[list[Record], bool]:
    """Take as many records as make a batch, and tell whether there are no more."""
    taken: list[Record] = []
    size = 0
    for record in records:
        taken.append(record)
        size += record.size
        if len(taken) >= _ROWS or size >= BATCH_BYTES:
            return taken, False
    return taken, True


class HarnessBatch(TableBatch):
    """Some rows of a harness's log, by places of ``CANONICAL_FIELDS``; texts are made if needed."""

    def __init__(
        self, records: Sequence[Record], first: int, harness: Harness, *, whole: bool = False
    ) -> None:
        super().__init__()
        self.whole = whole
        self._records = records
        self._harness = harness
        self.numbers = [record.line or number for number, record in enumerate(records, first)]
        self._columns = _columns_of([record.values or _NOTHING for record in records])

    def typed(self, said: Tags = _NOTHING, given: Tags = _NOTHING) -> TypedRows | None:
        """Give the rows as what they are; tags ``given`` come before theirs, ``said`` after."""
        if any(record.fault for record in self._records):
            return None
        import polars as pl

        kinds: dict[str, Kind] = {}
        tables: dict[str, pl.DataFrame] = {}
        data: dict[str, pl.Series] = {"line": pl.Series(self.numbers, dtype=pl.Int64)}
        for name, field in self._harness.contract(_TEXTS).items():
            values: Sequence[Any] | None = self._columns.get(name)
            if name == "tags" and (values or said or given):
                tags = _tags(values or [None] * len(self), said, given)
                if tags is None:
                    return None
                kinds[name] = "map"
                data[name] = pl.Series(tags[0], dtype=pl.Int64)
                tables[_TAGS] = tags[1]
            elif values or field.sql != identifier(name):
                values = values or [None] * len(self)
                # A number is made a text where SQL has been made for texts.
                kind = _kind_of(name, values) if field.sql == identifier(name) else None
                made = _typed(values, kind) if kind else None
                if made is None:
                    kind, made = "text", self._as_texts(name, values)
                if made is None or kind is None:
                    return None
                kinds[name], data[name] = kind, made
        judged = kinds.get("passed") == "boolean" and None not in self._columns["passed"]
        return TypedRows(pl.DataFrame(data), tables, kinds, judged)

    def _as_texts(self, name: str, values: Sequence[Any]) -> pl.Series | None:
        """Make a column of texts; None if a value can't be one."""
        import polars as pl

        if set(map(type, values)) == {int}:
            return pl.Series(list(map(repr, values)), dtype=pl.String)
        faults: list[tuple[str, str] | None] = [None] * len(values)
        texts = _texts(values, name, faults, self._harness)
        return None if any(faults) else pl.Series(texts, dtype=pl.String)

    def write_texts(self) -> None:
        """Write down the rows as they were read, and all values as texts."""
        self.texts = [_printable(record.text) for record in self._records]
        self.ends = [record.ends for record in self._records]
        faults = [record.fault for record in self._records]
        for place, name in enumerate(CANONICAL_FIELDS):
            if (values := self._columns.get(name)) is not None:
                self.columns[place] = _texts(values, name, faults, self._harness)
        self.codes = [fault and fault[0] for fault in faults]
        # A reason may quote what the row says, which may be no text.
        self.reasons = [fault and _printable(fault[1]) for fault in faults]


@dataclass(frozen=True, slots=True)
class TypedRows:
    """Rows without a known fault."""

    frame: pl.DataFrame
    """Their numbers, and the columns that have a value; of tags, their places in their table."""
    tables: dict[str, pl.DataFrame]
    """The other tables of the SQL by the names to register them as: the tags, each once."""
    kinds: dict[str, Kind]
    all_judged: bool
    """Whether each passed or not, so that no reason decides."""

    def relation(self, name: str) -> str:
        """Write SQL for the registered frame, with the raw columns as far as it has them."""
        columns = ", ".join(
            f"{_MAP if kind == 'map' else identifier(column)} as {identifier(column)}"
            for column, kind in self.kinds.items()
        )
        return (
            f"select {columns}, line as source_line, null::varchar as raw, "
            f"null::varchar as read_code, null::varchar as read_reason from {name}"
        )


def _columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[Any, ...]]:
    """Give the values of each name that any row has a value of."""
    named = set().union(*rows)
    names = [name for name in CANONICAL_FIELDS if name in named]
    try:
        # Most formats give all rows the same names, and one call then takes all values of a row:
        # as a tuple, which takes two names or more, so the first is named again at the end.
        taken = [*zip(*map(itemgetter(*names, *names[:1]), rows), strict=True)] if names else []
    except KeyError:
        taken = [tuple(row.get(name) for row in rows) for name in names]
    columns = zip(names, taken, strict=False)
    return {name: values for name, values in columns if values.count(None) < len(values)}


def _kind_of(name: str, values: Sequence[Any]) -> Kind | None:
    """Tell what the values of a column are, if they are all of a kind that needs no text."""
    types = set(map(type, values)) - {type(None)}
    return _KINDS.get((_TYPES[name], types.pop())) if len(types) == 1 else None


def _typed(values: Sequence[Any], kind: Kind) -> pl.Series | None:
    """Make a column of values of one kind; None where one can't be held as that."""
    import polars as pl

    kinds = {"text": pl.String, "integer": pl.Int64, "float": pl.Float64, "boolean": pl.Boolean}
    try:
        return pl.Series(values, dtype=kinds[kind])
    except (OverflowError, TypeError, ValueError):
        return None


def _tags(
    values: Sequence[Any], said: Tags, given: Tags
) -> tuple[list[int | None], pl.DataFrame] | None:
    """Make a table of the tags that occur, and say which each row has; None if one is no dict."""
    # The epochs of a sample have the same metadata, so there are fewer tags than rows.
    import polars as pl

    places: dict[bytes, int] = {}
    some: list[dict[str, Any]] = []
    found: list[int | None] = []
    last: Any = places
    try:
        for tags in values:
            if tags is last:
                # The attempts of one row of a file may share them.
                found.append(found[-1])
                continue
            last = tags
            # Unlike dicts, bytes tell 1, 1.0 and true apart.
            key = _ENCODE(tags)
            place = places.setdefault(key, len(places))
            found.append(place)
            if place == len(some):
                some.append(tags)
        made = [_labels(tags, said, given) for tags in some]
        flat = pl.DataFrame(
            {
                "place": [place for place, labels in enumerate(made) for _ in labels],
                "names": [name for labels in made for name in labels],
                "labels": [label for labels in made for label in labels.values()],
            },
            schema={"place": pl.Int64, "names": pl.String, "labels": pl.String},
        )
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
        return None
    table = flat.group_by("place", maintain_order=True).agg("names", "labels")
    if len(table) < len(made):
        every = pl.DataFrame({"place": pl.int_range(len(made), eager=True)})
        table = every.join(table, on="place", how="left", maintain_order="left")
    return found, table


def _labels(tags: Any, said: Tags, given: Tags) -> dict[str, str]:  # noqa: ANN401 - JSON
    """Write tags as texts; in the order of their names with those of all rows, if any are."""
    if tags is not None and not isinstance(tags, dict):
        raise TypeError
    labels = {str(name): _tag(tag) for name, tag in (tags or {}).items() if tag is not None}
    return dict(sorted({**said, **labels, **given}.items())) if said or given else labels


def harness_relation(name: str, given: Collection[int]) -> str:
    """Write SQL for the raw rows of a registered batch that has the columns at some places."""
    # A value that no row of the batch has is no column of it.
    columns = ", ".join(
        f"{f'c{place}' if place in given else 'null::varchar'} as {identifier(column)}"
        for place, column in enumerate(CANONICAL_FIELDS)
    )
    return (
        f"select {columns}, line as source_line, text as raw, code as read_code, "
        f"reason as read_reason from {name}"
    )


def _texts(
    values: Sequence[Any], name: str, faults: list[tuple[str, str] | None], harness: Harness
) -> list[str | None]:
    """Write the values of a column as texts, and note the rows of which that can't be done."""
    texts: list[str | None] = [None] * len(values)
    for place, value in enumerate(values):
        try:
            texts[place] = _text(name, value)
        except _WrongType as wrong:
            label = harness.labels.get(name, name)
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
    if isinstance(value, (int, float)):
        return repr(value)
    if name == "tags" and isinstance(value, dict):
        given = {key: tag for key, tag in value.items() if tag is not None}
        made = json.dumps({str(key): _tag(tag) for key, tag in given.items()})
        return made if given else None
    raise _WrongType("a list" if isinstance(value, list) else "an object")


def _tag(value: Any) -> str:  # noqa: ANN401 - JSON
    """Write the value of a tag: texts as they are, everything else as JSON."""
    if isinstance(value, str):
        return value
    is_number = type(value) is int or (type(value) is float and math.isfinite(value))
    return repr(value) if is_number else json.dumps(value)


def _printable(raw: str) -> str:
    return raw if raw.isascii() else raw.encode("utf-8", "backslashreplace").decode()
