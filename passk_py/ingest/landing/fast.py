"""The fast way: DuckDB reads, types and judges a file in one statement.

It ends at the first row with a fault, so it need not say what the fault is, and is used for files
that prove to have none.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import duckdb

from passk_py.common.contract import CONTRACT_COLUMNS
from passk_py.ingest.landing.careful import numbered
from passk_py.ingest.landing.given import as_given, placed
from passk_py.ingest.landing.readers import fast_relation
from passk_py.ingest.landing.source import ticking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from passk_py.ingest.landing.fingerprint import FingerprintThread
    from passk_py.ingest.landing.source import Source

__all__ = ["DONE", "NOT_THE_FILE", "clean_rows"]

DONE: Final = 0.5
"""Which share of the time goes into reading; the rest is for writing the rows."""

NOT_THE_FILE: Final = (
    duckdb.OutOfMemoryException,
    duckdb.InterruptException,
    duckdb.ParserException,
    duckdb.BinderException,
    duckdb.CatalogException,
)
"""What DuckDB raises for reasons that another look at the file would not change."""

_HEADER_LINES: Final = {"json_lines": 0, "csv": 1}
_STAGE: Final = "temp.passk_stage"
_COLUMNS: Final = ", ".join(column.name for column in CONTRACT_COLUMNS)


@contextmanager
def clean_rows(
    connection: duckdb.DuckDBPyConnection, source: Source, fingerprint: FingerprintThread
) -> Iterator[tuple[str, str, tuple[str, ...]] | None]:
    """Read a file, if nothing is wrong with it.

    Parameters
    ----------
    connection
        Where the rows will go. Nothing of the database itself is written.
    source
        The file.
    fingerprint
        Reads the file at the same time.

    Yields
    ------
    tuple or None
        A query of the rows, the contract's columns and ``source_line``, one of what they say of
        their tasks too, and sentences on what the options changed; None if anything is off. For
        Parquet, the query itself fails if a row is.
    """
    relation = fast_relation(source.sample, source.reader)
    judged = source.contract(fast=True).all_good(relation)
    if source.reader.container == "parquet" and not source.reader.numbers_attempts:
        # The rows know their numbers, so they can go where they belong without a stage.
        notes = _placed_if_clean(connection, source, judged)
        given = as_given(source, judged)
        yield None if notes is None else (given, given, notes)
        return
    try:
        # The stage keeps the order of the file, on however many threads it is read, so the place
        # of a row, from 0, gives its number. A window function would count the rows as they are
        # read, but on one thread.
        first = 1 + _HEADER_LINES.get(source.reader.container, 0)
        rows = f"select {_COLUMNS}, rowid + {first} as source_line from {_STAGE}"
        if not _stage(connection, source, fingerprint, judged):
            yield None
            return
        notes = placed(connection, source, rows)
        every = as_given(source, f"from {_STAGE}")
        yield numbered(source.reader, as_given(source, rows)), every, notes
    finally:
        connection.execute(f"drop table if exists {_STAGE}")


def _placed_if_clean(
    connection: duckdb.DuckDBPyConnection, source: Source, judged: str
) -> tuple[str, ...] | None:
    """Say what the options changed; None if a row that was met on the way has a fault."""
    try:
        return placed(connection, source, judged)
    except NOT_THE_FILE:
        raise
    except duckdb.Error:
        return None


def _stage(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    fingerprint: FingerprintThread,
    judged: str,
) -> bool:
    """Read the file; true if that gave a row for each line of it, so that it can be numbered."""
    try:
        with ticking(connection, source, 0.0, DONE):
            connection.execute(f"create or replace temp table passk_stage as {judged}")
    except NOT_THE_FILE:
        raise
    except duckdb.Error:
        return False
    rows = connection.execute(f"select count(*) from {_STAGE}").fetchall()[0][0]
    header = _HEADER_LINES.get(source.reader.container)
    seen = fingerprint.result()
    if source.reader.container == "json_list" and seen.last != b"]":
        # DuckDB takes a list that is cut off after a comma for a whole one.
        return False
    return bool(rows) and not seen.odd and (header is None or seen.lines == rows + header)
