"""Readers: from the rows of a file to a relation of raw values that :class:`ContractSql` types.

Each container has a fast way, DuckDB's own reader, and a careful one, which splits the file into
rows in Python and lets DuckDB read their text. The fast way is taken back as soon as anything is
off, so it only ever has to be right about files without a fault, and a difference between the two
can only be one of speed. Parquet has no careful way: its rows have no text that could be broken.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.elements import read_elements
from passk_py.ingest.containers.lines import Batch, read_lines
from passk_py.ingest.containers.table import TableBatch, read_table
from passk_py.ingest.formats.parquet_schema import glob_literal
from passk_py.ingest.landing.harness_rows import HarnessBatch, harness_relation
from passk_py.ingest.landing.json_sql import fast_columns, fast_oddity, member, rows_of_texts
from passk_py.ingest.landing.values import identifier, quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    import duckdb
    import polars as pl

    from passk_py.ingest.formats import Format
    from passk_py.ingest.formats.sample import Sample
    from passk_py.ingest.landing.source import Source

__all__ = [
    "as_arrow",
    "careful_batches",
    "csv_is_odd",
    "fast_relation",
    "frame_of",
    "parquet_queries",
    "relation_of_batch",
]

# A folder called run_id=a is a name, and what the file says counts.
_NO_HIVE: Final = "hive_partitioning = false"
# The file's own longest row in the fast way; longer ones are left to the careful way.
_FAST_ROW_BYTES: Final = 16 << 20
_PIECE: Final = 8192
# A field that starts or ends in blanks outside of its quotes: DuckDB drops the blanks, Python's
# reader takes the quotes for part of the text. The careful reader decides.
_BLANK_AND_QUOTE: Final = re.compile(
    rb'(?:[,;|\n\r\t])[ \t]+"(?!")|[,;|\n\r\t][ \t]+""[,;|\n\r\t]|(?<!")"[ \t]+[,;|\n\r\t]'
)


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
        return _parquet_relation(sample, reader, path)
    if reader.container == "csv":
        all_columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(sample.fields)))
        return (
            f"select {_csv_columns(sample, reader)}, null::bigint as source_line, "
            "null::varchar as raw, null::varchar as read_code, null::varchar as read_reason "
            f"from read_csv({path}, auto_detect = false, header = true, "
            f"delim = {quote(sample.delimiter)}, quote = '\"', escape = '\"', "
            f"strict_mode = true, {_NO_HIVE}, {compression}, columns = {{{all_columns}}})"
        )
    shape = "newline_delimited" if reader.container == "json_lines" else "array"
    values = ", ".join(f"{member(key)} as {identifier(key.column)}" for key in reader.keys)
    return (
        f"select {values}, null::bigint as source_line, null::varchar as raw, "
        f"case when {fast_oddity(reader.keys)} then 'odd' end as read_code, "
        f"null::varchar as read_reason from read_json({path}, format = '{shape}', {compression}, "
        f"maximum_object_size = {_FAST_ROW_BYTES}, {_NO_HIVE}, "
        f"columns = {fast_columns(reader.keys)})"
    )


def _parquet_relation(sample: Sample, reader: Format, path: str) -> str:
    # A type that is exact as text becomes text; the others stay what they are.
    columns = ", ".join(
        f"cast({identifier(name)} as varchar) as {identifier(name)}"
        if kind == "text"
        else identifier(name)
        for name, kind in sample.kinds.items()
        if name in reader.columns
    )
    row = ", ".join(f"{identifier(n)} := {identifier(n)}" for n in sample.kinds if n)
    rows, number = (
        f"read_parquet({path}, file_row_number = true, {_NO_HIVE})",
        "file_row_number + 1",
    )
    if "file_row_number" in (name.lower() for name in sample.kinds):
        rows, number = f"read_parquet({path}, {_NO_HIVE})", "row_number() over ()"
    return (
        f"select {columns}, {number} as source_line, "
        f"cast(to_json(struct_pack({row})) as varchar) as raw, null::varchar as read_code, "
        f"null::varchar as read_reason from {rows}"
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
        kept=[place for place, name in enumerate(sample.fields) if name in reader.columns],
        delimiter=sample.delimiter,
        newline=sample.newline,
    )


def parquet_queries(
    connection: duckdb.DuckDBPyConnection, source: Source
) -> tuple[str, str, int, str]:
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
        As :func:`passk_py.ingest.landing.careful.staged` gives it, and a query of all rows. They
        need no stage: the file is read a second time.
    """
    relation = fast_relation(source.sample, source.reader)
    explained = source.contract(fast=True).explained(relation)
    rows = connection.execute(f"select count(*) from ({relation})").fetchall()[0][0]
    return (
        f"select * from ({explained}) where reject_code is null",
        f"select * from ({explained}) where reject_code is not null",
        int(rows),
        explained,
    )


class _Frame:
    """A polars frame as DuckDB reads it without pyarrow: by Arrow's own interface."""

    def __init__(self, frame: Any) -> None:  # noqa: ANN401 - polars is imported where it is needed
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def as_arrow(frame: pl.DataFrame) -> object:
    """Hand a frame over to DuckDB, to be registered with a connection."""
    return _Frame(frame)


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

    nothing = pl.lit(None, dtype=pl.String)
    faulty = any(batch.codes)
    data: dict[str, Any] = {
        "line": pl.Series(batch.numbers, dtype=pl.Int64),
        "text": pl.Series(batch.texts, dtype=pl.String),
        "ends": pl.Series(batch.ends, dtype=pl.Boolean),
    }
    if faulty:
        data["code"] = pl.Series(batch.codes, dtype=pl.String)
        data["reason"] = pl.Series(batch.reasons, dtype=pl.String)
    if isinstance(batch, TableBatch):
        for place, values in batch.columns.items():
            data[f"c{place}"] = pl.Series(values, dtype=pl.String)
    frame = pl.DataFrame(data)
    if not faulty:
        frame = frame.with_columns(nothing.alias("code"), nothing.alias("reason"))
    # DuckDB gives each piece to a thread.
    pieces = [frame[start : start + _PIECE] for start in range(0, frame.height, _PIECE)]
    return _Frame(pl.concat(pieces, rechunk=False))


def relation_of_batch(name: str, batch: Batch, sample: Sample, reader: Format) -> str:
    """Write SQL for the rows of a registered batch.

    Parameters
    ----------
    name
        What the batch is registered as.
    batch
        The batch.
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
    if isinstance(batch, HarnessBatch):
        return harness_relation(name, batch.columns)
    if reader.container == "csv":
        return (
            f"select {_csv_columns(sample, reader)}, line as source_line, text as raw, "
            f"code as read_code, reason as read_reason from {name}"
        )
    return rows_of_texts(name, reader.keys, reader.unit)


def _csv_columns(sample: Sample, reader: Format) -> str:
    # By their places, because names may be empty, come twice, or clash with ours.
    return ", ".join(
        f"c{place} as {identifier(name)}"
        for place, name in enumerate(sample.fields)
        if name in reader.columns
    )
