"""Opening the database, with words for what can go wrong."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from passk_py.common.errors import InUseError, PasskError
from passk_py.common.files import not_a_file
from passk_py.common.sql_text import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

# Since 2.0, DuckDB writes files that the versions inside of most BI tools can't read.
_STORAGE: Final = "v1.4.0"
_MAGIC: Final = b"DUCK"
_MEMORY_VARIABLE: Final = "PASSK_MEMORY_LIMIT"


@contextmanager
def open_database(database: str | Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database for landing in UTC, made if it is missing, and close it afterwards."""
    path = Path(database)
    connection = _connect(path)
    try:
        limit_memory(connection)
        set_session(connection)
        yield connection
    finally:
        connection.close()


@contextmanager
def writing_at_once(connection: duckdb.DuckDBPyConnection, *, wanted: bool) -> Iterator[None]:
    """Let the only commit write into the database itself, as closing it would do anyway."""
    # Otherwise it is written twice, first to the write-ahead log. If there were several commits,
    # each would write some pages once more, which costs more than it saves. So does each statement
    # on a temporary table, which is why this is only for the commit. A database in memory has no
    # write-ahead log.
    wanted = wanted and path_of(connection) is not None
    if wanted:
        connection.execute("set checkpoint_threshold = '1KB'")
    try:
        yield
    finally:
        if wanted:
            # The error before this one is the one to tell.
            with suppress(duckdb.Error):
                connection.execute("reset checkpoint_threshold")


def path_of(connection: duckdb.DuckDBPyConnection) -> str | None:
    """Give the path of the database as it was opened; None in memory."""
    own = "select path from duckdb_databases() where database_name = current_database()"
    [(path,)] = connection.execute(own).fetchall()
    return None if path is None else str(path)


def check_free(path: Path) -> None:
    """Raise an error if a database could not be opened now; one that is not there is not made."""
    check_place(path)
    if not _is_new(path):
        _connect(path).close()


def set_session(connection: duckdb.DuckDBPyConnection) -> None:
    """Set what a connection needs that lands logs."""
    # A text without a zone is UTC; and lines are counted by the order in which rows come.
    connection.execute("set TimeZone = 'UTC'")
    connection.execute("set preserve_insertion_order = true")
    # Keeps count for query_progress without printing anything.
    connection.execute("set enable_progress_bar = true")
    connection.execute("set enable_progress_bar_print = false")
    connection.execute("set progress_bar_time = 0")


def limit_memory(connection: duckdb.DuckDBPyConnection) -> None:
    """Let DuckDB use as much memory as the environment says, as the builds of profiles.yml do."""
    limit = os.environ.get(_MEMORY_VARIABLE)
    if not limit:
        return
    try:
        connection.execute(f"set memory_limit = {quote(limit)}")
        # DuckDB takes any size, and then has no room for the first block.
        connection.execute("select range, count(*) from range(100) group by range").fetchall()
    except duckdb.Error as error:
        raise PasskError(
            f"{_MEMORY_VARIABLE} is {limit!r}, which is no size that DuckDB can work with.",
            hint=f"Write a number and a unit, such as {_MEMORY_VARIABLE}=2GB.",
        ) from error


def check_place(path: Path) -> None:
    """Raise an error if no database can be at a path, without opening it."""
    if path.is_dir():
        raise PasskError(
            f"The database {path} is a folder.", hint="Give the path of a file with --database."
        )
    if what := not_a_file(path):
        raise PasskError(what, hint="Give the path of a file with --database.")
    if not _is_new(path):
        with path.open("rb") as file:
            if file.read(12)[8:] != _MAGIC:
                raise PasskError(
                    f"{path} is not a DuckDB database.",
                    hint="Give the path of a database, or of a file that does not exist yet, "
                    "with --database.",
                )


def _is_new(path: Path) -> bool:
    return not path.exists() or path.stat().st_size == 0


def _connect(path: Path) -> duckdb.DuckDBPyConnection:
    check_place(path)
    try:
        if not _is_new(path):
            return duckdb.connect(str(path))
        # Only the connection that makes the file says so. Until it is closed, others of the process
        # would have to say the same; to open the file twice would take as long as a small log.
        return duckdb.connect(str(path), config={"storage_compatibility_version": _STORAGE})
    except duckdb.Error as error:
        raise _explained(path, error) from error


def _explained(path: Path, error: duckdb.Error) -> PasskError:
    text = str(error)
    if "lock" in text:
        holder = re.search(r"held in (.+?) \(PID (\d+)\)", text)
        process = f"process {holder[2]} ({Path(holder[1]).name})" if holder else "another process"
        return InUseError(
            f"The database {path} is in use by {process}.",
            hint="Close it there, or wait until it is done.",
        )
    if path.is_file() and path.stat().st_size == 0:
        # Some versions of DuckDB take this for a new database, others stop at it.
        return PasskError(
            f"The file {path} is empty: it is no DuckDB database.",
            hint="Remove it, and it will be made, or name another one with --database.",
        )
    if "version number" in text:
        return PasskError(
            f"The database {path} was written by a newer DuckDB than the one installed here, "
            f"{duckdb.__version__}.",
            hint="Upgrade the package duckdb.",
        )
    return PasskError(
        f"The database {path} can't be opened: {text.splitlines()[0]}",
        hint="Check that its folder exists and that you may write there.",
    )
