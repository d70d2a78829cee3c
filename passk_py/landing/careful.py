"""The careful way: row by row, with a reason for each row that is refused."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from passk_py.contract import CONTRACT_COLUMNS
from passk_py.errors import PasskError
from passk_py.formats.source import open_bytes
from passk_py.landing.readers import careful_batches, frame_of, relation_of_batch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    import duckdb

    from passk_py.landing.source import Source

__all__ = ["DONE", "staged"]

DONE: Final = 0.9
"""Which share of the time goes into reading; the rest is for writing the rows."""

_STAGE: Final = "temp.passk_stage"
_BATCH: Final = "passk_batch"
_COLUMNS: Final = ", ".join(column.name for column in CONTRACT_COLUMNS)


@contextmanager
def staged(connection: duckdb.DuckDBPyConnection, source: Source) -> Iterator[tuple[str, str, int]]:
    """Read a file and hold its typed rows until they are written.

    Parameters
    ----------
    connection
        Where the rows will go. Nothing of the database itself is written.
    source
        The file.

    Yields
    ------
    tuple
        A query of the good rows, the contract's columns and ``source_line``; a query of the
        others, with ``reject_code``, ``reject_reason`` and ``raw_text`` too; and how many rows
        there are of both.

    Raises
    ------
    PasskError
        If the file has no rows, or none that says which attempt it is.
    """
    try:
        rows = _stage(connection, source)
        yield (
            f"select {_COLUMNS}, source_line from {_STAGE} where reject_code is null",
            f"select * from {_STAGE} where reject_code is not null",
            rows,
        )
    finally:
        connection.execute(f"drop table if exists {_STAGE}")


def _stage(connection: duckdb.DuckDBPyConnection, source: Source) -> int:
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
            source.tell(int(_position(file) * DONE), rows)
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
