"""The tables of an answer from landed attempts, without a build: for `passk peek` and pytest."""

from __future__ import annotations

from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

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
def in_memory(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory; what does not fit into it goes into the folder."""
    import duckdb

    with closing(duckdb.connect(config={"temp_directory": str(folder)})) as connection:
        yield connection


def tables_of_log(connection: duckdb.DuckDBPyConnection, settings: Settings) -> Tables:
    """Make the tables that the answer is read from in a database of landed attempts."""
    from passk_py.validation.recompute.answer_tables import write_answer_tables
    from passk_py.warehouse.tables import Tables

    write_answer_tables(connection, settings)
    return Tables(Path(":memory:"), connection)
