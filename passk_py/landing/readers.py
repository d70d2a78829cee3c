"""Readers: from the rows of a file to a relation of raw values that :class:`ContractSql` types.

Each container has a fast way, DuckDB's own reader, and a careful one, which splits the file into
rows in Python and lets DuckDB read their text. The fast way is taken back as soon as anything is
off, so it only ever has to be right about files without a fault, and a difference between the two
can only be one of speed. Parquet has no careful way: its rows have no text that could be broken.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.contract import CONTRACT_COLUMNS
from passk_py.formats.sample import glob_literal
from passk_py.landing.elements import read_elements
from passk_py.landing.records import Batch, read_lines
from passk_py.landing.table_records import TableBatch, read_table
from passk_py.landing.values import case_of, quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    import duckdb

    from passk_py.formats import Format, Key, Kind
    from passk_py.formats.sample import Sample
    from passk_py.landing.source import Source

__all__ = [
    "careful_batches",
    "columns_of",
    "csv_is_odd",
    "fast_relation",
    "frame_of",
    "parquet_queries",
    "relation_of_batch",
]

# The file's own longest row in the fast way; longer ones are left to the careful way.
_FAST_ROW_BYTES: Final = 16 << 20
# A field that starts or ends in blanks outside of its quotes: DuckDB drops the blanks, Python's
# reader takes the quotes for part of the text. The careful reader decides.
_BLANK_AND_QUOTE: Final = re.compile(
    rb'(?:[,;|\n\r\t])[ \t]+"(?!")|[,;|\n\r\t][ \t]+""[,;|\n\r\t]|(?<!")"[ \t]+[,;|\n\r\t]'
)


def columns_of(sample: Sample, reader: Format, *, fast: bool) -> dict[str, Kind]:
    """Name the columns of the reader's relation, and how each is handed over.

    Parameters
    ----------
    sample
        The file.
    reader
        Its format.
    fast
        Whether it is read in the fast way.

    Returns
    -------
    dict
        The names by which :meth:`Format.contract` may refer to them.
    """
    if reader.container == "parquet":
        return dict(sample.kinds)
    if reader.container == "csv":
        return dict.fromkeys(_places(sample), "text")
    kinds: dict[str, Kind] = {key.column: "text" for key in reader.keys}
    if fast:
        kinds |= {key.column: "map" for key in reader.keys if key.table}
        kinds |= {key.column: "float" for key in reader.keys if key.measure}
    return kinds


def csv_is_odd(piece: bytes) -> bool:
    """Tell whether a piece of a CSV file has blanks between quotes and separators."""
    if b'"' not in piece or not any(x in piece for x in (b' "', b'" ', b'\t"', b'"\t')):
        return False
    return _BLANK_AND_QUOTE.search(b"\n" + piece) is not None


def fast_relation(sample: Sample, reader: Format) -> str:
    """Write SQL for a file's rows, read by DuckDB alone.

    Parameters
    ----------
    sample
        The file.
    reader
        Its format.

    Returns
    -------
    str
        A query that keeps the order of the rows. Columns that nothing asks for are not read. Its
        ``source_line`` and ``raw`` are null, except for Parquet.
    """
    path = quote(glob_literal(sample.path))
    compression = f"compression = '{sample.compression}'"
    if reader.container == "parquet":
        names = {_name(name): kind for name, kind in sample.kinds.items() if name}
        # A type that is exact as text becomes text; the others stay what they are.
        columns = [
            f"cast({name} as varchar) as {name}" if kind == "text" else name
            for name, kind in names.items()
        ]
        row = ", ".join(f"{name} := {name}" for name in names)
        return (
            f"select {', '.join(columns)}, file_row_number + 1 as source_line, "
            f"cast(to_json(struct_pack({row})) as varchar) as raw, null::varchar as read_code, "
            f"null::varchar as read_reason from read_parquet({path}, file_row_number = true)"
        )
    if reader.container == "csv":
        all_columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(sample.fields)))
        return (
            f"select {_csv_columns(sample)}, null::bigint as source_line, null::varchar as raw, "
            "null::varchar as read_code, null::varchar as read_reason "
            f"from read_csv({path}, auto_detect = false, header = true, "
            f"delim = {quote(sample.delimiter)}, quote = '\"', escape = '\"', "
            f"strict_mode = true, {compression}, columns = {{{all_columns}}})"
        )
    shape = "newline_delimited" if reader.container == "json_lines" else "array"
    columns = [f"{_member(key)} as {_name(key.column)}" for key in reader.keys]
    nested = [_looks_nested(key) for key in reader.keys if key.scalar]
    # Beyond that, a double does not hold every whole number.
    whole = [column.name for column in CONTRACT_COLUMNS if column.duckdb_type == "BIGINT"]
    large = [
        f"abs({_member(key)}) >= {1 << 53}"
        for key in reader.keys
        if key.measure and key.path[-1] in whole
    ]
    odd = " or ".join([*nested, *large, "false"])
    return (
        f"select {', '.join(columns)}, null::bigint as source_line, null::varchar as raw, "
        f"case when {odd} then 'odd' end as read_code, null::varchar as read_reason "
        f"from read_json({path}, format = '{shape}', {compression}, "
        f"maximum_object_size = {_FAST_ROW_BYTES}, columns = {_json_columns(reader.keys)})"
    )


def careful_batches(sample: Sample, reader: Format, file: IO[bytes]) -> Iterator[Batch]:
    """Read a file's rows in Python, with their numbers and faults.

    Parameters
    ----------
    sample
        The file.
    reader
        Its format.
    file
        Its bytes, decompressed.

    Returns
    -------
    iterator of Batch
        Rows in the order of the file, each with its number.
    """
    if reader.container == "json_lines":
        return read_lines(file, sample.newline)
    if reader.container == "json_list":
        return read_elements(file)
    return read_table(
        file,
        width=len(sample.fields),
        delimiter=sample.delimiter,
        newline=sample.newline,
    )


def parquet_queries(connection: duckdb.DuckDBPyConnection, source: Source) -> tuple[str, str, int]:
    """Give queries of the good rows of a Parquet file and of the others, and how many there are.

    Parameters
    ----------
    connection
        Counts them.
    source
        The file.

    Returns
    -------
    tuple
        As :func:`passk_py.landing.careful.staged` gives it. The rows need no stage: the file is
        read a second time.
    """
    relation = fast_relation(source.sample, source.reader)
    explained = source.contract(fast=True).explained(relation)
    rows = connection.execute(f"select count(*) from ({relation})").fetchall()[0][0]
    return (
        f"select * from ({explained}) where reject_code is null",
        f"select * from ({explained}) where reject_code is not null",
        int(rows),
    )


class _Frame:
    """A polars frame as DuckDB reads it without pyarrow: by Arrow's own interface."""

    def __init__(self, frame: Any) -> None:  # noqa: ANN401 - polars is imported where it is needed
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def frame_of(batch: Batch) -> object:
    """Hand a batch over to DuckDB.

    Parameters
    ----------
    batch
        Rows of a file.

    Returns
    -------
    object
        To be registered with a connection.
    """
    import polars as pl

    data: dict[str, Any] = {
        "line": pl.Series(batch.numbers, dtype=pl.Int64),
        "text": pl.Series(batch.texts, dtype=pl.String),
        "code": pl.Series(batch.codes, dtype=pl.String),
        "reason": pl.Series(batch.reasons, dtype=pl.String),
        "ends": pl.Series(batch.ends, dtype=pl.Boolean),
    }
    if isinstance(batch, TableBatch):
        for place, values in enumerate(batch.columns):
            data[f"c{place}"] = pl.Series(values, dtype=pl.String)
    return _Frame(pl.DataFrame(data))


