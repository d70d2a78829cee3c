"""The database that a load writes into: its connections, and where its attempts lie."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from passk_py.ingest.landing.database import open_database, set_session
from passk_py.ingest.landing.jobs import Connections
from passk_py.ingest.landing.parquet_storage import InParquet, keep_in_parquet, storage_of
from passk_py.ingest.landing.schema import ensure_landing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from passk_py.ingest.landing.options import Options
    from passk_py.ingest.landing.storage import Storage


@dataclass(frozen=True, slots=True)
class Target:
    """Where logs land."""

    connections: Connections
    storage: Storage
    alone: bool = False
    """Whether one file is all that lands."""

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection of this thread."""
        return self.connections.mine


@contextmanager
def opened(database: str | Path | duckdb.DuckDBPyConnection, options: Options) -> Iterator[Target]:
    """Open a database for a load; a new one in which nothing landed is taken away again."""
    if isinstance(database, duckdb.DuckDBPyConnection):
        set_session(database)
        ensure_landing(database, at_once=True)
        yield Target(Connections(database), storage_of(database))
        return
    path = Path(database)
    keep = path.exists()
    try:
        with open_database(path) as connection:
            storage = storage_of(connection)
            ensure_landing(connection, at_once=True)
            if options.parquet is not None:
                storage = keep_in_parquet(connection, options.parquet, storage)
            if isinstance(storage, InParquet):
                storage.sweep(connection)
            yield Target(Connections(connection), storage)
            with suppress(duckdb.Error):
                keep = keep or _has_rows(connection)
    finally:
        if not keep and path.exists() and _is_empty(path):
            for file in (path, path.with_name(f"{path.name}.wal")):
                file.unlink(missing_ok=True)


def _has_rows(connection: duckdb.DuckDBPyConnection) -> bool:
    return bool(connection.execute("from landing.files limit 1").fetchall())


def _is_empty(database: Path) -> bool:
    try:
        with duckdb.connect(str(database), read_only=True) as connection:
            tables = connection.execute("select table_name from duckdb_tables()").fetchall()
            return not tables or not _has_rows(connection)
    except duckdb.Error:
        return False
