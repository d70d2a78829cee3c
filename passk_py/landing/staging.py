"""From a file to a relation of typed rows, ready to be written in one transaction."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

import duckdb

from passk_py.contract import CONTRACT_COLUMNS
from passk_py.errors import PasskError
from passk_py.formats.source import open_bytes
from passk_py.landing.contract_sql import ContractSql
from passk_py.landing.fingerprint import FingerprintThread
from passk_py.landing.readers import (
    careful_batches,
    columns_of,
    csv_is_odd,
    fast_relation,
    frame_of,
    relation_of_batch,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    from passk_py.formats import Format
    from passk_py.formats.sample import Sample
    from passk_py.landing.options import Options
    from passk_py.landing.report import Progress

__all__ = ["Source", "Staged", "staged", "ticking"]

_STAGE: Final = "temp.passk_stage"
_BATCH: Final = "passk_batch"
_TICK_SECONDS: Final = 0.1
# Shares of the time that go into reading; the rest is for writing the rows.
_DONE_FAST: Final = 0.6
_DONE_CAREFULLY: Final = 0.9
_COLUMNS: Final = ", ".join(column.name for column in CONTRACT_COLUMNS)
# What DuckDB says for reasons that a second look at the file would not change.
_NOT_THE_FILE: Final = (
    duckdb.OutOfMemoryException,
    duckdb.InterruptException,
    duckdb.ParserException,
    duckdb.BinderException,
    duckdb.CatalogException,
)


@dataclass(frozen=True, slots=True)
class Source:
    """A file, what it is read as, and what fills it.

    Parameters
    ----------
    sample
        The file.
    reader
        Its format.
    options
        The user's fill-ins.
    progress
        Is told how far the reading is.
    careful
        Whether to read the careful way from the start; for tests.
    """

    sample: Sample
    reader: Format
    options: Options
    progress: Progress | None = None
    careful: bool = False

    def tell(self, bytes_done: int, rows: int) -> None:
        """Report progress."""
        if self.progress:
            total = self.sample.size
            self.progress(str(self.sample.path), min(bytes_done, total), total, rows)

    def contract(self, *, fast: bool) -> ContractSql:
        """Give the SQL that types what the reader hands over."""
        columns = columns_of(self.sample, self.reader, fast=fast)
        return ContractSql(
            self.reader.contract(columns),
            self.options,
            default_run_id=self.reader.default_run_id(self.sample.path),
            default_suite=self.reader.default_suite,
        )


@dataclass(frozen=True, slots=True)
class Staged:
    """Rows that are ready to be written.

    Parameters
    ----------
    landing
        A query of the good rows: the contract's columns and ``source_line``.
    rejected
        A query of the others: the same, and ``reject_code``, ``reject_reason``, ``raw_text``.
    rows_read
        How many rows the file has.
    sha256
        The digest of the file.
    done
        Which share of the work on the file is behind.
    """

    landing: str
    rejected: str
    rows_read: int
    sha256: str
    done: float


@contextmanager
def staged(connection: duckdb.DuckDBPyConnection, source: Source) -> Iterator[Staged]:
    """Read a file and hold its typed rows until they are written.

    Parameters
    ----------
    connection
        Where the rows will go. Nothing of the database itself is written.
    source
        The file.

    Yields
    ------
    Staged
        The rows; gone when the context ends.
    """
    table = source.reader.container == "csv"
    fingerprint = FingerprintThread(source.sample, csv_is_odd if table else None)
    fingerprint.start()
    try:
        if source.reader.container == "parquet":
            yield _parquet(connection, source, fingerprint)
        else:
            rows = 0 if source.careful else _stage_fast(connection, source, fingerprint)
            fast = rows > 0
            if not fast:
                rows = _stage_carefully(connection, source)
            # Digesting starts with the fast way and may go on after the careful one has ended.
            digest = fingerprint.result().sha256
            yield _of_stage(fast=fast, rows=rows, sha256=digest)
    finally:
        fingerprint.cancel()
        connection.execute(f"drop table if exists {_STAGE}")


def _parquet(
    connection: duckdb.DuckDBPyConnection, source: Source, fingerprint: FingerprintThread
) -> Staged:
    # The rows know their numbers and nothing can be wrong with their text, so they need no stage:
    # they are read straight into the table, and a second time only if some are rejected.
    relation = fast_relation(source.sample, source.reader)
    contract = source.contract(fast=True)
    typed, explained = contract.typed(relation), contract.explained(relation)
    count = connection.execute(f"select count(*) from ({relation})").fetchall()[0][0]
    return Staged(
        f"select * exclude (odd) from ({typed}) where not odd",
        f"select * from ({explained}) where reject_code is not null",
        int(count),
        fingerprint.result().sha256,
        done=0.0,
    )


def _stage_fast(
    connection: duckdb.DuckDBPyConnection, source: Source, fingerprint: FingerprintThread
) -> int:
    """Read with DuckDB alone and give the number of rows; 0 if anything is off."""
    typed = source.contract(fast=True).typed(fast_relation(source.sample, source.reader))
    try:
        with ticking(connection, source, 0.0, _DONE_FAST):
            # The numbers of the lines are those of the rows: the stage keeps the file's order.
            # A window function would give them too, but on one thread.
            connection.execute(f"create or replace temp table passk_stage as {typed}")
    except _NOT_THE_FILE:
        raise
    except duckdb.Error:
        return 0
    rows, faults = connection.execute(
        f"select count(*), count(*) filter (odd) from {_STAGE}"
    ).fetchall()[0]
    header = {"json_lines": 0, "csv": 1}.get(source.reader.container)
    if faults or not rows:
        return 0
    seen = fingerprint.result()
    if seen.odd or (header is not None and seen.lines != rows + header):
        return 0
    return int(rows)


def _stage_carefully(connection: duckdb.DuckDBPyConnection, source: Source) -> int:
    """Read row by row, with a reason for each that is refused, and give the number of rows."""
    sample, reader = source.sample, source.reader
    explained = source.contract(fast=False).explained(relation_of_batch(_BATCH, sample, reader))
    into, rows = "create or replace temp table passk_stage as", 0
    with open_bytes(sample.path, sample.compression) as file:
        for batch in careful_batches(sample, reader, file):
            if not len(batch):
                continue
            connection.register(_BATCH, frame_of(batch))
            try:
                connection.execute(f"{into} {explained}")
            finally:
                connection.unregister(_BATCH)
            into = f"insert into {_STAGE}"
            rows += len(batch)
            source.tell(int(_position(file) * _DONE_CAREFULLY), rows)
    if not rows:
        raise PasskError(
            f"{sample.path} holds no rows.", hint="Check whether the run that wrote it ended."
        )
    _refuse_without_attempts(connection, source)
    return rows


def _refuse_without_attempts(connection: duckdb.DuckDBPyConnection, source: Source) -> None:
    """Say once for the file, not for each of its rows, that it does not number its attempts."""
    readable, without = connection.execute(
        "select count(*), count(*) filter (reject_field = 'attempt' and reject_code = "
        f"'missing_field') from {_STAGE} where reject_code is null or reject_field is not null"
    ).fetchall()[0]
    if readable and readable == without:
        refusal = source.reader.without_attempt(source.sample)
        raise PasskError(f"{source.sample.path} has {refusal.message}.", hint=refusal.hint)


def _position(file: IO[bytes]) -> int:
    """Tell how far a file is read, as nearly as can be in bytes as they lie on the disk."""
    inner: IO[bytes] = getattr(file, "fileobj", None) or file
    return inner.tell()


def _of_stage(*, fast: bool, rows: int, sha256: str) -> Staged:
    if fast:
        landing = f"select {_COLUMNS}, rowid + 1 as source_line from {_STAGE}"
        nothing = f"select *, '' as reject_code, '' as reject_reason, '' as raw_text from {_STAGE}"
        return Staged(landing, f"{nothing} limit 0", rows, sha256, _DONE_FAST)
    return Staged(
        f"select {_COLUMNS}, source_line from {_STAGE} where reject_code is null",
        f"select * from {_STAGE} where reject_code is not null",
        rows,
        sha256,
        _DONE_CAREFULLY,
    )


@contextmanager
def ticking(
    connection: duckdb.DuckDBPyConnection, source: Source, start: float, end: float
) -> Iterator[None]:
    """Tell the progress of the query that runs in the context.

    Parameters
    ----------
    connection
        Runs the query.
    source
        The file that it reads or writes.
    start, end
        Which shares of the work on the file are behind before and after it.

    Yields
    ------
    None
    """
    if source.progress is None:
        yield
        return
    stop = Event()

    def tick() -> None:
        while not stop.wait(_TICK_SECONDS):
            share = start + (end - start) * max(connection.query_progress(), 0.0) / 100
            source.tell(int(source.sample.size * share), 0)

    thread = Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