def relation_of_batch(name: str, sample: Sample, reader: Format) -> str:
    """Write SQL for the rows of a registered batch.

    Parameters
    ----------
    name
        What the batch is registered as.
    sample
        The file.
    reader
        Its format.

    Returns
    -------
    str
        A query with the same columns as that of :func:`fast_relation`, and with ``source_line``,
        ``raw``, ``read_code`` and ``read_reason`` filled.
    """
    if reader.container == "csv":
        return (
            f"select {_csv_columns(sample)}, line as source_line, text as raw, "
            f"code as read_code, reason as read_reason from {name}"
        )
    return _json_rows(name, reader.keys, reader.unit)


def _json_rows(name: str, keys: tuple[Key, ...], what: str) -> str:
    paths = ", ".join(quote(_json_path(key)) for key in keys)
    texts = ", ".join(
        # As DuckDB's own reader does in the fast way.
        f"case parts[{place}] when 'true' then '1' when 'false' then '0' else texts[{place}] end "
        f"as {_name(key.column)}"
        if key.measure
        else f"texts[{place}] as {_name(key.column)}"
        for place, key in enumerate(keys, 1)
    )
    tops = ", ".join(quote(top) for top in dict.fromkeys(key.path[0] for key in keys))
    first = {place: f"left(parts[{place}], 1)" for place, key in enumerate(keys, 1) if key.scalar}
    nested = case_of(
        [
            (f"{mark} in ('{{', '[', 't', 'f')", _nested_reason(keys[place - 1], mark))
            for place, mark in first.items()
        ]
    )
    cut_off = f"The last {what} ends within its JSON; the file is probably cut off."
    not_object = f"{quote(f'The {what} is not a JSON object but ')} || lower(type) || '.'"
    twice = f"{quote(f'The {what} has the key ')} || doubled || ' twice.'"
    faults = [
        ("code is not null", "code", "reason"),
        ("not valid and ends", "'truncated'", quote(cut_off)),
        ("not valid", "'malformed_line'", quote(f"The {what} is not valid JSON.")),
        ("type <> 'OBJECT'", "'malformed_line'", not_object),
        ("doubled is not null", "'malformed_line'", twice),
        ("nested is not null", "'wrong_type'", "nested"),
    ]
    code = case_of([(when, code) for when, code, _ in faults])
    reason = case_of([(when, reason) for when, _, reason in faults])
    # Each step needs what the one before made sure of: the functions raise on broken JSON.
    return f"""
        select {texts}, line as source_line, text as raw,
            {code} as read_code, {reason} as read_reason
        from (select *, ({nested})::varchar as nested,
            [k for k in names if len([n for n in names if n = k]) > 1][1] as doubled
        from (select *,
            case when type = 'OBJECT' then json_extract(text, [{paths}]) end as parts,
            case when type = 'OBJECT' then json_extract_string(text, [{paths}]) end as texts,
            case when type = 'OBJECT'
                then [k for k in json_keys(text) if k in ({tops})] end as names
        from (select *, case when valid then json_type(text) end as type
        from (select *, code is null and json_valid(text) as valid from {name}))))
    """


