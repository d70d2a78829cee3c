"""Writing the tables of a copy: a DuckDB file, and Parquet files of it."""

from __future__ import annotations

import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from passk_py.common.files import to_disk
from passk_py.common.sql_text import identifier, quote
from passk_py.warehouse.catalog import PublicTable, shared_columns
from passk_py.warehouse.freshness import changed_since, pending_changes
from passk_py.warehouse.publishing.copy_folder import DATABASE, PARQUET
from passk_py.warehouse.settings import COPY as ABOUT
from passk_py.warehouse.settings import VARS_OF_COPY, vars_for_copy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from passk_py.warehouse.tables import Tables

_COPY_ID: Final = "passk_copy_id"

# The oldest that DuckDB writes, which is what it wrote by default until 2.0: whatever DuckDB a tool
# has inside reads it. Versions of the format can be raised later, never lowered.
_STORAGE: Final = "v1.0.0"

_ABOUT_COLUMNS: Final = {
    "copy_id": ("varchar", "Names this copy; each of its Parquet files has it in its metadata."),
    "published_at": ("timestamp", "When the tables were read for the copy, UTC."),
    "passk_version": ("varchar", "The version of passk that published."),
    "source_database": ("varchar", "The name of the database's file, without its folder."),
    "newest_loaded_at": (
        "timestamp",
        "When the newest attempts of any run in the copy were loaded, UTC. Null where no run says.",
    ),
    "runs": ("bigint", "Rows of passk_runs."),
    "landed_since_build": (
        "bigint",
        "Attempts loaded after the last build. Only passk_attempts may include them.",
    ),
    VARS_OF_COPY: (
        "varchar",
        "The vars of the build as JSON, without those that name its input; null where unrecorded.",
    ),
}
_ABOUT_TEXT: Final = "How fresh this copy is, and where it comes from. One row."

_SHORTENED: Final = {
    "raw": "Null: this copy was published without the rows as they were read.",
    "source_file": "The name of the file that the row came from, without its folder. Null where "
    "the attempts come from a table.",
    "transcript": "Where the transcript of the attempt lies: a URL, or a path without its folder. "
    "Null where the log does not say.",
}
"""The note on columns that a copy shortens."""


@dataclass(frozen=True, slots=True)
class PublishedCopy:
    """A copy that was published."""

    copy_id: str
    """Its name, in ``passk_published`` and in each Parquet file."""
    published_at: datetime
    """When the tables were read, UTC."""
    database: Path | None
    """The DuckDB file; None if none was asked for."""
    parquet: Path | None
    """The folder of the Parquet files; None if none were asked for."""
    rows: Mapping[str, int]
    """How many rows each table holds, by its name."""
    runs: int
    newest_loaded_at: datetime | None
    landed_since_build: int
    stale: str | None = None
    """Say in a sentence how the landing tables have changed since; None if they have not."""


def write_copy(
    tables: Tables, chosen: Sequence[PublicTable], draft: Path, *, with_raw: bool
) -> PublishedCopy:
    """Write the tables to a new DuckDB file, and what there is to say of them but where it is."""
    from passk_py.warehouse.project import version

    now = datetime.now(UTC).replace(tzinfo=None)
    token = secrets.token_hex(4)
    copy_id = f"{now:%Y%m%dT%H%M%SZ}-{token}"
    with _attached(tables, draft, f"passk_copy_{token}") as schema:
        rows = {}
        for table in chosen:
            values = shared_columns(tables.columns(table.name), with_raw=with_raw)
            wanted = [f"{value} as {name}" for name, value in values.items()]
            query = tables.select(table, columns=wanted)
            made = tables.rows(f"create table {schema}.{table.name} as {query}")
            rows[table.name] = int(made[0][0])
        runs, newest = tables.rows(
            f"select count(*), max(loaded_at) from {tables.require('passk_runs')}"
        )[0]
        pending = pending_changes(tables)
        landed, newer = pending.attempts, changed_since(tables, pending)
        columns = ", ".join(f"{column} {kind}" for column, (kind, _) in _ABOUT_COLUMNS.items())
        tables.rows(f"create table {schema}.{ABOUT} ({columns})")
        tables.connection.execute(
            f"insert into {schema}.{ABOUT} values (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                *(copy_id, now, version(), tables.database.name, newest, runs, landed),
                vars_for_copy(tables),
            ],
        )
        for statement in _comments(tables, chosen, schema, with_raw=with_raw):
            tables.rows(statement)
    return PublishedCopy(copy_id, now, None, None, rows, int(runs), newest, landed, newer)


@contextmanager
def _attached(tables: Tables, draft: Path, name: str) -> Iterator[str]:
    """Give a new DuckDB file a name that no database has, as views name theirs; give its schema."""
    tables.rows(
        f"attach {quote(str(draft))} as {name} (read_write, storage_version {quote(_STORAGE)})"
    )
    try:
        yield f"{name}.main"
        tables.rows("commit")
        # All into the one file: a log beside it would not be published.
        tables.rows(f"checkpoint {name}")
    except BaseException:
        with suppress(Exception):
            tables.rows("rollback")
        raise
    finally:
        # Other users of the database in this process share it with this connection.
        with suppress(Exception):
            tables.rows(f"detach {name}")


def _comments(
    tables: Tables, chosen: Sequence[PublicTable], schema: str, *, with_raw: bool
) -> Iterator[str]:
    """Write the comments: those of the database, and where it has none, the project's words."""
    from passk_py.warehouse.descriptions import described_tables

    described = described_tables()
    said = _comments_of(tables)
    for table in chosen:
        place = tables.require(table.name)
        words = described.get(table.name)
        of_project = {"": words.text, **words.columns} if words else {}
        for column in ("", *tables.columns(table.name)):
            text = said.get((place, column)) or of_project.get(column)
            if not with_raw:
                text = _SHORTENED.get(column, text)
            if text:
                yield _comment(f"{schema}.{table.name}", column, text)
    yield _comment(f"{schema}.{ABOUT}", "", _ABOUT_TEXT)
    for column, (_, text) in _ABOUT_COLUMNS.items():
        yield _comment(f"{schema}.{ABOUT}", column, text)


def _comments_of(tables: Tables) -> dict[tuple[str, str], str]:
    """Give the comments that a database has, by table and column, '' for the table itself."""
    found = tables.rows(
        """
        select schema_name, table_name, '', comment from duckdb_tables()
        where database_name = current_database() and comment is not null
        union all
        select schema_name, view_name, '', comment from duckdb_views()
        where database_name = current_database() and comment is not null
        union all
        select schema_name, table_name, column_name, comment from duckdb_columns()
        where database_name = current_database() and comment is not null
        """
    )
    return {(f'"{schema}"."{table}"', column): comment for schema, table, column, comment in found}


def _comment(table: str, column: str, text: str) -> str:
    what = f"column {table}.{identifier(column)}" if column else f"table {table}"
    return f"comment on {what} is {quote(text)}"


def write_parquet(draft: Path, names: Iterable[str], copy_id: str) -> None:
    """Write the tables of a copy to files, as they are sorted there."""
    import duckdb

    folder = draft / PARQUET
    folder.mkdir()
    options = f"format parquet, compression zstd, kv_metadata {{{_COPY_ID}: {quote(copy_id)}}}"
    with duckdb.connect(str(draft / DATABASE), read_only=True) as connection:
        connection.execute("set enable_progress_bar = false")
        for name in names:
            path = folder / f"{name}.parquet"
            connection.execute(f"copy main.{name} to {quote(str(path))} ({options})")
            to_disk(path)
    to_disk(folder)
