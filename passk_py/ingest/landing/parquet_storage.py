"""Landed attempts as Parquet files of a folder, of which the database keeps a list.

The readers of ``landing.attempts`` see no difference: it is a view of the listed files. A file is
listed, and the view replaced, in the transaction of the log that it came from. Files that are not
listed hold no attempts: readers do not see files that a killed load leaves, and the next load
deletes them.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

import duckdb

from passk_py.common.contract import LANDING_COLUMNS, TRANSCRIPT
from passk_py.common.errors import PasskError
from passk_py.common.files import absolute, to_disk
from passk_py.common.sql_text import quote
from passk_py.ingest.landing.database import path_of
from passk_py.ingest.landing.storage import Batch, InDatabase, Part, Storage, whole_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_COLUMNS: Final = ", ".join(column.name for column in LANDING_COLUMNS)
_NULLS: Final = ", ".join(f"null::{c.duckdb_type} as {c.name}" for c in LANDING_COLUMNS)
_OLDER_COLUMNS: Final = ", ".join(
    f"null::{c.duckdb_type} as {c.name}" if c is TRANSCRIPT else c.name for c in LANDING_COLUMNS
)
_FILES: Final = "suite=*/run_id=*/attempts_*.parquet"


class InParquet(Storage):
    """Attempts as files of a folder; those that don't start with ``owner`` are never deleted."""

    batches = "select max(loaded_at) as time from landing.parquet_files"
    runs_of_files = "select run_id, source_file from landing.parquet_files"

    def __init__(self, folder: Path, owner: str) -> None:
        self.folder: Path = folder
        self._owner = owner
        self._written: list[Path] = []
        self._removed: list[Path] = []

    def insert(self, connection: duckdb.DuckDBPyConnection, query: str, batch: Batch) -> int:
        """Write rows as files, one or more for each suite and run."""
        files = self._copy(connection, query, batch)
        if not files:
            return 0
        self._written += [Path(path) for path, *_ in files]
        self._check_place()
        source_file, _, loaded_at = batch
        connection.executemany(
            "insert into landing.parquet_files values (?, ?, ?, ?, ?, ?, true)",
            [
                [path, source_file, of["suite"], of["run_id"], rows, loaded_at]
                for path, rows, of in files
            ],
        )
        return sum(rows for _, rows, _ in files)

    def _copy(
        self, connection: duckdb.DuckDBPyConnection, query: str, batch: Batch
    ) -> list[tuple[str, int, dict[str, str]]]:
        """Write files; give the path of each, how many rows it has, and of which suite and run."""
        try:
            done = connection.execute(
                f"copy ({whole_rows(query)}) to {quote(str(self.folder))} ("
                "format parquet, compression zstd, partition_by (suite, run_id), "
                "write_partition_columns true, append true, return_stats true, "
                f"filename_pattern '{self._owner}_{{uuid}}')",
                list(batch),
            )
            files = done.fetchall()
        except duckdb.IOException as error:
            if "too long" not in str(error):
                raise
            raise PasskError(
                "A suite or a run has a name that is too long for a folder, which takes 255 bytes: "
                "a letter or a digit is one of them, a space three, a letter like \u00fc six.",
                hint="Shorten it in the log, or load into a database without --parquet.",
            ) from error
        # The other columns of each file depend on DuckDB's version.
        at = {name: place for place, (name, *_) in enumerate(done.description)}
        return [(f[at["filename"]], f[at["count"]], f[at["partition_keys"]]) for f in files]

    def _check_place(self) -> None:
        """Raise an error if DuckDB put files elsewhere, as some versions do for strange names."""
        here = os.path.realpath(self.folder)
        for path in self._written:
            there = path.parent.parent.parent
            if os.path.realpath(there) != here:
                _unlink(self._written)
                raise PasskError(
                    f"DuckDB {duckdb.__version__} writes to {there} where it is told to write to "
                    f"{self.folder}.",
                    hint="Give a folder whose name has letters and digits only.",
                )

    def attempts_of(self, connection: duckdb.DuckDBPyConnection, part: Part) -> str:
        """Write SQL for the attempts of a part, which are whole files."""
        column, value = part
        return _read(_listed(connection, f"where {column} = ?", value))

    def delete(self, connection: duckdb.DuckDBPyConnection, part: Part) -> int:
        """Take the files of a part from the list. They stay until that is committed."""
        column, value = part
        gone = connection.execute(
            f"delete from landing.parquet_files where {column} = ? returning path, attempts",
            [value],
        ).fetchall()
        self._removed += [Path(path) for path, _ in gone]
        return sum(int(attempts) for _, attempts in gone)

    def holds(self, path: Path) -> bool:
        """Say whether a file is of the folder, whichever links lead to it."""
        real, folder = Path(os.path.realpath(path)), os.path.realpath(self.folder)
        return real.is_relative_to(folder) and real.relative_to(folder).match(_FILES)

    def settle(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Have the new files on the disk, or a power cut could leave a list without them."""
        folders = {folder for path in self._written for folder in (path.parent, path.parent.parent)}
        for path in (*self._written, *folders, *([self.folder] if folders else [])):
            to_disk(path)
        _make_view(connection)

    def committed(self) -> None:
        """Delete the files that are listed no more."""
        self._take_away(self._removed)
        self._written, self._removed = [], []

    def undone(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Delete what is on no list: an interrupt may come when the commit is done already."""
        self._written, self._removed = [], []
        with suppress(duckdb.Error):
            self.sweep(connection)

    def sweep(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Delete the files that a killed load has left on no list. No other load may be running."""
        names = {Path(path).name for path in _listed(connection)}
        self._take_away(path for path in self.folder.glob(_FILES) if path.name not in names)

    def _take_away(self, paths: Iterable[Path]) -> None:
        _unlink([path for path in paths if path.name.startswith(f"{self._owner}_")])


def storage_of(connection: duckdb.DuckDBPyConnection) -> Storage:
    """Look up where the attempts of a database lie; an error if listed files are not its own."""
    try:
        told = "select folder, owner, database from landing.parquet_folder"
        ((folder, owner, database),) = connection.execute(told).fetchall()
    except duckdb.CatalogException:
        return InDatabase()
    _add_missing_column(connection)
    here = _real_path_of(connection)
    if database != here:
        if Path(database).exists():
            raise PasskError(
                f"This database is a copy of {database}, whose files in {folder} it reads; only "
                "one of them may write there.",
                hint="Use that one, or load the logs into a new database.",
            )
        connection.execute("update landing.parquet_folder set database = ?", [here])
    missing = [path for path in _listed(connection) if not Path(path).is_file()]
    if missing:
        raise PasskError(
            f"{len(missing):,} of the Parquet files that hold the attempts of this database are "
            f"missing, the first is {missing[0]}.",
            hint=f"Put the folder {folder} back as it was, or load the logs into a new database.",
        )
    return InParquet(Path(folder), owner)


def keep_in_parquet(
    connection: duckdb.DuckDBPyConnection, folder: str | Path, now: Storage
) -> InParquet:
    """Keep the attempts of a database in a folder from now on; an error if that can't be."""
    if "://" in str(folder):
        raise PasskError(
            f"--parquet is {folder}, but must be a folder of this machine.",
            hint="Copy the files there afterwards, or mount the store as a folder.",
        )
    path = absolute(folder)
    if now.folder is not None and os.path.realpath(now.folder) != os.path.realpath(path):
        raise PasskError(
            f"The attempts of this database are stored as Parquet in {now.folder}, not in {path}.",
            hint="Load without --parquet to add to that folder, or load into a new database.",
        )
    if isinstance(now, InParquet):
        return now
    if path.exists() and not path.is_dir():
        raise PasskError(f"{path} is a file.", hint="Give a folder with --parquet.")
    attempts = connection.execute("select count(*) from landing.attempts").fetchall()[0][0]
    if attempts:
        raise PasskError(
            f"This database already has attempts in its own tables ({attempts:,}), so new ones "
            f"can't go to {path}.",
            hint="Load all of the logs into a new database with --parquet.",
        )
    other = next(path.glob(_FILES), None)
    if other:
        raise PasskError(
            f"{path} holds attempts of another database: {other.relative_to(path)}.",
            hint="Give an empty folder. If that database is gone, delete its files first.",
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PasskError(
            f"The folder {path} can't be made: {error.strerror}.", hint="Give another one."
        ) from error
    owner = f"attempts_{uuid4().hex[:8]}"
    connection.execute("begin transaction")
    connection.execute(
        "create table landing.parquet_folder (folder varchar, owner varchar, database varchar)"
    )
    connection.execute(
        "insert into landing.parquet_folder values (?, ?, ?)",
        [str(path), owner, _real_path_of(connection)],
    )
    connection.execute(
        "create table landing.parquet_files (path varchar, source_file varchar, suite varchar, "
        "run_id varchar, attempts bigint, loaded_at timestamp, has_transcript boolean)"
    )
    connection.execute("drop table landing.attempts")
    _make_view(connection)
    connection.execute("commit")
    return InParquet(path, owner)


def _real_path_of(connection: duckdb.DuckDBPyConnection) -> str:
    """Give the path of the database, whichever links lead to it."""
    return os.path.realpath(str(path_of(connection)))


def _add_missing_column(connection: duckdb.DuckDBPyConnection) -> None:
    """Let a folder of an older version hold files with the column ``transcript`` too."""
    columns = connection.execute("describe landing.parquet_files").fetchall()
    if "has_transcript" not in (name for name, *_ in columns):
        connection.execute("begin transaction")
        connection.execute("alter table landing.parquet_files add column has_transcript boolean")
        _make_view(connection)
        connection.execute("commit")


def _listed(connection: duckdb.DuckDBPyConnection, where: str = "", *values: object) -> list[str]:
    rows = connection.execute(
        f"select path from landing.parquet_files {where} order by path", list(values)
    ).fetchall()
    return [path for (path,) in rows]


def _make_view(connection: duckdb.DuckDBPyConnection) -> None:
    # Sorted into two lists, because the columns of the first file are those of all in a list.
    older = _listed(connection, "where has_transcript is null")
    rows = f"select {_COLUMNS} from {_read(_listed(connection, 'where has_transcript'))}"
    if older:
        rows += f" union all select {_OLDER_COLUMNS} from {_read(older)}"
    connection.execute(f"create or replace view landing.attempts as {rows}")


def _read(paths: Sequence[str]) -> str:
    if not paths:
        return f"(select {_NULLS} limit 0)"
    # The names of the folders repeat what the files hold, and would be guessed at: 007 for 7.
    return f"read_parquet([{', '.join(map(quote, paths))}], hive_partitioning = false)"


def _unlink(paths: Iterable[Path]) -> None:
    """Delete files, and the folders of their run and suite that are empty then."""
    for path in paths:
        # A file that stays is on no list; the next load tries again.
        with suppress(OSError):
            path.unlink(missing_ok=True)
        for folder in (path.parent, path.parent.parent):
            with suppress(OSError):
                folder.rmdir()
