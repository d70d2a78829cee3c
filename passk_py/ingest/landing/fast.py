"""The fast way: DuckDB reads, types and judges a file in one statement.

It ends at the first row with a fault, so it need not say what the fault is, and is used for files
that prove to have none.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import duckdb

from passk_py.ingest.landing.contract_sql import ContractSql
from passk_py.ingest.landing.given import as_given, placed
from passk_py.ingest.landing.raw_rows import fast_relation
from passk_py.ingest.landing.source import ticking
from passk_py.ingest.landing.staged import STAGE, Staged, number_attempts, rows_with
from passk_py.ingest.landing.storage import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from passk_py.ingest.landing.fingerprint import FingerprintThread
    from passk_py.ingest.landing.source import Source

NOT_THE_FILE: Final = (
    duckdb.OutOfMemoryException,
    duckdb.InterruptException,
    duckdb.ParserException,
    duckdb.BinderException,
    duckdb.CatalogException,
)
"""Errors of DuckDB that another look at the file would not change."""

# The share of the time that goes into reading; the rest is for writing the rows.
_DONE: Final = 0.5
_HEADER_LINES: Final = {"json_lines": 0, "csv": 1}


@contextmanager
def fast_rows(
    connection: duckdb.DuckDBPyConnection, source: Source, fingerprint: FingerprintThread
) -> Iterator[Staged | None]:
    """Read a log, if nothing is wrong with it; None if anything is off."""
    judged = ContractSql(source, fast=True).all_good(fast_relation(source))
    if source.format.container == "parquet" and not source.format.numbers_attempts:
        # The rows know their numbers, so they can go where they belong without a stage.
        notes = _placed_if_clean(connection, source, judged)
        given = as_given(source, judged)
        yield None if notes is None else _staged(given, given, notes, rows=None, done=0.0)
        return
    try:
        rows = _stage(connection, source, fingerprint, judged)
        if not rows:
            yield None
            return
        # The stage keeps the order of the file, on however many threads it is read, so the place
        # of a row, from 0, gives its number. A window function would count the rows as they are
        # read, but on one thread.
        first = 1 + _HEADER_LINES.get(source.format.container, 0)
        query = f"select {COLUMNS}, rowid + {first} as source_line from {STAGE}"
        notes = placed(connection, source, query)
        number_attempts(connection, source, rows_with(""))
        good = as_given(source, query)
        done = 0.0 if source.format.container == "parquet" else _DONE
        yield _staged(good, as_given(source, f"from {STAGE}"), notes, rows=rows, done=done)
    finally:
        connection.execute(f"drop table if exists {STAGE}")


def _staged(
    good: str, every: str, notes: tuple[str, ...], *, rows: int | None, done: float
) -> Staged:
    all_rows = f"select *, null as reject_code from ({every})"
    return Staged(good, None, rows, done, all_rows, notes=notes)


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
) -> int:
    """Read the log; give how many rows it has, or 0 if that is not one for each line of it."""
    try:
        with ticking(connection, source, 0.0, _DONE):
            connection.execute(f"create or replace temp table passk_stage as {judged}")
    except NOT_THE_FILE:
        raise
    except duckdb.Error:
        return 0
    rows = int(connection.execute(f"select count(*) from {STAGE}").fetchall()[0][0])
    header = _HEADER_LINES.get(source.format.container)
    seen = fingerprint.result()
    # DuckDB takes a list that is cut off after a comma for a whole one.
    cut_off = source.format.container == "json_list" and seen.last != b"]"
    if cut_off or seen.odd or header not in (None, seen.lines - rows):
        return 0
    return rows
