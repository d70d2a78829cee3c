"""Later builds and errors of dbt v2, which renders Jinja and runs SQL by engines of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml  # type: ignore[import-untyped]

import passk_py as pk
from passk_py.common.errors import PasskError
from passk_py.demo import write_log
from passk_py.warehouse.catalog import PUBLIC_TABLES
from passk_py.warehouse.project import project_dir

from .engines import MODELS

if TYPE_CHECKING:
    from pathlib import Path

    from .engines import WithDbt2

pytestmark = pytest.mark.timeout(1200)


@pytest.mark.long
def test_a_later_build_is_what_a_full_refresh_makes(with_dbt_2: WithDbt2) -> None:
    steps = list(with_dbt_2.grow({"passk_slices": ["domain"]}))
    assert len(steps) > 3


def test_wrong_vars_are_said_as_by_dbt_1(with_dbt_2: WithDbt2) -> None:
    said = r"There is no var passk_kz. Did you mean passk_ks\?"
    with pytest.raises(RuntimeError, match=said):
        with_dbt_2.build_there({"passk_kz": [1]}, command=MODELS)


def demo_log(folder: Path) -> Path:
    path = folder / "demo.jsonl"
    write_log(path)
    return path


def declared_tests() -> list[Any]:
    """Give the data tests of the tables that every build makes."""
    found = []
    for table in PUBLIC_TABLES:
        [path] = (project_dir() / "models" / "marts").glob(f"*/{table.name}.yml")
        [model] = yaml.safe_load(path.read_text("utf-8"))["models"]
        found += model["data_tests"]
        found += [test for column in model["columns"] for test in column.get("data_tests", ())]
    return found


@pytest.mark.long
def test_passk_builds_with_it(dbt_2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSK_DBT", dbt_2)
    database = tmp_path / "nightly evals.duckdb"
    pk.load(demo_log(tmp_path), database=database)
    first, second = pk.build(database), pk.build(database)
    assert (first.failed, first.skipped, first.exit_code) == ((), 0, 0)
    assert first.models >= 40
    assert first.tests >= len(declared_tests())
    assert second.is_unchanged
    assert pk.validate_tables(database).exit_code == 0
    extra = tmp_path / "extra.csv"
    extra.write_text(
        "run_id,task_id,attempt,outcome\nextra,a,1,passed\nextra,a,2,failed\n", "utf-8"
    )
    pk.load(extra, database=database)
    later = pk.build(database)
    assert (later.failed, later.skipped, later.tests) == ((), 0, first.tests)
    # Its views are as they were.
    assert 0 < later.models < first.models / 1.5
    assert pk.validate_tables(database).exit_code == 0
    untested = pk.build(database, full_refresh=True, tests=False)
    assert (untested.models, untested.tests) == (first.models, 0)


@pytest.mark.long
def test_passk_says_what_it_says(
    dbt_2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong vars, a gate that fails, an expression that fails in a model: as from dbt 1."""
    monkeypatch.setenv("PASSK_DBT", dbt_2)
    database = tmp_path / "passk.duckdb"
    pk.load(demo_log(tmp_path), database=database)
    with pytest.raises(PasskError) as raised:
        pk.build(
            database,
            variables={
                "passk_ks": [0],
                "passk_m_of_k": [{"m": 5, "k": 4}],
                "passk_confidence": 2,
            },
        )
    assert raised.value.message.splitlines()[:4] == [
        "3 vars are wrong.",
        "- passk_ks holds 0, but must hold integers of at least 1 only.",
        '- passk_m_of_k holds {"k": 4, "m": 5}, but must hold {m: ..., k: ...}, both integers, with m from 1 to k and k up to 32.',
        "- passk_confidence is 2, but must be 0.8, 0.9, 0.95 or 0.99.",
    ]
    gate = {
        "name": "hard",
        "type": "threshold",
        "metric": "pass_hat_k",
        "k": 2,
        "min": 0.99,
        "run": "all",
    }
    (failed,) = pk.build(database, variables={"passk_gates": [gate]}).failed
    assert (failed.name, failed.status) == ("passk_gates_hold", "fail")
    assert failed.message.startswith("passk gate hard: fail, ")
    assert "reason: pass^2 is " in failed.message
    wrong = {"name": "x", "expression": "cast(cast(attempt as varchar) || chr(120) as integer)"}
    broken = pk.build(database, variables={"passk_slices": [wrong]})
    assert broken.exit_code == 2
    assert broken.skipped > 100
    assert broken.failed[0].message.startswith("Conversion Error: Could not convert string '1x'")
