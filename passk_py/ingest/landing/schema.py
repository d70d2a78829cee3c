"""The tables of the schema ``landing``, and the clock that puts its batches in order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import duckdb

from passk_py.common.contract import KEY, LANDING_COLUMNS, OUTCOMES
from passk_py.common.errors import PasskError

if TYPE_CHECKING:
    from passk_py.ingest.landing.storage import Storage

__all__ = ["TABLES", "ensure_landing", "next_batch_time"]

_VARCHAR, _BIGINT, _TIMESTAMP = "VARCHAR", "BIGINT", "TIMESTAMP"

TABLES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "attempts": tuple((column.name, column.duckdb_type) for column in LANDING_COLUMNS),
    "rejected": (
        ("run_id", _VARCHAR),
        ("suite", _VARCHAR),
        ("task_id", _VARCHAR),
        ("attempt", _BIGINT),
        ("outcome", _VARCHAR),
        ("reason_code", _VARCHAR),
        ("reason", _VARCHAR),
        ("raw", _VARCHAR),
        ("source_file", _VARCHAR),
        ("source_line", _BIGINT),
        ("source_format", _VARCHAR),
        ("loaded_at", _TIMESTAMP),
    ),
    "files": (
        ("source_file", _VARCHAR),
        ("source_format", _VARCHAR),
        ("size_bytes", _BIGINT),
        ("sha256", _VARCHAR),
        ("options", _VARCHAR),
        ("rows_read", _BIGINT),
        ("rows_landed", _BIGINT),
        ("rows_rejected", _BIGINT),
        ("loaded_at", _TIMESTAMP),
    ),
    "parts": (
        ("source_file", _VARCHAR),
        ("part", _VARCHAR),
    ),
    "removed_tasks": (
        ("run_id", _VARCHAR),
        ("suite", _VARCHAR),
        ("task_id", _VARCHAR),
        ("removed_at", _TIMESTAMP),
    ),
    "expected_attempts": (
        ("run_id", _VARCHAR),
        ("suite", _VARCHAR),
        ("task_id", _VARCHAR),
        ("expected_attempts", _BIGINT),
        ("source_file", _VARCHAR),
        ("loaded_at", _TIMESTAMP),
    ),
}
"""The tables of ``landing``: names and types of their columns, in order."""

# What the loader has checked is checked again by the table, because other programs can write to it
# too and every number follows from these five columns. It costs a few percent of a load. An index
# on the key would cost more than the load itself; duplicates are found by the models.
_CHECKS: Final = (
    "check (run_id <> '')",
    "check (task_id <> '')",
    "check (attempt >= 1)",
    f"check (outcome in {OUTCOMES})",
)
_REQUIRED: Final = {
    "attempts": (*KEY, "outcome", "source_file", "loaded_at"),
    "rejected": ("reason_code", "reason", "source_file", "loaded_at"),
    "files": ("source_file", "source_format", "rows_read", "loaded_at"),
    "parts": ("source_file", "part"),
    "removed_tasks": ("run_id", "suite", "task_id", "removed_at"),
    "expected_attempts": (
        "run_id",
        "suite",
        "task_id",
        "expected_attempts",
        "source_file",
        "loaded_at",
    ),
}


def ensure_landing(connection: duckdb.DuckDBPyConnection, *, at_once: bool = False) -> None:
    """Make the missing tables of ``landing``, ``at_once`` in a transaction of their own."""
    schema = connection.execute(
        "select 1 from duckdb_schemas() "
        "where schema_name = 'landing' and database_name = current_database()"
    ).fetchall()
    # A table is not asked for in vain where that can be helped: it would end the caller's
    # transaction.
    tables = TABLES if schema else ()
    present = {table: found for table in tables if (found := _columns_of(connection, table))}
    for table, columns in TABLES.items():
        if table in present and present[table] != columns:
            raise PasskError(
                f"The table landing.{table} of this database has other columns than passk writes.",
                hint="Another version of passk, or another program, made it: load into a new "
                "database.",
            )
    if present.keys() >= TABLES.keys():
        return
    # Written to the disk once, not for each statement.
    if at_once:
        connection.execute("begin transaction")
    connection.execute("create schema if not exists landing")
    for table, columns in TABLES.items():
        required = _REQUIRED[table]
        parts = [f"{c} {kind}{' not null' if c in required else ''}" for c, kind in columns]
        checks = _CHECKS if table == "attempts" else ()
        connection.execute(
            f"create table if not exists landing.{table} ({', '.join([*parts, *checks])})"
        )
    if at_once:
        connection.execute("commit")


def _columns_of(
    connection: duckdb.DuckDBPyConnection, table: str
) -> tuple[tuple[str, str], ...] | None:
    """Describe a table of ``landing``; None if it is missing.

    Asked of the tables one by one: duckdb_columns() makes DuckDB plan every view that it comes
    with, which takes longer than the load of a small log.
    """
    try:
        found = connection.execute(f"describe landing.{table}").fetchall()
    except duckdb.CatalogException:
        return None
    return tuple((column, kind) for column, kind, *_ in found)


def next_batch_time(connection: duckdb.DuckDBPyConnection, storage: Storage) -> datetime:
    """Give a batch its time in UTC: now, and later than every batch and removal before it.

    Models that are built by increments look for what is later than what they hold, so two batches
    never share a time, even if the clock stands still or goes back.
    """
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
