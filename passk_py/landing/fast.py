"""The fast way: DuckDB reads, types and writes a file in one statement.

It is taken back at the first row with a fault, so it need not say what the fault is, and is used
for files that prove to have none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import duckdb

from passk_py.contract import CONTRACT_COLUMNS
from passk_py.formats.source import open_bytes
from passk_py.landing.readers import fast_relation

if TYPE_CHECKING:
    from datetime import datetime

    from passk_py.landing.fingerprint import FingerprintThread
    from passk_py.landing.source import Source

__all__ = ["land_fast"]

_COLUMNS: Final = ", ".join(column.name for column in CONTRACT_COLUMNS)
_CHUNK: Final = 1 << 20
# What DuckDB says for reasons that a second look at the file would not change.
_NOT_THE_FILE: Final = (
    duckdb.OutOfMemoryException,
    duckdb.InterruptException,
    duckdb.ParserException,
    duckdb.BinderException,
    duckdb.CatalogException,
)


def land_fast(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    fingerprint: FingerprintThread,
    at: datetime,
) -> int | None:
    """Write a file's rows into ``landing.attempts``, if all of them are good.

    Parameters
    ----------
    connection
        Within a transaction, which the caller rolls back if the answer is None.
    source
        The file.
    fingerprint
        Reads the file at the same time.
    at
        The time of the batch.

    Returns
    -------
    int or None
        How many rows were written; None if anything is off.
    """
    # An error ends the statement at the first odd row. A filter would look cheaper, but makes
    # DuckDB copy every column of every row.
    typed = source.contract(fast=True).typed(fast_relation(source.sample, source.reader))
    task = "case when odd then error('odd') else task_id end as task_id"
    whole = f"select * replace ({task}) from ({typed})"
    try:
        rows = connection.execute(
            f"insert into landing.attempts select {_COLUMNS}, ?, source_line, ?, ?::timestamp "
            f"from ({whole})",
            [str(source.sample.path), source.reader.name, at],
        ).fetchall()[0][0]
    except _NOT_THE_FILE:
        raise
    except duckdb.Error:
        return None
    if not rows:
        return None
    if source.reader.container == "parquet":
        return int(rows)
    header = {"json_lines": 0, "csv": 1}.get(source.reader.container)
    seen = fingerprint.result()
    if seen.odd or (header is not None and seen.lines != rows + header):
        return None
    if not _number_lines(connection, at) or _has_booleans(connection, source, at):
        return None
    return int(rows)


def _number_lines(connection: duckdb.DuckDBPyConnection, at: datetime) -> bool:
    """Give the rows of a batch the numbers of their lines; false if their order is lost.

    DuckDB writes rows in the order in which it reads them, on however many threads, so their
    places in the table are those in the file. A window function would count them as they are read,
    but on one thread; this costs a hundredth of the load.
    """
    first, last, rows = connection.execute(
        "select min(rowid), max(rowid), count(*) from landing.attempts where loaded_at = ?", [at]
    ).fetchall()[0]
    if last - first + 1 != rows:
        return False
    connection.execute(
        "update landing.attempts set source_line = rowid - ? + 1 where loaded_at = ?", [first, at]
    )
    return True


def _has_booleans(connection: duckdb.DuckDBPyConnection, source: Source, at: datetime) -> bool:
    """Tell whether a number that is 0 or 1 may have been written as false or true."""
    measures = [key.path[-1] for key in source.reader.keys if key.measure]
    if not measures:
        return False
    zero_or_one = " or ".join(f"{name} in (0, 1)" for name in measures)
    found = connection.execute(
        f"select count(*) from landing.attempts where loaded_at = ? and ({zero_or_one})", [at]
    ).fetchall()[0][0]
    if not found:
        return False
    any_boolean = re.compile(rb":\s*[tf]")
    of_measure = re.compile(rf'"(?:{"|".join(measures)})"\s*:\s*[tf]'.encode())
    tail = b""
    with open_bytes(source.sample.path, source.sample.compression) as file:
        while chunk := file.read(_CHUNK):
            piece = tail + chunk
            if any_boolean.search(piece) and of_measure.search(piece):
                return True
            tail = chunk[-64:]
    return False
