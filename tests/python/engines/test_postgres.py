"""Features of Postgres alone: tables that later builds leave, functions of the database, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .engines import MODELS

if TYPE_CHECKING:
    from .engines import WithPostgres

pytestmark = pytest.mark.timeout(1200)


def test_a_later_build_is_what_a_full_refresh_makes(with_postgres: WithPostgres) -> None:
    """And does not make anew what has rows."""
    variables = {"passk_slices": ["domain"]}
    first: dict[str, str] = {}
    for _ in with_postgres.grow(variables):
        first = first or with_postgres.oids()
    assert {"int_passk__task_scans", "int_passk__runs", "int_passk__suite_metrics"} <= first.keys()
    # One that was empty may be made anew: no row says what it was built with.
    assert first.items() <= with_postgres.oids().items()
    # Some tests compare with it; a build with tests would have made it.
    with_postgres.build_there(variables, command=("seed",))
    with_postgres.build_there(variables, command=("test", "--exclude-resource-type", "unit_test"))


def test_the_functions_are_those_of_the_macros(with_postgres: WithPostgres) -> None:
    command = ("build", "--select", "+passk_task_metrics", "--exclude-resource-type", "unit_test", "test")  # fmt: skip
    with_postgres.build_there({}, target="demo_postgres", command=command)
    asked = (
        "select pass_hat_k(16, 14, 4), pass_at_k(5, 2, 2), pass_hat_k(3, 2, 4), delta_k_max(0.5, 2)"
    )
    schema = with_postgres.schema
    answer = with_postgres.postgres.ask(f"set search_path to {schema}; {asked}").split("|")
    # 14 13 12 11 / (16 15 14 13), 1 - 3 2 / (5 4), nothing of n < k, and 1/2 - 1/4.
    assert [float(one) for one in answer if one] == pytest.approx([0.55, 0.7, 0.25], rel=1e-12)
    assert answer[2] == ""


def test_what_only_duckdb_does_is_refused(with_postgres: WithPostgres) -> None:
    for variables, said in [
        ({"passk_bootstrap": 100}, "postgres needs 0"),
        ({"passk_attempts_files": "log.parquet"}, "postgres reads no files"),
    ]:
        with pytest.raises(RuntimeError, match=said):
            with_postgres.build_there(variables, command=MODELS)
