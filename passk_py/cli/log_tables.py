"""The tables of an answer from landed attempts, without a build: for peek, watch and pytest."""

from __future__ import annotations

import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passk_py.common.errors import InUseError, PasskError
from passk_py.common.sql_text import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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


def settings_of_vars(variables: Mapping[str, Any]) -> Settings:
    """Take the vars of the next build, as far as an answer without a build can follow them."""
    from passk_py.warehouse.project import default_variables
    from passk_py.warehouse.settings import INPUTS, Settings

    for name in (*INPUTS, "passk_cluster"):
        if variables.get(name) is not None:
            raise PasskError(
                f"An answer while a log is written can't follow the var {name}.",
                hint="Load the log when it is complete, and build with the var.",
            )
    return Settings(default_variables() | dict(variables), recorded=True)


@contextmanager
def in_memory() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory; what does not fit into it goes into a temporary folder."""
    import duckdb

    from passk_py.ingest.landing.database import limit_memory

    with (
        tempfile.TemporaryDirectory(prefix="passk-") as folder,
        closing(duckdb.connect(config={"temp_directory": folder})) as connection,
    ):
        limit_memory(connection)
        yield connection


@contextmanager
def tables_of_runs(database: Path, logs: Sequence[str], settings: Settings) -> Iterator[Tables]:
    """Make the tables of an answer about the runs of some logs of a database, in memory."""
    import duckdb

    from passk_py.ingest.landing import ensure_landing
    from passk_py.ingest.landing.database import set_session

    with in_memory() as connection:
        set_session(connection)
        ensure_landing(connection)
        try:
            connection.execute(f"attach {quote(str(database))} as kept (read_only)")
        except duckdb.IOException as error:
            raise InUseError(f"The database {database} is in use by another process.") from error
        runs = (
            "(select distinct run_id from kept.landing.attempts "
            "where source_file in (select unnest($logs)))"
        )
        of_logs = f"run_id in {runs} or source_file in (select unnest($logs))"
        for table in ("attempts", "rejected", "expected_attempts"):
            connection.execute(
                f"insert into landing.{table} by name from kept.landing.{table} where {of_logs}",
                {"logs": list(logs)},
            )
        connection.execute("detach kept")
        yield tables_of_log(connection, settings)


def tables_of_log(connection: duckdb.DuckDBPyConnection, settings: Settings) -> Tables:
    """Make the tables that the answer is read from in a database of landed attempts."""
    from passk_py.validation.recompute.answer_tables import write_answer_tables
    from passk_py.warehouse.tables import Tables

    write_answer_tables(connection, settings)
    return Tables(Path(":memory:"), connection)
