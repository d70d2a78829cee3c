"""One file's rows into the database, in one transaction."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from passk_py.contract import CONTRACT_COLUMNS
from passk_py.errors import PasskError
from passk_py.landing.schema import TABLES, next_batch_time
from passk_py.landing.staging import ticking

if TYPE_CHECKING:
    from datetime import datetime

    import duckdb

    from passk_py.landing.staging import Source, Staged

__all__ = ["Before", "Written", "recorded", "write"]

_CONTRACT: Final = ", ".join(column.name for column in CONTRACT_COLUMNS)
_TASK: Final = "run_id, suite, task_id"


@dataclass(frozen=True, slots=True)
class Before:
    """What the database knows of a file.

    Parameters
    ----------
    size, sha256, options
        Of the file when its rows landed; the digest is None after some of them were removed.
    rows_read, rows_landed, rows_rejected
        Its rows.
    """

    size: int
    sha256: str | None
    options: str
    rows_read: int
    rows_landed: int
    rows_rejected: int


@dataclass(frozen=True, slots=True)
class Written:
    """What a transaction wrote.

    Parameters
    ----------
    landed, rejected
        Rows.
    reasons
        How many rows were rejected for which reason.
    first_reason
        The first rejected row's line and reason, as a sentence; empty if there is none.
    """

    landed: int
    rejected: int
    reasons: dict[str, int]
    first_reason: str


def recorded(connection: duckdb.DuckDBPyConnection, path: str) -> Before | None:
    """Look up a file among those that landed."""
    rows = connection.execute(
        "select size_bytes, sha256, options, rows_read, rows_landed, rows_rejected "
        "from landing.files where source_file = ?",
        [path],
    ).fetchall()
    return Before(*rows[0]) if rows else None


def write(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    rows: Staged,
    *,
    replaces: bool,
    strict: bool,
) -> Written:
    """Write a file's rows in place of those that it had.

    Parameters
    ----------
    connection
        The database.
    source
        The file.
    rows
        Its rows.
    replaces
        Whether rows of the file landed before.
    strict
        Write nothing if a row is rejected.

    Returns
    -------
    Written
        What was written; or, if strictness forbade it, what would have been.
    """
    path = str(source.sample.path)
    connection.execute("begin transaction")
    try:
        at = next_batch_time(connection)
        if replaces:
            _remove(connection, path)
        with ticking(connection, source, rows.done, 1.0):
            written = _insert(connection, source, rows, at)
        if strict and written.rejected:
            connection.execute("rollback")
            return written
        if replaces:
            _note_removed_tasks(connection, path, at)
        connection.execute(
            f"insert into landing.files values ({', '.join('?' * len(TABLES['files']))})",
            [
                path,
                source.reader.name,
                source.sample.size,
                rows.sha256,
                source.options.as_json(source.reader),
                rows.rows_read,
                written.landed,
                written.rejected,
                at,
            ],
        )
        connection.execute("commit")
    except BaseException:
        # A failed statement may have ended the transaction already; its error is the one to tell.
        with suppress(Exception):
            connection.execute("rollback")
        raise
    return written


def _remove(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    connection.execute(
        f"create or replace temp table passk_before as select {_TASK}, count(*) as attempts "
        "from landing.attempts where source_file = ? group by all",
        [path],
    )
    for table in ("attempts", "rejected", "files"):
        connection.execute(f"delete from landing.{table} where source_file = ?", [path])


def _note_removed_tasks(connection: duckdb.DuckDBPyConnection, path: str, at: datetime) -> None:
    connection.execute(
        f"insert into landing.removed_tasks select {_TASK}, ?::timestamp "
        f"from temp.passk_before left join (select {_TASK}, count(*) as attempts_now "
        f"from landing.attempts where source_file = ? group by all) using ({_TASK}) "
        "where coalesce(attempts_now, 0) < attempts",
        [at, path],
    )
    connection.execute("drop table temp.passk_before")


def _insert(
    connection: duckdb.DuckDBPyConnection, source: Source, rows: Staged, at: datetime
) -> Written:
    path, name = str(source.sample.path), source.reader.name
    landed = connection.execute(
        f"insert into landing.attempts select {_CONTRACT}, ?, source_line, ?, ?::timestamp "
        f"from ({rows.landing})",
        [path, name, at],
    ).fetchall()[0][0]
    rejected = rows.rows_read - landed
    if rejected == 0:
        return Written(landed, 0, {}, "")
    found = connection.execute(
        f"insert into landing.rejected select {_TASK}, attempt, outcome, reject_code, "
        f"reject_reason, raw_text, ?, source_line, ?, ?::timestamp from ({rows.rejected})",
        [path, name, at],
    ).fetchall()[0][0]
    if found != rejected:
        raise PasskError(
            f"{path} gave {rows.rows_read} rows, of which {landed} landed and {found} were "
            "rejected, which does not add up.",
            hint="Nothing of the file landed. Was it written to at the same time? If not, this is "
            "a mistake of passk.",
        )
    reasons = connection.execute(
        "select reason_code, count(*), min_by(reason, source_line), min(source_line) "
        "from landing.rejected where source_file = ? group by all order by 4",
        [path],
    ).fetchall()
    counts = Counter({code: count for code, count, _, _ in reasons})
    first = f"line {reasons[0][3]}: {reasons[0][2]}"
    return Written(landed, rejected, dict(counts.most_common()), first)
