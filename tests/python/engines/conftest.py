"""Fixtures of the tests of engines: a Postgres and Sparks, and the dbts that speak to them."""

from __future__ import annotations

import os
import shutil
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..postgres_server import Postgres, Server, postgres_programs
from .engines import WithDbt2, WithLake, WithPostgres, WithSpark
from .spark_server import Cluster, Sail, spark_home

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="session")
def duckdb_dbt() -> str:
    """The dbt that stands beside this Python."""
    return str(Path(sys.executable).with_name("dbt"))


def dbt_of(adapter: str) -> str:
    """Give the dbt that a variable of the environment names, or skip what needs it."""
    name = f"PASSK_DBT_{adapter.upper()}"
    command = os.environ.get(name)
    if not command or not shutil.which(command):
        pytest.skip(f"no dbt-{adapter}: {name} names its dbt; see scripts/test_engines")
    return command


@pytest.fixture(scope="session")
def postgres_dbt() -> str:
    """The dbt of an environment with dbt-postgres."""
    return dbt_of("postgres")


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """The server of PASSK_POSTGRES_URL, or one that ends with the tests."""
    if url := os.environ.get("PASSK_POSTGRES_URL"):
        yield Postgres.at(url)
        return
    programs = postgres_programs()
    if programs is None:
        pytest.skip(
            "no Postgres: neither its programs, see scripts/install_programs, nor PASSK_POSTGRES_URL"
        )
    server = Server(programs)
    try:
        yield server.database
    finally:
        server.stop()


@pytest.fixture(scope="session")
def new_database(postgres_server: Postgres) -> Callable[[], Postgres]:
    """Makes empty databases that sort texts as English does, where the server can: nothing may rest on bytes."""

    def make() -> Postgres:
        name = f"passk_{uuid.uuid4().hex[:12]}"
        try:
            postgres_server.ask(
                f"create database {name} template template0 encoding 'UTF8' locale_provider icu icu_locale 'en-US' "
                "lc_collate 'C' lc_ctype 'C'"
            )
        except RuntimeError:
            postgres_server.ask(f"create database {name} template template0 encoding 'UTF8'")
        return Postgres(
            postgres_server.psql, postgres_server.host, postgres_server.port, postgres_server.user,
            postgres_server.password, name,
        )  # fmt: skip

    return make


@pytest.fixture(scope="session")
def lake_dbt() -> str:
    """The dbt of an environment with DuckLake."""
    return dbt_of("ducklake")


@pytest.fixture(scope="session")
def spark_dbt() -> str:
    """The dbt of an environment with dbt-spark."""
    return dbt_of("spark")


@pytest.fixture(scope="session")
def spark_python(spark_dbt: str) -> str:
    """The Python of that environment, which has Spark's client."""
    return str(Path(spark_dbt).with_name("python"))


@pytest.fixture(scope="session")
def sail(spark_dbt: str, spark_python: str) -> Iterator[Sail]:
    """Sail, which ends with the tests."""
    program = Path(spark_dbt).with_name("sail")
    if not program.is_file():
        pytest.skip("no Sail in the environment of dbt-spark")
    server = Sail(str(program), spark_python)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def cluster(spark_python: str) -> Iterator[Cluster]:
    """A cluster of Spark that ends with the tests."""
    home = spark_home()
    if home is None:
        pytest.skip("no Spark: PASSK_SPARK_HOME names its folder, and java runs it")
    server = Cluster(home, spark_python)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def dbt_2() -> str:
    """The program of dbt v2."""
    command = os.environ.get("PASSK_DBT_2")
    if not command or not shutil.which(command):
        pytest.skip("no dbt v2: PASSK_DBT names its program; see scripts/install_dbt_v2")
    return command


@pytest.fixture
def with_dbt_2(tmp_path: Path, duckdb_dbt: str, dbt_2: str) -> WithDbt2:
    """DuckDB without attempts, twice."""
    return WithDbt2(tmp_path, (duckdb_dbt, dbt_2))


@pytest.fixture
def with_postgres(
    tmp_path: Path, duckdb_dbt: str, postgres_dbt: str, new_database: Callable[[], Postgres]
) -> WithPostgres:
    """DuckDB and Postgres without attempts."""
    return WithPostgres(tmp_path, (duckdb_dbt, postgres_dbt), new_database())


@pytest.fixture
def with_lake(tmp_path: Path, duckdb_dbt: str, lake_dbt: str) -> WithLake:
    """A DuckDB file, and a lake whose catalog is another."""
    catalog = str(tmp_path / "catalog.ducklake")
    return WithLake(tmp_path, (duckdb_dbt, lake_dbt), catalog, "DuckLake")


@pytest.fixture
def with_postgres_lake(
    tmp_path: Path, duckdb_dbt: str, lake_dbt: str, new_database: Callable[[], Postgres]
) -> WithLake:
    """A DuckDB file, and a lake whose catalog is in Postgres."""
    at = new_database()
    named = {
        "dbname": at.database,
        "host": at.host,
        "port": at.port,
        "user": at.user,
        "password": at.password,
    }
    catalog = " ".join(f"{name}={value}" for name, value in named.items() if value)
    return WithLake(
        tmp_path, (duckdb_dbt, lake_dbt), f"postgres:{catalog}", "DuckLake, catalog in Postgres"
    )


@pytest.fixture
def with_sail(tmp_path: Path, duckdb_dbt: str, spark_dbt: str, sail: Sail) -> WithSpark:
    """DuckDB and Sail without attempts."""
    return WithSpark(tmp_path, (duckdb_dbt, spark_dbt), sail.spark.new())


@pytest.fixture
def with_cluster(tmp_path: Path, duckdb_dbt: str, spark_dbt: str, cluster: Cluster) -> WithSpark:
    """DuckDB and a cluster of Spark without attempts."""
    return WithSpark(tmp_path, (duckdb_dbt, spark_dbt), cluster.spark.new())
