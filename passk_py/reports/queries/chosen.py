"""The rows of the public tables that are about some runs and suites."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from passk_py.common.sql_text import quote
from passk_py.warehouse.catalog import public_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from passk_py.warehouse.tables import Tables

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Some runs and suites of an open database; empty for all."""

    tables: Tables
    runs: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()

    def source(self, name: str, *, run: str = "run_id", suite: str = "suite") -> str:
        """Write a public table and the condition for its rows, to follow ``from``."""
        return f"{self.tables.require(name)} where {self.where(run=run, suite=suite)}"

    def where(self, *, run: str = "run_id", suite: str = "suite") -> str:
        """Write the condition alone, ``true`` where all are meant."""
        wanted = ((run, self.runs), (suite, self.suites))
        return " and ".join(any_of(column, names) for column, names in wanted if names) or "true"

    def rows(
        self,
        name: str,
        columns: Iterable[str] = ("*",),
        *,
        also: str = "true",
        run: str = "run_id",
        suite: str = "suite",
    ) -> list[Row]:
        """Read rows of a public table in the order of its key."""
        found = self.tables.records(
            f"select {', '.join(columns)} from {self.source(name, run=run, suite=suite)} "
            f"and ({also}) order by {', '.join(public_table(name).key)}"
        )
        # Only runs say when they were loaded.
        if name != "passk_runs":
            for row in found:
                row.pop("loaded_at", None)
        return found


def any_of(column: str, values: Iterable[str]) -> str:
    """Write the condition that a column has one of some values."""
    return f"{column} in ({', '.join(map(quote, values))})"


def with_text_times(rows: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Write the times of rows as ISO 8601 in UTC, because JSON has no type for them."""
    return [
        {
            name: f"{value.isoformat()}Z" if isinstance(value, datetime) else value
            for name, value in row.items()
        }
        for row in rows
    ]
