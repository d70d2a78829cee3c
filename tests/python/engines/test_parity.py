"""The models on other engines: every public table is that of DuckDB, from the same attempts, and dbt's tests pass there.

scripts/install_dbt_v2 installs dbt v2, scripts/test_engines makes the environments that the other engines need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .engines import WITH_TESTS
from .logs import HUMAN_EVAL_OPTIONS, OWN_VARS, RANDOM_VARS, land_own, land_random, load

if TYPE_CHECKING:
    from pathlib import Path

    from .engines import Engines

pytestmark = pytest.mark.timeout(3000)


@pytest.fixture(params=["dbt_2", "postgres", "lake", "postgres_lake", "sail", "cluster"])
def engines(request: pytest.FixtureRequest) -> Engines:
    """DuckDB and, one after the other, each of the other engines."""
    made: Engines = request.getfixturevalue(f"with_{request.param}")
    return made


@pytest.mark.long
def test_parity_of_the_demo(engines: Engines) -> None:
    engines.build_duckdb(
        {}, target="demo", command=("build", "--exclude-resource-type", "unit_test", "test")
    )
    engines.build_there({}, target=engines.demo_target, command=WITH_TESTS)
    assert engines.rows_that_agree("The demo log")["passk_attempts"] == 3248


@pytest.mark.long
def test_parity_of_tau_bench(engines: Engines, tau_bench_file: Path) -> None:
    load(engines.database, str(tau_bench_file))
    looks = {
        "name": "looks",
        "type": "threshold",
        "metric": "pass_hat_k",
        "k": 2,
        "min": 0.3,
        "sequential": True,
        "attempts": 4,
        "severity": "ignore",
        "inconclusive": "ignore",
    }
    rows = engines.rows_of_parity("tau-bench: gpt-4o, airline", {"passk_gates": [looks]})
    assert (rows["passk_attempts"], rows["passk_gates"]) == (200, 1)


@pytest.mark.long
def test_parity_of_human_eval(engines: Engines, human_eval_file: Path) -> None:
    load(engines.database, str(human_eval_file), *HUMAN_EVAL_OPTIONS)
    assert engines.rows_of_parity("HumanEval: codegen-16B")["passk_attempts"] == 16_400


@pytest.mark.long
def test_parity_of_a_random_log(engines: Engines) -> None:
    land_random(engines.database)
    rows = engines.rows_of_parity("A random log with every edge case", RANDOM_VARS)
    assert all(rows.values()), rows


def test_parity_of_a_table_of_ones_own(engines: Engines) -> None:
    if engines.text_differs:
        pytest.skip(engines.text_differs)
    land_own(engines.database)
    rows = engines.rows_of_parity("A table of one's own, right and wrong texts", OWN_VARS)
    assert rows["passk_attempts"] > 0
    assert rows["passk_rejected_attempts"] > 0
