"""The raw rows of a log: a relation of values that :class:`ContractSql` types.

Each container has a fast way, DuckDB's own reader, and a careful one, which splits the file into
rows in Python and lets DuckDB read their text. The fast way is taken back as soon as anything is
off, so it only ever has to be right about files without a fault, and a difference between the two
can only be one of speed. Parquet has no careful way: its rows have no text that could be broken.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.sql_text import identifier, quote
from passk_py.ingest.containers.elements import read_elements
from passk_py.ingest.containers.lines import Batch, read_lines
from passk_py.ingest.containers.table import TableBatch, read_table
from passk_py.ingest.formats.parquet_schema import glob_literal
from passk_py.ingest.landing.harness_rows import HarnessBatch, harness_relation
from passk_py.ingest.landing.json_sql import fast_columns, fast_oddity, member, rows_of_texts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    import polars as pl

    from passk_py.ingest.landing.source import Source

# A folder called run_id=a is a name, and what the file says counts.
_NO_HIVE: Final = "hive_partitioning = false"
# The file's own longest row in the fast way; longer ones are left to the careful way.
_FAST_ROW_BYTES: Final = 16 << 20
_PIECE: Final = 8192
# A field that starts or ends in blanks outside of its quotes: DuckDB drops the blanks, Python's
# reader takes the quotes for part of the text. The careful way decides.
_BLANK_AND_QUOTE: Final = re.compile(
    rb'(?:[,;|\n\r\t])[ \t]+"(?!")|[,;|\n\r\t][ \t]+""[,;|\n\r\t]|(?<!")"[ \t]+[,;|\n\r\t]'
)


def csv_is_odd(piece: bytes) -> bool:
    """Tell whether a piece of a CSV file has blanks between quotes and separators."""
    if b'"' not in piece or not any(x in piece for x in (b' "', b'" ', b'\t"', b'"\t')):
        return False
    return _BLANK_AND_QUOTE.search(b"\n" + piece) is not None


def fast_relation(source: Source) -> str:
    """Write SQL for a log's raw rows in their order, read by DuckDB alone."""
    # Columns that nothing asks for are not read; source_line and raw are null, but for Parquet.
    sample, keys = source.sample, source.format.keys
    path = quote(glob_literal(sample.path))
    compression = f"compression = '{sample.compression}'"
    if source.format.container == "parquet":
        return _parquet_relation(source, path)
    if source.format.container == "csv":
        all_columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(sample.fields)))
        return (
            f"select {_csv_columns(source)}, null::bigint as source_line, "
            "null::varchar as raw, null::varchar as read_code, null::varchar as read_reason "
            f"from read_csv({path}, auto_detect = false, header = true, "
            f"delim = {quote(sample.delimiter)}, quote = '\"', escape = '\"', "
            f"strict_mode = true, {_NO_HIVE}, {compression}, columns = {{{all_columns}}})"
        )
    shape = "newline_delimited" if source.format.container == "json_lines" else "array"
    values = ", ".join(f"{member(key)} as {identifier(key.column)}" for key in keys)
    return (
        f"select {values}, null::bigint as source_line, null::varchar as raw, "
        f"case when {fast_oddity(keys)} then 'odd' end as read_code, "
        f"null::varchar as read_reason from read_json({path}, format = '{shape}', {compression}, "
        f"maximum_object_size = {_FAST_ROW_BYTES}, {_NO_HIVE}, "
        f"columns = {fast_columns(keys)})"
    )


def _parquet_relation(source: Source, path: str) -> str:
    kinds = source.sample.kinds
    # A type that is exact as text becomes text; the others stay what they are.
    columns = ", ".join(
        f"cast({identifier(name)} as varchar) as {identifier(name)}"
        if kind == "text"
        else identifier(name)
        for name, kind in kinds.items()
        if name in source.format.columns
    )
    row = ", ".join(f"{identifier(n)} := {identifier(n)}" for n in kinds if n)
    rows, number = (
        f"read_parquet({path}, file_row_number = true, {_NO_HIVE})",
        "file_row_number + 1",
    )
    if "file_row_number" in (name.lower() for name in kinds):
        rows, number = f"read_parquet({path}, {_NO_HIVE})", "row_number() over ()"
    return (
        f"select {columns}, {number} as source_line, "
        f"cast(to_json(struct_pack({row})) as varchar) as raw, null::varchar as read_code, "
        f"null::varchar as read_reason from {rows}"
    )


def careful_batches(source: Source, file: IO[bytes]) -> Iterator[Batch]:
    """Read the rows of a decompressed file in Python, in order, with their numbers and faults."""
    sample = source.sample
    if source.format.container == "json_lines":
        return read_lines(file, sample.newline)
    if source.format.container == "json_list":
        return read_elements(file)
    return read_table(
        file,
        width=len(sample.fields),
        kept=[place for place, name in enumerate(sample.fields) if name in source.format.columns],
        delimiter=sample.delimiter,
        newline=sample.newline,
    )


class AsArrow:
    """A polars frame as DuckDB reads it without pyarrow: by Arrow's own interface."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def frame_of(batch: Batch) -> AsArrow:
    """Hand a batch over to DuckDB, to be registered with a connection."""
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
    return AsArrow(pl.concat(pieces, rechunk=False))


def relation_of_batch(name: str, batch: Batch, source: Source) -> str:
    """Write SQL for the raw rows of a registered batch: the columns of :func:`fast_relation`."""
    if isinstance(batch, HarnessBatch):
        return harness_relation(name, batch.columns)
    if source.format.container == "csv":
        return (
            f"select {_csv_columns(source)}, line as source_line, text as raw, "
            f"code as read_code, reason as read_reason from {name}"
        )
    return rows_of_texts(name, source.format.keys, source.format.unit)


def _csv_columns(source: Source) -> str:
    # By their places, because names may be empty, come twice, or clash with ours.
    return ", ".join(
        f"c{place} as {identifier(name)}"
        for place, name in enumerate(source.sample.fields)
        if name in source.format.columns
    )
