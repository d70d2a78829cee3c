"""Later builds on Spark, which drops partitions, and a worker that dies."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

import pytest

from .engines import MODELS
from .logs import RANDOM_VARS, land, land_random
from .parity import agree

if TYPE_CHECKING:
    from pathlib import Path

    from .engines import WithSpark
    from .spark_server import Cluster

pytestmark = pytest.mark.timeout(3000)

_ATTEMPT: Final = {
    "run_id": "later", "suite": "later", "task_id": "task", "attempt": 1, "outcome": "passed", "loaded_at": "2027-01-01 00:00:00",
}  # fmt: skip


@pytest.mark.parametrize("server", ["sail", "cluster"])
def test_a_later_build_is_what_a_full_refresh_makes(
    server: str, request: pytest.FixtureRequest
) -> None:
    engines: WithSpark = request.getfixturevalue(f"with_{server}")
    variables = {"passk_slices": ["domain"]}
    for _ in engines.grow(variables):
        pass
    engines.build_there(variables, command=MODELS)
    assert agree(engines.compare("After nothing"))


def test_a_later_build_writes_only_the_runs_that_changed(
    with_cluster: WithSpark, cluster: Cluster
) -> None:
    land_random(with_cluster.database)
    with_cluster.copy()
    with_cluster.build_there(RANDOM_VARS, command=MODELS)
    first = _files(cluster, with_cluster, "int_passk__task_scans")
    runs = {path.parent for path in first}
    land(with_cluster.database, [_ATTEMPT])
    with_cluster.copy()
    with_cluster.build_there(RANDOM_VARS, command=MODELS)
    later = _files(cluster, with_cluster, "int_passk__task_scans")
    assert first < later
    assert {path.parent.parent.name for path in later - first} == {"run_id=later"}
    assert len(runs) > 5


def test_a_worker_that_dies_costs_time_only(with_cluster: WithSpark, cluster: Cluster) -> None:
    """Killed with its executor in mid-build: the build completes, or fails and can be repeated."""
    land_random(with_cluster.database)
    with_cluster.copy()
    with_cluster.build_duckdb(RANDOM_VARS)
    failures: list[RuntimeError] = []

    def build_it() -> None:
        try:
            with_cluster.build_there(RANDOM_VARS, command=MODELS)
        except RuntimeError as error:
            failures.append(error)

    building = threading.Thread(target=build_it)
    building.start()
    internal = f"{with_cluster.schema}_passk_internal"
    while building.is_alive() and not _has_table(cluster, internal, "int_passk__task_scans"):
        time.sleep(1)
    assert building.is_alive()
    cluster.kill(cluster.workers.pop())
    building.join()
    print(f"\nA worker was killed: the build {'failed' if failures else 'completed'}")
    if failures:
        cluster.workers.append(cluster.start_worker("worker-again"))
        with_cluster.build_there(RANDOM_VARS, command=MODELS)
    assert agree(with_cluster.compare("After a worker was killed"))


def _files(cluster: Cluster, engines: WithSpark, table: str) -> set[Path]:
    """Give the files of a table."""
    folder = cluster.folder / "warehouse" / f"{engines.schema}_passk_internal.db" / table
    return set(folder.rglob("*.parquet"))


def _has_table(cluster: Cluster, schema: str, table: str) -> bool:
    return any((cluster.folder / "warehouse" / f"{schema}.db" / table).glob("_SUCCESS"))
