"""The tables of the schema ``landing``, and the clock that puts its batches in order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import duckdb

from passk_py.common.contract import KEY, LANDING_COLUMNS, OUTCOMES, TRANSCRIPT
from passk_py.common.errors import PasskError

if TYPE_CHECKING:
    from passk_py.ingest.landing.storage import Storage

_REQUIRED: Final = (*KEY, "outcome", "source_file", "loaded_at")
_COLUMNS: Final = {
    "attempts": [
        f"{column.name} {column.duckdb_type}{' not null' if column.name in _REQUIRED else ''}"
        for column in LANDING_COLUMNS
    ],
    "rejected": [
        *("run_id VARCHAR", "suite VARCHAR", "task_id VARCHAR", "attempt BIGINT"),
        *("outcome VARCHAR", "reason_code VARCHAR not null", "reason VARCHAR not null"),
        *("raw VARCHAR", "source_file VARCHAR not null", "source_line BIGINT"),
        *("source_format VARCHAR", "loaded_at TIMESTAMP not null"),
    ],
    "files": [
        *("source_file VARCHAR not null", "source_format VARCHAR not null", "size_bytes BIGINT"),
        *("sha256 VARCHAR", "options VARCHAR", "rows_read BIGINT not null", "rows_landed BIGINT"),
        *("rows_rejected BIGINT", "loaded_at TIMESTAMP not null"),
    ],
    "parts": ["source_file VARCHAR not null", "part VARCHAR not null"],
    "removed_tasks": [
        *("run_id VARCHAR not null", "suite VARCHAR not null", "task_id VARCHAR not null"),
        "removed_at TIMESTAMP not null",
    ],
    "expected_attempts": [
        *("run_id VARCHAR not null", "suite VARCHAR not null", "task_id VARCHAR not null"),
        *("expected_attempts BIGINT not null", "source_file VARCHAR not null"),
        "loaded_at TIMESTAMP not null",
    ],
}
TABLES: Final = {
    table: [tuple(column.removesuffix(" not null").split(" ", 1)) for column in columns]
    for table, columns in _COLUMNS.items()
}

# Columns that older versions did not write, and which are null in their rows.
_ADDED: Final = {"attempts": [TRANSCRIPT.name]}

# The table checks again after the loader, because other programs can write to it
# too and every number follows from these five columns. It costs a few percent of a load. An index
# on the key would cost more than the load itself; duplicates are found by the models.
_CHECKS: Final = (
    "check (run_id <> '')",
    "check (task_id <> '')",
    "check (attempt >= 1)",
    f"check (outcome in {OUTCOMES})",
)


def ensure_landing(connection: duckdb.DuckDBPyConnection, *, at_once: bool = False) -> None:
    """Make what is missing of ``landing``, ``at_once`` in a transaction of their own."""
    schema = connection.execute(
        "select 1 from duckdb_schemas() "
        "where schema_name = 'landing' and database_name = current_database()"
    ).fetchall()
    # A table is not asked for in vain where that can be helped: it would end the caller's
    # transaction.
    tables = TABLES if schema else ()
    present = {table: found for table in tables if (found := _columns_of(connection, table))}
    added = []
    for table, columns in TABLES.items():
        if table not in present:
            continue
        added += [
            (table, name, kind)
            for name, kind in columns
            if name in _ADDED.get(table, ()) and (name, kind) not in present[table]
        ]
        named = [*present[table], *((name, kind) for of, name, kind in added if of == table)]
        if sorted(named) != sorted(columns):
            raise PasskError(
                f"The table landing.{table} of this database has other columns than passk writes.",
                hint="Another version of passk, or another program, made it: load into a new "
                "database.",
            )
    if present.keys() >= TABLES.keys() and not added:
        return
    # Written to the disk once, not for each statement.
    if at_once:
        connection.execute("begin transaction")
    connection.execute("create schema if not exists landing")
    for table, written in _COLUMNS.items():
        parts = [*written, *(_CHECKS if table == "attempts" else ())]
        connection.execute(f"create table if not exists landing.{table} ({', '.join(parts)})")
    for table, name, kind in added:
        connection.execute(f"alter table landing.{table} add column {name} {kind}")
    if at_once:
        connection.execute("commit")


def _columns_of(connection: duckdb.DuckDBPyConnection, table: str) -> list[tuple[str, ...]] | None:
    """Describe a table of ``landing``; None if it is missing."""
    # duckdb_columns() makes DuckDB plan every view that it comes with, which takes longer than the
    # load of a small log.
    try:
        found = connection.execute(f"describe landing.{table}").fetchall()
    except duckdb.CatalogException:
        return None
    return [(column, kind) for column, kind, *_ in found]


def next_batch_time(connection: duckdb.DuckDBPyConnection, storage: Storage) -> datetime:
    """Give a batch its time in UTC: now, and later than every batch and removal before it."""
    # Models that are built by increments look for what is later than what they hold, so two
    # batches never share a time, even if the clock stands still or goes back.
    latest = connection.execute(
        f"select max(time) from ({storage.batches} "
        "union all select max(loaded_at) from landing.rejected "
        "union all select max(loaded_at) from landing.files "
        "union all select max(removed_at) from landing.removed_tasks)"
    ).fetchall()[0][0]
    now = datetime.now(UTC).replace(tzinfo=None)
    if latest is None or now > latest:
        return now
    return latest + timedelta(microseconds=1)  # type: ignore[no-any-return]
