"""A DuckDB file and another engine that get the same attempts: copying, building and comparing them."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from passk_py.warehouse.catalog import PUBLIC_TABLES

from .logs import growing
from .parity import (
    agree,
    build,
    compare_tables,
    copy_schema,
    read_from_postgres,
    save_schema,
    tables_of,
    take_steps,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..postgres_server import Postgres
    from .parity import Compared, Read
    from .spark_server import Spark

MODELS: Final = ("run",)
WITH_TESTS: Final = ("build",)
# Unit tests are the same whatever has landed: once for each engine is enough.
WITH_DATA_TESTS: Final = ("build", "--exclude-resource-type", "unit_test")
LAKE_STEPS: Final = Path(__file__).with_name("lake_tables.py")
TABLES: Final = [one.name for one in PUBLIC_TABLES if not one.var]


class Engines(ABC):
    """DuckDB and another engine, each with a dbt of its own.

    Parameters
    ----------
    folder
        An empty folder: of the database of DuckDB, and of what dbt writes.
    dbts
        The dbt that has DuckDB's adapter, and the one that has the other's.
    """

    engine: str
    """The name of the other engine."""
    target: str
    """Its target in profiles.yml."""
    demo_target: str
    """The one that builds the demo log."""
    environment: Mapping[str, str]
    """The environment of that target."""
    variables: Mapping[str, Any]
    """The variables of its builds beside their own."""
    text_differs: str = ""
    """Why odd text of a table of one's own is not read as DuckDB 2.0 reads it, where it is not."""

    def __init__(self, folder: Path, dbts: tuple[str, str]) -> None:
        self.folder, self._dbts = folder, dbts
        self.folder_there = folder
        self.database = folder / "passk.duckdb"

    @abstractmethod
    def copy(self) -> None:
        """Give the other engine what has landed in DuckDB."""

    @abstractmethod
    def reader(self) -> Read:
        """Give what reads the other engine's tables."""

    def build_duckdb(
        self,
        variables: Mapping[str, Any],
        *more: str,
        target: str = "duckdb",
        command: tuple[str, ...] = MODELS,
    ) -> None:
        """Build on DuckDB."""
        build(
            self._dbts[0], [*command, *more], target=target, folder=self.folder, variables=variables,
            environment={"PASSK_DATABASE": str(self.database)},
        )  # fmt: skip

    def build_there(
        self,
        variables: Mapping[str, Any],
        *,
        target: str | None = None,
        command: tuple[str, ...] = WITH_DATA_TESTS,
    ) -> None:
        """Build on the other engine, and run the data tests there."""
        build(
            self._dbts[1], command, target=target or self.target, folder=self.folder_there,
            variables={**self.variables, **variables}, environment=self.environment,
        )  # fmt: skip

    def compare(self, log: str) -> list[Compared]:
        """Compare all public tables, and print how they compare."""
        return told(log, self.engine, compare_tables(self.database, self.reader()))

    def rows_of_parity(
        self, log: str, variables: Mapping[str, Any] | None = None
    ) -> dict[str, int]:
        """Build what has landed on both, and give how many rows each public table has on both: all tables are equal."""
        self.copy()
        self.build_duckdb(variables or {})
        self.build_there(variables or {})
        return self.rows_that_agree(log)

    def rows_that_agree(self, log: str) -> dict[str, int]:
        """Give how many rows each public table has on both: all tables are equal."""
        found = self.compare(log)
        assert agree(found)
        return {one.table: one.rows for one in found}

    def grow(self, variables: Mapping[str, Any]) -> Iterator[str]:
        """Build later builds there: after new runs, late attempts and copies, deletions of attempts, tasks and a run.

        After each of them the tables are those of a full refresh on DuckDB.
        """
        for step in growing(self.database):
            self.copy()
            self.build_there(variables, command=MODELS)
            self.build_duckdb(variables, "--full-refresh")
            assert self.rows_that_agree(f"After {step}"), step
            yield step


