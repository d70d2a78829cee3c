"""Where landed attempts lie: in the database, or in Parquet files of which it keeps a list.

The readers of ``landing.attempts`` can't tell which: it is a table, or a view of the listed files.
A file is listed, and the view made anew, in the transaction of the log that it came from. What no
view names is no attempt, so whatever a killed load leaves behind is seen by nobody, and the next
load takes it away.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal
from uuid import uuid4

import duckdb

from passk_py.contract import CONTRACT_COLUMNS, LANDING_COLUMNS
from passk_py.errors import PasskError
from passk_py.sql_text import quote

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

__all__ = ["InDatabase", "InParquet", "Storage", "keep_in_parquet", "storage_of"]

_COLUMNS: Final = ", ".join(column.name for column in LANDING_COLUMNS)
_CONTRACT: Final = ", ".join(column.name for column in CONTRACT_COLUMNS)
_NULLS: Final = ", ".join(f"null::{c.duckdb_type} as {c.name}" for c in LANDING_COLUMNS)
_LONGEST_NAME: Final = 255
"""Bytes of a folder's name, on all common file systems."""


class Storage(ABC):
    """Writes and removes landed attempts, in a transaction that its caller opens and ends."""

    folder: Path | None = None
    """Where the Parquet files lie; None where the attempts are in the database."""

    batches: str
    """Query of the times of the batches, as ``time``."""

    files_of_runs: str
    """Query of ``run_id`` and ``source_file``, maybe more than once."""

    @abstractmethod
    def insert(
        self, connection: duckdb.DuckDBPyConnection, query: str, batch: tuple[str, str, datetime]
    ) -> int:
        """Write rows; give how many.

        Parameters
        ----------
        connection
            A connection in a transaction.
        query
            A query of the contract's columns and ``source_line``.
        batch
            The other columns: ``source_file``, ``source_format`` and ``loaded_at``.
        """

    @abstractmethod
    def delete(
        self,
        connection: duckdb.DuckDBPyConnection,
        column: Literal["source_file", "run_id"],
        value: str | None,
    ) -> int:
        """Remove what came from a file, or is of a run; give how many rows."""

    @abstractmethod
    def settle(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let ``landing.attempts`` show what was written and removed."""

    @abstractmethod
    def committed(self) -> None:
        """Take note that the transaction has ended well."""

    @abstractmethod
    def undone(self) -> None:
        """Take note that the transaction was rolled back."""


class InDatabase(Storage):
    """Attempts as rows of the table ``landing.attempts``."""

    batches = "select max(loaded_at) as time from landing.attempts"
    files_of_runs = "select run_id, source_file from landing.attempts"

    def insert(
        self, connection: duckdb.DuckDBPyConnection, query: str, batch: tuple[str, str, datetime]
    ) -> int:
        """Write rows."""
        done = connection.execute(f"insert into landing.attempts {_whole(query)}", list(batch))
        return int(done.fetchall()[0][0])

    def delete(
        self,
        connection: duckdb.DuckDBPyConnection,
        column: Literal["source_file", "run_id"],
        value: str | None,
    ) -> int:
        """Remove what came from a file, or is of a run."""
        done = connection.execute(f"delete from landing.attempts where {column} = ?", [value])
        return int(done.fetchall()[0][0])

    def settle(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Do nothing: a table shows its rows."""

    def committed(self) -> None:
        """Do nothing: the transaction was all."""

    def undone(self) -> None:
        """Do nothing: the transaction was all."""


class InParquet(Storage):
    """Attempts as files ``suite=S/run_id=R/attempts_*.parquet`` of a folder.

    Parameters
    ----------
    folder
        The folder.
    owner
        Is part of the files' names, so that several databases may share a folder.
    """

    batches = "select max(loaded_at) as time from landing.parquet_files"
    files_of_runs = "select run_id, source_file from landing.parquet_files"

    def __init__(self, folder: Path, owner: str) -> None:
        self.folder: Path = folder
        self._owner = owner
        self._written: list[Path] = []
        self._removed: list[Path] = []

    def insert(
        self, connection: duckdb.DuckDBPyConnection, query: str, batch: tuple[str, str, datetime]
    ) -> int:
        """Write rows as files, one or more for each suite and run."""
        files = self._copy(connection, query, batch)
        if not files:
            return 0
        self._written += [Path(path) for path, *_ in files]
        source_file, _, loaded_at = batch
        connection.executemany(
            "insert into landing.parquet_files values (?, ?, ?, ?, ?, ?)",
            [
                [path, source_file, of["suite"], of["run_id"], rows, loaded_at]
                for path, rows, of in files
            ],
        )
        return sum(rows for _, rows, _ in files)

    def _copy(
        self, connection: duckdb.DuckDBPyConnection, query: str, batch: tuple[str, str, datetime]
    ) -> list[tuple[str, int, dict[str, str]]]:
        """Write files; give the path of each, how many rows it has, and of which suite and run."""
        try:
            done = connection.execute(
                f"copy ({_whole(query)}) to {quote(str(self.folder))} ("
                "format parquet, compression zstd, partition_by (suite, run_id), "
                "write_partition_columns true, append true, return_stats true, "
                f"filename_pattern 'attempts_{self._owner}_{{uuid}}')",
                list(batch),
            )
            files = done.fetchall()
        except duckdb.IOException as error:
            if "too long" not in str(error):
                raise
            raise PasskError(
                "A suite or a run has a name that is too long for a folder, which takes "
                f"{_LONGEST_NAME} bytes. A letter outside of ASCII needs six or more of them.",
                hint="Shorten it in the log, or load into a database without --parquet.",
            ) from error
        # What else is told of each file depends on DuckDB's version.
        at = {name: place for place, (name, *_) in enumerate(done.description)}
        return [(f[at["filename"]], f[at["count"]], f[at["partition_keys"]]) for f in files]

    def delete(
        self,
        connection: duckdb.DuckDBPyConnection,
        column: Literal["source_file", "run_id"],
        value: str | None,
    ) -> int:
        """Take the files of a log, or of a run, from the list. They stay until it is committed."""
        gone = connection.execute(
            f"delete from landing.parquet_files where {column} = ? returning path, attempts",
            [value],
        ).fetchall()
        self._removed += [Path(path) for path, _ in gone]
        return sum(int(attempts) for _, attempts in gone)

    def settle(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make the view of the listed files anew."""
        _make_view(connection)

    def committed(self) -> None:
        """Delete the files that are listed no more."""
        _unlink(self._removed)
        self._written, self._removed = [], []

    def undone(self) -> None:
        """Delete the files that were written."""
        _unlink(self._written)
        self._written, self._removed = [], []

    def sweep(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Delete what a killed load has left: files of this database that it does not list."""
        rows = connection.execute("select path from landing.parquet_files").fetchall()
        listed = {path for (path,) in rows}
        found = self.folder.glob(f"suite=*/run_id=*/attempts_{self._owner}_*.parquet")
        _unlink([path for path in found if str(path) not in listed])


def storage_of(connection: duckdb.DuckDBPyConnection) -> Storage:
    """Look up where the attempts of a database lie.

    Parameters
    ----------
    connection
        A connection to a database with the landing tables, in no transaction.
    """
    try:
        rows = connection.execute("select folder, owner from landing.parquet_folder").fetchall()
    except duckdb.CatalogException:
        return InDatabase()
    ((folder, owner),) = rows
    return InParquet(Path(folder), owner)


def keep_in_parquet(connection: duckdb.DuckDBPyConnection, folder: Path) -> InParquet:
    """Let the attempts of a database lie in a folder from now on.

    Parameters
    ----------
    connection
        A connection to a database with the landing tables, in no transaction.
    folder
        The folder; it is made if it is missing.

    Raises
    ------
    PasskError
        If the database holds attempts itself, or keeps them in another folder.
    """
    folder = folder.absolute()
    now = storage_of(connection)
    if now.folder is not None and now.folder != folder:
        raise PasskError(
            f"The attempts of this database are Parquet in {now.folder}, not in {folder}.",
            hint="Load without --parquet, which goes on there, or into a new database.",
        )
    if folder.exists() and not folder.is_dir():
        raise PasskError(f"{folder} is a file.", hint="Give a folder with --parquet.")
    if isinstance(now, InParquet):
        return now
    attempts = connection.execute("select count(*) from landing.attempts").fetchall()[0][0]
    if attempts:
        raise PasskError(
            f"This database holds its attempts itself ({attempts:,}), so no others can go to "
            f"{folder}.",
            hint="Load all of the logs into a new database with --parquet.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    owner = uuid4().hex[:8]
    connection.execute("begin transaction")
    connection.execute("create table landing.parquet_folder (folder varchar, owner varchar)")
    connection.execute("insert into landing.parquet_folder values (?, ?)", [str(folder), owner])
    connection.execute(
        "create table landing.parquet_files (path varchar, source_file varchar, suite varchar, "
        "run_id varchar, attempts bigint, loaded_at timestamp)"
    )
    connection.execute("drop table landing.attempts")
    _make_view(connection)
    connection.execute("commit")
    return InParquet(folder, owner)


def _whole(query: str) -> str:
    """Write SQL for all columns of ``landing.attempts``, of which the batch's are bound."""
    return (
        f"select {_CONTRACT}, ? as source_file, source_line, ? as source_format, "
        f"?::timestamp as loaded_at from ({query})"
    )


def _make_view(connection: duckdb.DuckDBPyConnection) -> None:
    rows = connection.execute("select path from landing.parquet_files order by path").fetchall()
    files = _read([path for (path,) in rows]) if rows else f"(select {_NULLS} limit 0)"
    connection.execute(f"create or replace view landing.attempts as select {_COLUMNS} from {files}")


def _read(paths: Sequence[str], more: str = "") -> str:
    # The names of the folders repeat what the files hold, and would be guessed at: 007 for 7.
    listed = ", ".join(quote(path) for path in paths)
    return f"read_parquet([{listed}], hive_partitioning = false{more})"


def _unlink(paths: Sequence[Path]) -> None:
    """Delete files, and the folders of their run and suite that are empty then."""
    for path in paths:
        # A file that stays is on no list; the next load tries again.
        with suppress(OSError):
            path.unlink(missing_ok=True)
        for folder in (path.parent, path.parent.parent):
            with suppress(OSError):
                folder.rmdir()
