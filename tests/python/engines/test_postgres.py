"""The models on Postgres: every public table is that of DuckDB, from the same attempts, and so is an increment.

The environment that has dbt-postgres is named by ``PASSK_DBT_POSTGRES``; scripts/test_engines makes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from .logs import (
    HUMAN_EVAL_OPTIONS,
    OWN_VARS,
    RANDOM_VARS,
    growing,
    land_own,
    land_random,
    load,
)
from .parity import agree, build, compare_tables, copy_schema, read_from_postgres, told

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ..postgres_server import Postgres
    from .parity import Compared

pytestmark = pytest.mark.timeout(1200)

SCHEMA: Final = "reliability"
MODELS: Final = ("run",)
WITH_TESTS: Final = ("build", "--exclude-resource-type", "unit_test")


class Engines:
    """A DuckDB file and a database of Postgres that get the same attempts."""

    def __init__(self, folder: Path, postgres: Postgres, dbts: tuple[str, str]) -> None:
        self.folder, self.postgres, self._dbts = folder, postgres, dbts
        self.database = folder / "passk.duckdb"

    def copy(self) -> None:
        """Give Postgres what has landed in DuckDB."""
        copy_schema(self.database, "landing", self.postgres, self.folder)

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

    def build_postgres(
        self,
        variables: Mapping[str, Any],
        *more: str,
        target: str = "postgres",
        command: tuple[str, ...] = WITH_TESTS,
    ) -> None:
        """Build on Postgres, and run the data tests there."""
        build(
            self._dbts[1], [*command, *more], target=target, folder=self.folder, variables=variables,
            environment=self.postgres.environment(SCHEMA),
        )  # fmt: skip

    def compare(self, log: str) -> list[Compared]:
        """Compare all public tables, and print how they compare."""
        read = read_from_postgres(self.postgres, SCHEMA, self.folder)
        return told(log, "Postgres", compare_tables(self.database, read))

    def oids(self) -> dict[str, str]:
        """Give what each table with rows is to Postgres: a full build makes it anew, an increment does not."""
        internal = f"{SCHEMA}_passk_internal"
        found = self.postgres.ask(
            f"select relname, oid from pg_class where relkind = 'r' and relnamespace = '{internal}'::regnamespace"
        )
        tables = dict(line.split("|") for line in found.splitlines())
        return {
            name: oid
            for name, oid in tables.items()
            if self.postgres.ask(f"select 1 from {internal}.{name} limit 1")
        }


@pytest.fixture
def engines(
    tmp_path: Path, duckdb_dbt: str, postgres_dbt: str, new_database: Callable[[], Postgres]
) -> Engines:
    """Two engines without attempts."""
    return Engines(tmp_path, new_database(), (duckdb_dbt, postgres_dbt))


def test_parity_of_the_demo(engines: Engines) -> None:
    engines.build_duckdb(
        {}, target="demo", command=("build", "--exclude-resource-type", "unit_test", "test")
    )
    engines.build_postgres({}, target="demo_postgres")
    found = engines.compare("The demo log")
    assert agree(found)
    assert {one.table: one.rows for one in found}["passk_attempts"] == 3248
    asked = (
        "select pass_hat_k(16, 14, 4), pass_at_k(5, 2, 2), pass_hat_k(3, 2, 4), delta_k_max(0.5, 2)"
    )
    answer = engines.postgres.ask(f"set search_path to {SCHEMA}; {asked}").split("|")
    # 14 13 12 11 / (16 15 14 13), 1 - 3 2 / (5 4), nothing of n < k, and 1/2 - 1/4.
    assert [float(one) for one in answer if one] == pytest.approx([0.55, 0.7, 0.25], rel=1e-12)
    assert answer[2] == ""


def test_parity_of_tau_bench(engines: Engines, tau_bench_file: Path) -> None:
    load(engines.database, str(tau_bench_file))
    engines.copy()
    engines.build_duckdb({})
    engines.build_postgres({})
    found = engines.compare("tau-bench: gpt-4o, airline")
    assert agree(found)
    assert {one.table: one.rows for one in found}["passk_attempts"] == 200


def test_parity_of_human_eval(engines: Engines, human_eval_file: Path) -> None:
    load(engines.database, str(human_eval_file), *HUMAN_EVAL_OPTIONS)
    engines.copy()
    engines.build_duckdb({})
    engines.build_postgres({})
    found = engines.compare("HumanEval: codegen-16B")
    assert agree(found)
    assert {one.table: one.rows for one in found}["passk_attempts"] == 16_400


def test_parity_of_a_random_log(engines: Engines) -> None:
    land_random(engines.database)
    engines.copy()
    engines.build_duckdb(RANDOM_VARS)
    engines.build_postgres(RANDOM_VARS)
    found = engines.compare("A random log with every edge case")
    assert agree(found)
    rows = {one.table: one.rows for one in found}
    assert all(rows.values()), rows


def test_parity_of_a_table_of_ones_own(engines: Engines) -> None:
    land_own(engines.database)
    engines.copy()
    engines.build_duckdb(OWN_VARS)
    engines.build_postgres(OWN_VARS)
    found = engines.compare("A table of one's own, right and wrong texts")
    assert agree(found)
    rows = {one.table: one.rows for one in found}
    assert rows["passk_attempts"] > 0
    assert rows["passk_rejected_attempts"] > 0


def test_an_increment_is_what_a_full_refresh_makes(engines: Engines) -> None:
    """After new runs, after late attempts and copies, after deletions of attempts, tasks and a run."""
    variables = {"passk_slices": ["domain"]}
    steps = growing(engines.database)
    next(steps)
    engines.copy()
    engines.build_postgres(variables, command=MODELS)
    first = engines.oids()
    assert {"int_passk__task_scans", "int_passk__runs", "int_passk__suite_metrics"} <= first.keys()
    for step in steps:
        engines.copy()
        engines.build_postgres(variables, command=MODELS)
        engines.build_duckdb(variables, "--full-refresh")
        assert agree(engines.compare(f"After {step}")), step
    # One that was empty may be made anew: no row says what it was built with.
    assert first.items() <= engines.oids().items()
    # What some tests compare with; a build with tests would have made it.
    engines.build_postgres(variables, command=("seed",))
    engines.build_postgres(variables, command=("test", "--exclude-resource-type", "unit_test"))


def test_what_only_duckdb_does_is_refused(engines: Engines) -> None:
    for variables, said in [
        ({"passk_bootstrap": 100}, "postgres needs 0"),
        ({"passk_attempts_files": "log.parquet"}, "postgres reads no files"),
    ]:
        with pytest.raises(RuntimeError, match=said):
            engines.build_postgres(variables, command=MODELS)