class WithDbt2(Engines):
    """The DuckDB of the dbt in use here, and a file that dbt v2 builds with a DuckDB of its own."""

    engine = "dbt v2"
    target = "duckdb"
    demo_target = "demo"
    variables: Mapping[str, Any] = {}
    text_differs = "the DuckDB of dbt v2 is 1.5, whose casts take other texts than those of 2.0"

    def __init__(self, folder: Path, dbts: tuple[str, str]) -> None:
        super().__init__(folder, dbts)
        # dbt 1 and dbt v2 write files of the same names.
        self.folder_there = folder / "dbt_2"
        self.folder_there.mkdir()
        self.there = self.folder_there / "passk.duckdb"
        self.environment = {"PASSK_DATABASE": str(self.there)}
        with self._connected() as connection:
            connection.execute("create schema there.landing")

    def copy(self) -> None:
        with self._connected() as connection:
            connection.execute(f"attach '{self.database}' as ours (read_only)")
            for table in dict.fromkeys(tables_of(connection, "landing")):
                connection.execute(
                    f"create or replace table there.landing.{table} as from ours.landing.{table}"
                )

    def reader(self) -> Read:
        def read(
            connection: duckdb.DuckDBPyConnection, table: str, _columns: Mapping[str, str]
        ) -> None:
            # Under the name of its file, which the views name.
            connection.execute(f"attach if not exists '{self.there}' as passk (read_only)")
            connection.execute(f"create table there as from passk.main.{table}")

        return read

    @contextmanager
    def _connected(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection with the file as `there`, in the format that the older DuckDB reads."""
        with duckdb.connect() as connection:
            connection.execute(f"attach '{self.there}' as there (storage_version 'v1.4.0')")
            yield connection


class WithPostgres(Engines):
    """DuckDB, and a database of Postgres."""

    engine = "Postgres"
    target = "postgres"
    demo_target = "demo_postgres"
    variables: Mapping[str, Any] = {}
    schema: Final = "reliability"

    def __init__(self, folder: Path, dbts: tuple[str, str], postgres: Postgres) -> None:
        super().__init__(folder, dbts)
        self.postgres = postgres
        self.environment = postgres.environment(self.schema)

    def copy(self) -> None:
        copy_schema(self.database, "landing", self.postgres, self.folder)

    def reader(self) -> Read:
        return read_from_postgres(self.postgres, self.schema, self.folder)

    def oids(self) -> dict[str, str]:
        """Give what each table with rows is to Postgres: a full build makes it anew, an increment does not."""
        internal = f"{self.schema}_passk_internal"
        found = self.postgres.ask(
            f"select relname, oid from pg_class where relkind = 'r' and relnamespace = '{internal}'::regnamespace"
        )
        tables = dict(line.split("|") for line in found.splitlines())
        return {
            name: oid
            for name, oid in tables.items()
            if self.postgres.ask(f"select 1 from {internal}.{name} limit 1")
        }


class WithLake(Engines):
    """A DuckDB file, and tables of a lake: Parquet files, and a catalog in a file or in Postgres."""

    target = "ducklake"
    demo_target = "demo_ducklake"
    variables: Mapping[str, Any] = {}
    text_differs = "the DuckDB of the lake is 1.5, whose casts take other texts than those of 2.0"

    def __init__(self, folder: Path, dbts: tuple[str, str], catalog: str, engine: str) -> None:
        super().__init__(folder, dbts)
        self.engine = engine
        self.environment = {
            "PASSK_DUCKLAKE_CATALOG": catalog,
            "PASSK_DUCKLAKE_FILES": str(folder / "lake"),
            # DuckDB looks for its extensions there.
            "HOME": str(folder),
        }
        self.take(["install"])

    def copy(self) -> None:
        # By way of Parquet: the DuckDB of the lake is older than the one of the file.
        files = save_schema(self.database, "landing", self.folder)
        self.take(*(["land", "landing", table, str(path)] for table, path in files.items()))

    def reader(self) -> Read:
        files = {table: str(self.folder / f"{uuid.uuid4().hex}.parquet") for table in TABLES}
        self.take(*(["save", f"main.{table}", path] for table, path in files.items()))

        def read(
            connection: duckdb.DuckDBPyConnection, table: str, _columns: Mapping[str, str]
        ) -> None:
            connection.execute(f"create table there as from read_parquet('{files[table]}')")

        return read

    def take(self, *steps: Sequence[str]) -> None:
        """Take steps of lake_tables.py, with the Python that has DuckLake."""
        python = str(Path(self._dbts[1]).with_name("python"))
        take_steps(python, LAKE_STEPS, steps, self.folder, self.environment)


class WithSpark(Engines):
    """DuckDB, and schemas of a server that speaks Spark Connect."""

    target = "spark"
    demo_target = "demo_spark"

    def __init__(self, folder: Path, dbts: tuple[str, str], spark: Spark) -> None:
        super().__init__(folder, dbts)
        name = uuid.uuid4().hex[:8]
        self.spark, self.engine = spark, spark.name
        self.landing, self.schema = f"landing_{name}", f"reliability_{name}"
        # Sail has no partitions to drop.
        formats = {"PASSK_SPARK_FORMAT": "delta"} if spark.name == "Sail" else {}
        self.environment = {**spark.environment(self.schema), **formats}
        self.variables = {"passk_landing_schema": self.landing}

    def copy(self) -> None:
        self.spark.copy_schema(self.database, "landing", self.landing, self.folder)

    def reader(self) -> Read:
        return self.spark.reader(self.schema, TABLES, self.folder)
