"""Removing a load: the rows of a run, or of a file, leave the landing tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.common.errors import PasskError
from passk_py.common.files import absolute, is_remote
from passk_py.ingest.landing.database import open_database
from passk_py.ingest.landing.labels import forget_labels
from passk_py.ingest.landing.load_report import ForgetReport
from passk_py.ingest.landing.parquet_storage import storage_of
from passk_py.ingest.landing.schema import ensure_landing, next_batch_time

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from passk_py.ingest.landing.storage import Part, Storage


def forget(
    database: str | Path, *, run_id: str | None = None, source_file: str | Path | None = None
) -> ForgetReport:
    """Remove the rows of a run, or of a file, from the landing tables.

    The tasks that lose rows are noted in ``landing.removed_tasks``, so that the next build removes
    them from the public tables. Loading the file again brings the rows back.

    Parameters
    ----------
    database
        Path of the DuckDB file.
    run_id
        Remove this run, whichever files it came from.
    source_file
        Remove what came from this file, which need not exist any more.

    Returns
    -------
    ForgetReport
        The numbers of removed rows and files; all zero if there was nothing.

    Raises
    ------
    PasskError
        If not exactly one of ``run_id`` and ``source_file`` is given, or the database can't be
        opened.
    """
    part: Part
    if run_id is not None and source_file is None:
        part = ("run_id", run_id)
    elif source_file is not None and run_id is None:
        name = str(source_file)
        if not (is_remote(name) or name.startswith("stdin:")):
            name = str(absolute(name))
        part = ("source_file", name)
    else:
        raise PasskError(
            "Either run_id or source_file must be given, and not both.",
            hint="run_id removes a run, source_file the rows of one file.",
        )
    with open_database(database) as connection:
        storage = storage_of(connection)
        ensure_landing(connection)
        connection.execute("begin transaction")
        report = _remove(connection, storage, part)
        connection.execute("commit")
        storage.committed()
    return report


def _remove(connection: duckdb.DuckDBPyConnection, storage: Storage, part: Part) -> ForgetReport:
    column, value = part

    def run(sql: str, *values: object) -> int:
        return int(connection.execute(sql, list(values)).fetchall()[0][0])

    at = next_batch_time(connection, storage)
    # Files may lose rows of one table only.
    tables = [f"({storage.runs_of_files})", "landing.rejected", "landing.expected_attempts"]
    tables += ["landing.files"] if column == "source_file" else []
    files = " union ".join(f"select source_file from {one} where {column} = ?" for one in tables)
    connection.execute(
        f"create or replace temp table passk_files as {files}", [value] * len(tables)
    )
    tasks = run(
        "insert into landing.removed_tasks select distinct run_id, suite, task_id, ?::timestamp "
        f"from {storage.attempts_of(connection, part)}",
        at,
    )
    rows = storage.delete(connection, part)
    storage.settle(connection)
    rejected = run(f"delete from landing.rejected where {column} = ?", value)
    run(f"delete from landing.expected_attempts where {column} = ?", value)
    lost = run("select count(*) from temp.passk_files")
    _recount(connection)
    connection.execute("drop table temp.passk_files")
    labels = 0 if column == "run_id" else forget_labels(connection, value)
    return ForgetReport(rows, rejected, lost, tasks, labels)


def _recount(connection: duckdb.DuckDBPyConnection) -> None:
    """Let the files that lost rows land again, and those that have none left be unknown."""
    of_file = "where source_file = landing.files.source_file"
    connection.execute(
        "update landing.files set sha256 = null, "
        f"rows_landed = (select count(*) from landing.attempts {of_file}), "
        f"rows_rejected = (select count(*) from landing.rejected {of_file}) "
        "where source_file in (from temp.passk_files)"
    )
    connection.execute(
        "update landing.files set rows_read = rows_landed + rows_rejected "
        "where source_file in (from temp.passk_files)"
    )
    connection.execute(
        "delete from landing.files where rows_read = 0 and source_file in (from temp.passk_files)"
    )
    connection.execute(
        "delete from landing.parts where source_file in (from temp.passk_files) "
        "and source_file not in (select source_file from landing.files)"
    )
