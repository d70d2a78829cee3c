"""Reading the public tables of a database."""

from __future__ import annotations

import re
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.errors import InUseError, PasskError
from passk_py.common.files import not_a_file
from passk_py.common.names import require_known
from passk_py.common.sql_text import quote
from passk_py.warehouse.catalog import (
    OPTIONAL_TABLES,
    PUBLIC_TABLES,
    Filters,
    PublicTable,
    filters_of,
    public_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import duckdb
    import polars as pl


@dataclass(slots=True)
class Tables:
    """An open database with its public tables."""

    database: Path
    connection: duckdb.DuckDBPyConnection
    """A connection that only reads, in UTC. All that is read over it is one snapshot."""
    _places: dict[str, list[str]] = field(default_factory=dict)
    _columns: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for schema, name in self.rows(
            "select table_schema, table_name from information_schema.tables "
            "where table_catalog = current_database() order by table_schema"
        ):
            self._places.setdefault(name, []).append(schema)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query and fetch its rows."""
        return self.connection.execute(sql).fetchall()

    def records(self, sql: str) -> list[dict[str, Any]]:
        """Run a query and fetch its rows as mappings."""
        result = self.connection.execute(sql)
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def find(self, name: str, *, schema: str | None = None) -> str | None:
        """Give the qualified name of a table or view, of ``main`` first; None if there is none."""
        schemas = self._places.get(name, [])
        if schema is not None:
            schemas = [schema] if schema in schemas else []
        if not schemas:
            return None
        found = "main" if "main" in schemas else schemas[0]
        return f'"{found}"."{name}"'

    def require(self, name: str) -> str:
        """Give the qualified name of a table that a build makes; an error if it is not there."""
        found = self.find(name)
        if found is not None:
            return found
        var = next((table.var for table in OPTIONAL_TABLES if table.name == name), None)
        if var:
            raise PasskError(
                f"{self.database} has no table {name}: it is made where the var {var} is set.",
                hint=f"Set {var} in dbt_project.yml or with --vars, and build again.",
            )
        if self._places.keys() & {table.name for table in PUBLIC_TABLES}:
            raise PasskError(
                f"{self.database} has other public tables, but not {name}: another version of "
                "passk made them, or the project or the copy leaves it out.",
                hint="Run `passk build` on the database that the log was loaded into.",
            )
        raise PasskError(
            f"{self.database} has no table {name}: nothing has been built in it.",
            hint="Run `passk build`; before that, `passk load FILE` if no log is in yet.",
        )

    def public(self) -> list[PublicTable]:
        """Give the public tables that the vars of the build ask for."""
        return [*PUBLIC_TABLES, *(table for table in OPTIONAL_TABLES if self.find(table.name))]

    def columns(self, name: str) -> dict[str, str]:
        """Give the columns of a public table, in order, with their types."""
        if name not in self._columns:
            rows = self.rows(f"describe select * from {self.require(name)}")
            self._columns[name] = {row[0]: row[1] for row in rows}
        return self._columns[name]

    def select(
        self,
        table: PublicTable,
        filters: Filters | None = None,
        *,
        columns: Iterable[str] = ("*",),
        limit: int | None = None,
    ) -> str:
        """Write the query for rows of a public table, in the order of its key."""
        where = (filters or Filters()).where(table)
        sql = (
            f"select {', '.join(columns)} from {self.require(table.name)} where {where} "
            f"order by {', '.join(table.key)}"
        )
        return sql if limit is None else f"{sql} limit {limit}"

    def count(self, table: PublicTable, filters: Filters | None = None) -> int:
        """Count the rows of a public table."""
        where = (filters or Filters()).where(table)
        return int(
            self.rows(f"select count(*) from {self.require(table.name)} where {where}")[0][0]
        )


@contextmanager
def open_tables(database: str | Path) -> Iterator[Tables]:
    """Open a database to read it; an `InUseError` says that another process writes it."""
    import duckdb

    path = Path(database)
    if not path.exists():
        raise PasskError(
            f"There is no database {path}.",
            hint="Make it with `passk load FILE`, or name another one with --database.",
        )
    if what := not_a_file(path):
        raise PasskError(what, hint="Give the path of a file with --database.")
    try:
        connection = duckdb.connect(str(path), read_only=True)
    except duckdb.Error as error:
        raise _explained(path, str(error)) from error
    try:
        connection.execute("set TimeZone = 'UTC'")
        connection.execute("set enable_progress_bar = false")
        # One transaction, so that what is read table by table belongs together.
        connection.execute("begin transaction")
        yield Tables(path, connection)
    finally:
        connection.close()


def _explained(path: Path, text: str) -> PasskError:
    if path.is_dir():
        return PasskError(
            f"The database {path} is a folder.", hint="Give the path of a file with --database."
        )
    if "lock" in text:
        holder = re.search(r"held in (.+?) \(PID (\d+)\)", text)
        process = f"process {holder[2]} ({Path(holder[1]).name})" if holder else "another process"
        return InUseError(
            f"The database {path} is in use by {process}.",
            hint="Close it there, or wait until it is done.",
        )
    if path.stat().st_size == 0:
        return PasskError(
            f"The file {path} is empty: it is no DuckDB database.",
            hint="Remove it and make one with `passk load FILE`, or name another one with "
            "--database.",
        )
    if "not a valid DuckDB database" in text:
        return PasskError(
            f"{path} is not a DuckDB database.", hint="Give the path of a database with --database."
        )
    return PasskError(
        f"The database {path} can't be opened: {text.splitlines()[0]}",
        hint="Name a DuckDB database that you may read with --database.",
    )


def fetch_frame(connection: duckdb.DuckDBPyConnection, sql: str) -> pl.DataFrame:
    """Fetch a query into polars."""
    import polars as pl

    # By way of Parquet, because every direct way needs pyarrow, which is a large thing to install
    # for this alone.
    with tempfile.TemporaryDirectory(prefix="passk-") as folder:
        path = Path(folder) / "rows.parquet"
        connection.execute(f"copy ({sql}) to {quote(str(path))} (format parquet)")
        return pl.read_parquet(path)


def read_table(
    name: str,
    *,
    database: str | Path = "passk.duckdb",
    run_id: str | Iterable[str] = (),
    suite: str | Iterable[str] = (),
    k: int | Iterable[int] = (),
    limit: int | None = None,
) -> pl.DataFrame:
    """Read a public table into polars.

    Parameters
    ----------
    name
        One of the tables that ``passk show --help`` lists.
    database
        Path of the DuckDB file.
    run_id, suite, k
        Only rows with this value, or one of these.
    limit
        At most this many rows.

    Returns
    -------
    polars.DataFrame
        The rows, in the order of the table's key.

    Raises
    ------
    PasskError
        If there is no such table or database, or it has not been built.
    """
    table = public_table(name)
    filters = filters_of(run_id, suite, k)
    with open_tables(database) as tables:
        return fetch_frame(tables.connection, tables.select(table, filters, limit=limit))


_KNOWN_BY: Final = (
    # The filter's word, its column, the command that lists its values. A run of which every row was
    # rejected is in one table only.
    ("run", "run_id", ("passk_runs", "passk_rejected_attempts"), "passk show passk_runs"),
    ("suite", "suite", ("passk_runs", "passk_rejected_attempts"), "passk show passk_runs"),
    ("k", "k", ("passk_suite_metrics",), "passk show passk_suite_metrics"),
)


def require_filtered(tables: Tables, filters: Filters, chosen: Sequence[PublicTable] = ()) -> None:
    """Raise an error on an unknown run, suite or k: a slip would become tables without a row."""
    names = [table.name for table in chosen]
    for name in names:
        tables.require(name)
    for (kind, column, places, command), wanted in zip(
        _KNOWN_BY, (filters.runs, filters.suites, filters.ks), strict=True
    ):
        having = [table.name for table in chosen if column in table.filters]
        columns = {table.name: table.columns_of(column) for table in chosen}
        known: dict[str | int, None] = {}
        for name in dict.fromkeys((*places, *having)):
            place = tables.find(name)
            if place is None or known.keys() >= set(wanted):
                continue
            of_each = " union ".join(
                f"select {one} from {place} where {one} is not null"
                for one in columns.get(name, (column,))
            )
            known |= dict.fromkeys(value for (value,) in tables.rows(f"{of_each} order by 1"))
        require_known(
            kind,
            map(str, wanted),
            [str(value) for value in known],
            hint=f"Name {kind}s with --{kind} as `{command}` lists them.",
        )
