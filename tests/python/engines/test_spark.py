"""The models on Spark: every public table is that of DuckDB, from the same attempts.

The environment that has dbt-spark is named by ``PASSK_DBT_SPARK``, a distribution of Spark by ``PASSK_SPARK_HOME``;
scripts/test_engines makes both. Sail, which comes with the first, runs the same SQL as Spark in one process.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any, Final

import pytest

from passk_py.public_tables import PUBLIC_TABLES

from .logs import (
    HUMAN_EVAL_OPTIONS,
    OWN_VARS,
    RANDOM_VARS,
    growing,
    land_own,
    land_random,
    load,
)
from .parity import agree, build, compare_tables, told

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .parity import Compared
    from .spark_server import Cluster, Spark

pytestmark = pytest.mark.timeout(3000)

MODELS: Final = ("run",)
WITH_TESTS: Final = ("build", "--exclude-resource-type", "unit_test")
TABLES: Final = [one.name for one in PUBLIC_TABLES if not one.var]


class Engines:
    """A DuckDB file and schemas of Spark that get the same attempts."""

    def __init__(self, folder: Path, spark: Spark, dbts: tuple[str, str]) -> None:
        self.folder, self.spark, self._dbts = folder, spark, dbts
        self.database = folder / "passk.duckdb"
        name = uuid.uuid4().hex[:8]
        self.landing, self.schema = f"landing_{name}", f"reliability_{name}"

    def copy(self) -> None:
        """Give Spark what has landed in DuckDB."""
        self.spark.copy_schema(self.database, "landing", self.landing, self.folder)

    def build_duckdb(
        self, variables: Mapping[str, Any], *more: str, target: str = "duckdb"
    ) -> None:
        """Build on DuckDB."""
        build(
            self._dbts[0], [*MODELS, *more], target=target, folder=self.folder, variables=variables,
            environment={"PASSK_DATABASE": str(self.database)},
        )  # fmt: skip

    def build_spark(
        self,
        variables: Mapping[str, Any],
        *more: str,
        target: str = "spark",
        command: tuple[str, ...] = WITH_TESTS,
    ) -> None:
        """Build on Spark, and run the data tests there."""
        build(
            self._dbts[1], [*command, *more], target=target, folder=self.folder,
            variables={"passk_landing_schema": self.landing, **variables},
            environment=self.spark.environment(self.schema),
        )  # fmt: skip

    def compare(self, log: str) -> list[Compared]:
        """Compare all public tables, and print how they compare."""
        read = self.spark.reader(self.schema, TABLES, self.folder)
        return told(log, self.spark.name, compare_tables(self.database, read))


@pytest.fixture
def engines(tmp_path: Path, duckdb_dbt: str, spark_dbt: str, spark: Spark) -> Engines:
    """Two engines without attempts."""
    return Engines(tmp_path, spark.new(), (duckdb_dbt, spark_dbt))


def test_parity_of_the_demo(engines: Engines) -> None:
    build(
        engines._dbts[0], ["build", "--exclude-resource-type", "unit_test", "test"], target="demo",
        folder=engines.folder, environment={"PASSK_DATABASE": str(engines.database)},
    )  # fmt: skip
    engines.build_spark({}, target="demo_spark")
    found = engines.compare("The demo log")
    assert agree(found)
    assert {one.table: one.rows for one in found}["passk_attempts"] == 3248


def test_parity_of_tau_bench(engines: Engines, tau_bench_file: Path) -> None:
    load(engines.database, str(tau_bench_file))
    engines.copy()
    engines.build_duckdb({})
    engines.build_spark({})
    found = engines.compare("tau-bench: gpt-4o, airline")
    assert agree(found)
    assert {one.table: one.rows for one in found}["passk_attempts"] == 200


def test_parity_of_human_eval(engines: Engines, human_eval_file: Path) -> None:
    load(engines.database, str(human_eval_file), *HUMAN_EVAL_OPTIONS)
    engines.copy()
    engines.build_duckdb({})
    engines.build_spark({})
    found = engines.compare("HumanEval: codegen-16B")
    assert agree(found)
    assert {one.table: one.rows for one in found}["passk_attempts"] == 16_400


def test_parity_of_a_random_log(engines: Engines) -> None:
    land_random(engines.database)
    engines.copy()
    engines.build_duckdb(RANDOM_VARS)
    engines.build_spark(RANDOM_VARS)
    found = engines.compare("A random log with every edge case")
    assert agree(found)
    rows = {one.table: one.rows for one in found}
    assert all(rows.values()), rows


def test_parity_of_a_table_of_ones_own(engines: Engines) -> None:
    land_own(engines.database)
    engines.copy()
    engines.build_duckdb(OWN_VARS)
    engines.build_spark(OWN_VARS)
    found = engines.compare("A table of one's own, right and wrong texts")
    assert agree(found)
    rows = {one.table: one.rows for one in found}
    assert rows["passk_attempts"] > 0
    assert rows["passk_rejected_attempts"] > 0


def test_a_later_build_is_what_a_full_refresh_makes(engines: Engines) -> None:
    """After new runs, after late attempts and copies, after deletions of attempts, tasks and a run."""
    variables = {"passk_slices": ["domain"]}
    for step in growing(engines.database):
        engines.copy()
        engines.build_spark(variables, command=MODELS)
        engines.build_duckdb(variables, "--full-refresh")
        assert agree(engines.compare(f"After {step}")), step
    # Now nothing is new. The deletions are newer than the newest attempt, so what counts attempts is made until more land.
    engines.build_spark(variables, command=MODELS)
    results = json.loads((engines.folder / "target_spark" / "run_results.json").read_text())
    left = {
        one["unique_id"].split(".")[-1]
        for one in results["results"]
        if one["adapter_response"].get("_message") == "UNCHANGED" or one["message"] == "UNCHANGED"
    }
    assert {"int_passk__runs", "int_passk__suite_metrics"} <= left
    assert agree(engines.compare("After nothing"))


def test_a_worker_that_dies_costs_time_only(
    tmp_path: Path, duckdb_dbt: str, spark_dbt: str, cluster: Cluster
) -> None:
    """Killed with its executor in mid-build: the build completes, or fails and can be repeated."""
    engines = Engines(tmp_path, cluster.spark.new(), (duckdb_dbt, spark_dbt))
    land_random(engines.database)
    engines.copy()
    engines.build_duckdb(RANDOM_VARS)
    failures: list[RuntimeError] = []

    def build_it() -> None:
        try:
            engines.build_spark(RANDOM_VARS, command=MODELS)
        except RuntimeError as error:
            failures.append(error)

    building = threading.Thread(target=build_it)
    building.start()
    internal = f"{engines.schema}_passk_internal"
    while building.is_alive() and not _has_table(cluster, internal, "int_passk__task_scans"):
        time.sleep(1)
    assert building.is_alive()
    cluster.kill(cluster.workers.pop())
    building.join()
    print(f"\nA worker was killed: the build {'failed' if failures else 'completed'}")
    if failures:
        cluster.workers.append(cluster.start_worker("worker-again"))
        engines.build_spark(RANDOM_VARS, command=MODELS)
    assert agree(engines.compare("After a worker was killed"))


def _has_table(cluster: Cluster, schema: str, table: str) -> bool:
    return any((cluster.folder / "warehouse" / f"{schema}.db" / table).glob("_SUCCESS"))
