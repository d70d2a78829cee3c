"""The models on Postgres: every public table is that of DuckDB, from the same attempts, and so is an increment.

The environment that has dbt-postgres is named by ``PASSK_DBT_POSTGRES``; scripts/test_engines makes it.
"""

from __future__ import annotations

import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest

from .logs import (
    BATCH,
    FIRST,
    OWN_COLUMNS,
    OWN_MAPPING,
    attempts_of,
    land,
    own_rows,
    random_expected,
    random_rejected,
    random_runs,
)
from .parity import ROOT, build, compare_tables, copy_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ..postgres_server import Postgres
    from .parity import Compared

pytestmark = pytest.mark.timeout(1200)

SCHEMA: Final = "reliability"
MODELS: Final = ("run",)
WITH_TESTS: Final = ("build", "--exclude-resource-type", "unit_test")

RANDOM_VARS: Final = {
    "passk_slices": ["domain", {"name": "reason", "expression": "outcome_reason"}],
    "passk_extrapolated_ks": [128, 1000],
    "passk_private_suites": [{"public": "even", "private": "far"}],
    "passk_gates": [
        {
            "name": "suite",
            "metric": "pass_hat_k",
            "k": 4,
            "min": 0.5,
            "run": "all",
            "severity": "ignore",
        },
        {
            "name": "drop",
            "metric": "pass_hat_k",
            "k": 4,
            "max_drop": 0.1,
            "run": "all",
            "severity": "ignore",
        },
        {
            "name": "tasks",
            "metric": "pass_hat_k",
            "k": 2,
            "min": 0.3,
            "each": "task",
            "severity": "ignore",
        },
        {"name": "excluded", "metric": "excluded_attempts", "max": 0.05, "severity": "ignore"},
        {"name": "log", "diagnostics": "all", "severity": "ignore"},
        {"name": "moved", "metric": "regressed_tasks", "max": 0, "severity": "ignore"},
    ],
}
OWN_VARS: Final = {
    "passk_attempts_source": ["passk_landing", "attempts"],
    "passk_attempts_columns": OWN_MAPPING,
    "passk_slices": ["domain"],
    "passk_outcome_policy": {"rate_limited": "excluded"},
}


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
        found = compare_tables(self.database, self.postgres, SCHEMA, self.folder)
        print(f"\n{log}\n| table | rows | largest difference | Postgres |\n|---|---|---|---|")
        for one in found:
            verdict = "PASS" if one.passes else f"{one.differing} rows differ"
            print(f"| `{one.table}` | {one.rows:,} | {one.largest:.1e} | {verdict} |")
        return found

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


def agree(found: list[Compared]) -> bool:
    """Whether all tables agree; a test that fails shows which do not, and how."""
    assert [(one.table, one.examples) for one in found if not one.passes] == []
    return True


@pytest.fixture
def engines(
    tmp_path: Path, duckdb_dbt: str, postgres_dbt: str, new_database: Callable[[], Postgres]
) -> Engines:
    """Two engines without attempts."""
    return Engines(tmp_path, new_database(), (duckdb_dbt, postgres_dbt))


def load(database: Path, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "passk_py", "load", "--database", str(database), *words],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


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
    load(
        engines.database, str(human_eval_file), "--map", "task_id=$.task_id", "--map", "attempt=$.completion_id + 1",
        "--map", "passed=$.passed", "--map", "outcome_reason=$.result", "--map", "duration_s=$.seconds",
        "--run-id", "codegen", "--agent", "codegen", "--suite", "humaneval",
    )  # fmt: skip
    engines.copy()
    engines.build_duckdb({})
    engines.build_postgres({})
    found = engines.compare("HumanEval: codegen-16B")
    assert agree(found)
    assert {one.table: one.rows for one in found}["passk_attempts"] == 16_400


def test_parity_of_a_random_log(engines: Engines) -> None:
    land(engines.database, random_runs())
    land(engines.database, random_rejected(), "rejected")
    land(engines.database, random_expected(), "expected_attempts")
    engines.copy()
    engines.build_duckdb(RANDOM_VARS)
    engines.build_postgres(RANDOM_VARS)
    found = engines.compare("A random log with every edge case")
    assert agree(found)
    rows = {one.table: one.rows for one in found}
    assert all(rows.values()), rows


def test_parity_of_a_table_of_ones_own(engines: Engines) -> None:
    land(engines.database, [])
    with duckdb.connect(str(engines.database)) as connection:
        columns = ", ".join(f"{name} varchar" for name in OWN_COLUMNS)
        connection.execute(f"create or replace table landing.attempts ({columns})")
        connection.executemany(
            f"insert into landing.attempts values ({', '.join('?' * len(OWN_COLUMNS))})", own_rows()
        )
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
    generator = random.Random(3)
    tasks = {f"it's task {i} 🦆": generator.choice([0, 0.3, 0.7, 1]) for i in range(30)}
    late = FIRST + 9 * BATCH

    def run(run_id: str, batch: int, numbers: range) -> list[dict[str, Any]]:
        return attempts_of(
            generator,
            run_id,
            "suite",
            tasks,
            loaded_at=FIRST + batch * BATCH,
            number=lambda: numbers,
            version=run_id,
        )

    variables = {"passk_slices": ["domain"]}
    land(engines.database, run("a", 0, range(1, 9)) + run("b", 1, range(1, 9)))
    engines.copy()
    engines.build_postgres(variables, command=MODELS)
    first = engines.oids()
    assert {"int_passk__task_scans", "int_passk__runs", "int_passk__suite_metrics"} <= first.keys()

    def new_runs() -> None:
        land(engines.database, run("c", 2, range(1, 13)) + run("far", 2, range(120, 131)))

    def late_attempts() -> None:
        land(engines.database, run("a", 3, range(9, 12)) + run("b", 3, range(7, 10)))

    def deletions() -> None:
        _forget(engines.database, "run_id = 'c' and attempt > 6", late)
        _forget(engines.database, "run_id = 'b' and task_id like '%1 %' or run_id = 'far'", late)

    for step in (new_runs, late_attempts, deletions):
        step()
        engines.copy()
        engines.build_postgres(variables, command=MODELS)
        engines.build_duckdb(variables, "--full-refresh")
        assert agree(engines.compare(f"After {step.__name__}")), step
    # One that was empty may be made anew: no row says what it was built with.
    assert first.items() <= engines.oids().items()
    # What some tests compare with; a build with tests would have made it.
    engines.build_postgres(variables, command=("seed",))
    engines.build_postgres(variables, command=("test", "--exclude-resource-type", "unit_test"))


def _forget(database: Path, condition: str, removed_at: Any) -> None:
    """Remove attempts, as `passk forget` does: what is gone is noted."""
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            f"insert into landing.removed_tasks select distinct run_id, suite, task_id, ?::timestamp "
            f"from landing.attempts where {condition}",
            [removed_at],
        )
        connection.execute(f"delete from landing.attempts where {condition}")


def test_what_only_duckdb_does_is_refused(engines: Engines) -> None:
    for variables, said in [
        ({"passk_bootstrap": 100}, "postgres needs 0"),
        ({"passk_attempts_files": "log.parquet"}, "postgres reads no files"),
    ]:
        with pytest.raises(RuntimeError, match=said):
            engines.build_postgres(variables, command=MODELS)
