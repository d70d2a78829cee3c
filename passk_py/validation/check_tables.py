"""Read public tables, compare them with recomputed rows, and add up the differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.common.errors import PasskError
from passk_py.validation.parity import Parity, compare
from passk_py.warehouse.tables import fetch_frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from passk_py.validation.parity import Recomputed
    from passk_py.warehouse.settings import Settings
    from passk_py.warehouse.tables import Tables


class Compared:
    """The findings of each public table, with the first differences of each as examples."""

    def __init__(
        self, tables: Tables, settings: Settings, names: Iterable[str], *, keep: int
    ) -> None:
        self.tables = tables
        self.settings = settings
        self.found = {name: Parity(name, 0, 0, 0.0, 0, []) for name in names}
        self.left_out: list[str] = []
        """The parts that were too large to be recomputed, in sentences."""
        self._keep = keep

    def compare(
        self, name: str, expected: Recomputed, where: str = "true", *, more_columns: bool = False
    ) -> None:
        """Compare rows that meet a condition; other columns of a table in further calls."""
        columns = [*expected.key, *expected.columns]
        rows = self.rows(name, columns, where)
        parity = compare(name, rows, expected, keep=self._keep, more_columns=more_columns)
        self.found[name].add(parity, keep=self._keep)

    def rows(self, name: str, columns: Sequence[str], where: str = "true") -> pl.DataFrame:
        """Read columns of a table, which another version of the package may lack."""
        there = self.tables.columns(name)
        missing = [column for column in columns if column not in there]
        if missing:
            raise PasskError(
                f"The table {name} has no column {' and no '.join(missing)}.",
                hint="Another version of passk built it: run `passk build`.",
            )
        return self.frame(
            f"select {', '.join(columns)} from {self.tables.require(name)} where {where}"
        )

    def once(
        self, name: str, key: Sequence[str], columns: Sequence[str], where: str = "true"
    ) -> pl.DataFrame:
        """Read rows, each once: duplicates are reported where the table is compared."""
        rows = self.rows(name, [*key, *columns], where)
        return rows.unique(key, keep="first", maintain_order=True)

    def frame(self, sql: str) -> pl.DataFrame:
        """Read a query."""
        return fetch_frame(self.tables.connection, sql)
