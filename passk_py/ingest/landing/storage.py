"""Where landed attempts lie: what the loader asks of it, and the answer of a database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, Literal

from passk_py.common.contract import CONTRACT_COLUMNS
from passk_py.common.sql_text import quote

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    import duckdb

Batch = tuple[str, str, "datetime"]
"""Columns that all rows of a log share: ``source_file``, ``source_format`` and ``loaded_at``."""

Part = tuple[Literal["source_file", "run_id"], str]
"""The scope of rows, a file or a run: the column, and its value."""

COLUMNS: Final = ", ".join(column.name for column in CONTRACT_COLUMNS)


class Storage(ABC):
    """Writes and removes landed attempts, in a transaction that its caller opens and ends."""

    folder: Path | None = None

    batches: str
    """Query of the time of the last batch, as ``time``."""

    runs_of_files: str
    """Query of ``run_id`` and ``source_file``, maybe more than once."""

    @abstractmethod
    def insert(self, connection: duckdb.DuckDBPyConnection, query: str, batch: Batch) -> int:
        """Write rows of the contract's columns and ``source_line``; give how many."""

    @abstractmethod
    def attempts_of(self, connection: duckdb.DuckDBPyConnection, part: Part) -> str:
        """Write SQL for the attempts of a part, as something to select from."""

    @abstractmethod
    def delete(self, connection: duckdb.DuckDBPyConnection, part: Part) -> int:
        """Remove a part; give how many rows it had."""

    def holds(self, path: Path) -> bool:
        """Say whether a file is one in which the attempts lie."""
        del path
        return False

    def settle(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let ``landing.attempts`` show what was written and removed; a table does."""
        del connection

    def committed(self) -> None:  # noqa: B027 - nothing is left to do for rows of a table
        """Take note that the transaction has ended well."""

    def undone(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Take note that the transaction was rolled back, or that nobody knows how it ended."""
        del connection


class InDatabase(Storage):
    """Attempts as rows of the table ``landing.attempts``."""

    batches = "select max(loaded_at) as time from landing.attempts"
    runs_of_files = "select run_id, source_file from landing.attempts"

    def insert(self, connection: duckdb.DuckDBPyConnection, query: str, batch: Batch) -> int:
        """Write rows."""
        # A table of an older version has the columns that came later at its end.
        into = f"insert into landing.attempts by name {whole_rows(query)}"
        done = connection.execute(into, list(batch))
        return int(done.fetchall()[0][0])

    def attempts_of(self, connection: duckdb.DuckDBPyConnection, part: Part) -> str:
        """Write SQL for the attempts of a part."""
        del connection
        column, value = part
        return f"(select * from landing.attempts where {column} = {quote(value)})"

    def delete(self, connection: duckdb.DuckDBPyConnection, part: Part) -> int:
        """Remove a part."""
        column, value = part
        done = connection.execute(f"delete from landing.attempts where {column} = ?", [value])
        return int(done.fetchall()[0][0])


def whole_rows(query: str) -> str:
    """Write SQL for all columns of ``landing.attempts``; those of the batch are to be bound."""
    return (
        f"select {COLUMNS}, ? as source_file, source_line, ? as source_format, "
        f"?::timestamp as loaded_at from ({query})"
    )
