"""Attempts in an object store, and a lake whose files lie in one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from .engines import TABLES
from .logs import load
from .object_store import ObjectStore
from .parity import agree, build, compare_tables, save_schema, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import duckdb

    from .engines import WithLake

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def store(lake_dbt: str) -> Iterator[ObjectStore]:
    """The store, which ends with these tests."""
    program = Path(lake_dbt).with_name("moto_server")
    if not program.is_file():
        pytest.skip("no object store: the environment of PASSK_DBT_DUCKLAKE has no moto_server")
    server = ObjectStore(str(program))
    try:
        yield server
    finally:
        server.stop()


def test_attempts_are_read_from_an_object_store(
    with_lake: WithLake, store: ObjectStore, lake_dbt: str, tau_bench_file: Path
) -> None:
    load(with_lake.database, str(tau_bench_file))
    with_lake.build_duckdb({})
    attempts = save_schema(with_lake.database, "landing", with_lake.folder)["attempts"]
    bucket = store.new_bucket()
    with_lake.take(
        ["run", store.secret],
        [
            "run",
            f"copy (from '{attempts}') to 's3://{bucket}/attempts' (format parquet, partition_by (suite, run_id))",
        ],
    )
    database = with_lake.folder / "of_store.duckdb"
    build(
        lake_dbt, ("run",), target="duckdb", folder=with_lake.folder,
        variables={"passk_attempts_files": f"s3://{bucket}/attempts/*/*/*.parquet"},
        environment={**with_lake.environment, "PASSK_DATABASE": str(database)},
    )  # fmt: skip

    # The view of attempts reads the store, by a DuckDB that has the extension.
    copies = {table: with_lake.folder / f"{table}.parquet" for table in TABLES}
    with_lake.take(
        ["run", f"attach '{database}' as of_store (read_only)"],
        *(["run", f"copy of_store.main.{table} to '{copy}'"] for table, copy in copies.items()),
    )

    def read(
        connection: duckdb.DuckDBPyConnection, table: str, _columns: Mapping[str, str]
    ) -> None:
        connection.execute(f"create table there as from read_parquet('{copies[table]}')")

    found = told("tau-bench", "An object store", compare_tables(with_lake.database, read))
    assert {one.table: one.rows for one in found}["passk_attempts"] == 200
    assert agree(found)


def test_a_lake_keeps_its_files_in_an_object_store(
    with_lake: WithLake, store: ObjectStore, tau_bench_file: Path
) -> None:
    bucket = store.new_bucket()
    with_lake.environment |= {"PASSK_DUCKLAKE_FILES": f"s3://{bucket}/lake"}
    with_lake.take(["run", store.secret])
    load(with_lake.database, str(tau_bench_file))
    assert with_lake.rows_of_parity("tau-bench, in an object store")["passk_attempts"] == 200
    landed = with_lake.folder / "landed.parquet"
    files = f"s3://{bucket}/lake/landing/attempts/*/*/*.parquet"
    with_lake.take(["run", f"copy (from read_parquet('{files}')) to '{landed}'"])
    assert len(pl.read_parquet(landed)) == 200
