"""The tables of an answer from landed attempts, without a build: for `passk peek` and pytest."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from passk_py.warehouse.settings import Settings
    from passk_py.warehouse.tables import Tables


def settings_of_log(k: int | None = None, difficulty: str | None = None) -> Settings:
    """Take the defaults of the project, with this k to judge by, in the grid too."""
    from passk_py.warehouse.project import default_variables
    from passk_py.warehouse.settings import Settings

    values = default_variables() | {"passk_difficulty": difficulty}
    if k is not None:
        values |= {"passk_deployment_k": k, "passk_ks": sorted({*values["passk_ks"], k})}
    return Settings(values, recorded=True)


@contextmanager
def tables_of_log(database: Path, settings: Settings, folder: Path) -> Iterator[Tables]:
    """Make the tables that the answer is read from in a database of landed attempts."""
    import duckdb

    from passk_py.validation.recompute.answer_tables import write_answer_tables
    from passk_py.warehouse.tables import Tables

    with closing(duckdb.connect(str(database))) as connection:
        connection.execute("set TimeZone = 'UTC'")
        write_answer_tables(connection, settings, folder)
        yield Tables(database, connection)
