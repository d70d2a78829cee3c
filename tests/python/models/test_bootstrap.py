"""passk_suite_bootstrap: made where the var asks for it, with the limits of the polars function."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest
from click.testing import CliRunner

import passk_py as pk
from passk_py.cli import cli

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Project

KS: Final = [1, 2, 5]
VARS: Final = {
    "passk_ks": KS,
    "passk_deployment_k": 2,
    "passk_create_sql_functions": False,
    "passk_ordered_metrics": False,
    "passk_bootstrap": 200,
    "passk_bootstrap_seed": 11,
    "passk_confidence": 0.9,
    "passk_slices": ["kind"],
}
MODEL: Final = "passk_suite_bootstrap"


def log() -> list[dict[str, Any]]:
    chance = random.Random(4)
    rates = {task: chance.random() for task in range(25)}
    return [
        {
            "run_id": run,
            "suite": "s",
            "task_id": f"t{task}",
            "attempt": attempt,
            "outcome": "passed" if chance.random() < rate else "failed",
        }
        for run in ("a", "b")
        for task, rate in rates.items()
        for attempt in range(1, 7 if task % 2 else 5)
    ]


def test_the_table_holds_the_limits_of_polars_and_tests_hold(project: Project) -> None:
    rows = log()
    project.land({**row, "tags": {"kind": row["task_id"][-1]}} for row in reversed(rows))
    project.run(VARS, select=[f"+{MODEL}"])
    project.run(VARS, command="test", select=[MODEL])
    expected = pk.bootstrap_limits(
        pl.DataFrame(rows), ks=KS, resamples=200, seed=11, confidence=0.9
    )
    found = project.records(
        f"select {', '.join(expected.columns)} from {MODEL} where slice_name = 'all'"
        " order by run_id, k, metric"
    )
    assert found == expected.sort("run_id", "k", "metric").to_dicts()
    assert {row["null_reason"] for row in found} == {None, "n < 5 in 13 of 25 tasks"}
    slices = project.query(
        f"select count(distinct slice_value) from {MODEL} where slice_name = 'kind'"
    )
    assert slices == [(10,)]


@pytest.mark.long
def test_without_the_var_there_is_no_such_table(project: Project) -> None:
    project.land(log())
    project.run({**VARS, "passk_bootstrap": 0})
    assert project.query(
        "select count(*) from information_schema.tables where table_name = 'passk_suite_bootstrap'"
    ) == [(0,)]


@pytest.mark.long
def test_it_is_read_and_exported_like_other_tables(project: Project, tmp_path: Path) -> None:
    project.land(log())
    project.run(VARS)
    frame = pk.read_table(MODEL, database=project.database, k=2)
    assert frame.height == project.query(f"select count(*) from {MODEL} where k = 2")[0][0] > 0
    folder = tmp_path / "tables"
    words = ["export", "--all", "--database", str(project.database), "-o", str(folder)]
    assert CliRunner().invoke(cli, words).exit_code == 0
    assert pl.read_parquet(folder / f"{MODEL}.parquet").height == frame.height * len(KS)