def _nested_reason(key: Key, first: str) -> str:
    kind = f"case {first} when '{{' then 'an object' when '[' then 'a list' else 'a boolean' end"
    return f"{quote(key.column + ' is ')} || {kind} || ', which is neither text nor a number.'"


def _places(sample: Sample) -> dict[str, int]:
    """Find the first place of each named column of a CSV table."""
    places: dict[str, int] = {}
    for place, name in enumerate(sample.fields):
        if name:
            places.setdefault(name, place)
    return places


def _csv_columns(sample: Sample) -> str:
    return ", ".join(f"c{place} as {_name(name)}" for name, place in _places(sample).items())


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _member(key: Key) -> str:
    return ".".join(_name(part) for part in key.path)


def _looks_nested(key: Key) -> str:
    """Write SQL for a text that may have been an object, a list or a boolean.

    DuckDB's reader gives those as text, and a text is also allowed to look like that; the careful
    reader knows which it was.
    """
    # As comparisons, which look at the first bytes only: '[' comes before '\\', '{' before '|'.
    value = _member(key)
    brackets = " or ".join(
        f"({value} >= {quote(opens)} and {value} < {quote(after)})"
        for opens, after in (("[", "\\"), ("{", "|"))
    )
    return f"{brackets} or {value} = 'true' or {value} = 'false'"


def _json_path(key: Key) -> str:
    return "$" + "".join(f'."{part}"' for part in key.path)


def _json_columns(keys: tuple[Key, ...]) -> str:
    tree: dict[str, Any] = {}
    for key in keys:
        node = tree
        for part in key.path[:-1]:
            node = node.setdefault(part, {})
        node[key.path[-1]] = (
            "MAP(VARCHAR, VARCHAR)" if key.table else "DOUBLE" if key.measure else "VARCHAR"
        )

    def written(node: dict[str, Any] | str) -> str:
        if isinstance(node, str):
            return node
        return "STRUCT(" + ", ".join(f"{_name(k)} {written(v)}" for k, v in node.items()) + ")"

    return "{" + ", ".join(f"{quote(k)}: {quote(written(v))}" for k, v in tree.items()) + "}"
