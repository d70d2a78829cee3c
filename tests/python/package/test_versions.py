"""The package in a project, on every dbt and every DuckDB that it promises to run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from passk_py.validation.check_all import validate_tables

from .consumer import assert_exact, assert_exact_suites, log, project, tasks_of
from .worlds import BESIDE, DBTS, EVERY, query, write_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .worlds import World


@pytest.mark.parametrize(("dbt", "engine"), EVERY)
def test_a_project_of_its_own_attempts(
    tmp_path: Path, find_world: Callable[[str, str], World], sources: dict[str, list[dict[str, str]]],
    dbt: str, engine: str,
) -> None:  # fmt: skip
    """Built twice, with every test; counts and estimates are exact, all else is what polars makes of the attempts."""
    world = find_world(dbt, engine)
    rows = log()
    write_project(tmp_path, project(rows, sources["local"]))
    world.run(tmp_path, "deps")
    database = tmp_path / "evals.duckdb"
    for attempts in (
        rows,
        [*rows, ("2026.2", "helpdesk", "case 0", 20, True, None, "billing", "easy")],
    ):
        write_project(tmp_path, project(attempts, sources["local"]))
        said = world.run(tmp_path, "build")
        assert "WARN=0 ERROR=0" in said
        assert_exact(database, "analytics", tasks_of(attempts))
        report = validate_tables(database)
        assert report.examples == []
        assert report.different == 0
        assert report.attempts == len(attempts)
    places = dict(query(database, "select table_name, table_schema from information_schema.tables"))
    assert (places["log"], places["trials"]) == ("analytics_raw", "analytics_experiments")
    assert places["passk_gates"] == "analytics"


@pytest.mark.parametrize("source", ["git", "tarball"])
@pytest.mark.parametrize("dbt", DBTS)
def test_installed_from_elsewhere(
    tmp_path: Path, find_world: Callable[[str, str], World], sources: dict[str, list[dict[str, str]]],
    dbt: str, source: str,
) -> None:  # fmt: skip
    """From a commit of a repository, and from a tarball over HTTP."""
    world = find_world(dbt, dict(BESIDE)[dbt])
    rows = log(seed=8)
    write_project(tmp_path, project(rows, sources[source]))
    world.run(tmp_path, "deps")
    installed = tmp_path / "dbt_packages" / "passk"
    assert (installed / "macros").is_dir()
    assert not installed.is_symlink()
    world.run(
        tmp_path, "build", "--select", "+passk_suite_metrics", "--indirect-selection", "cautious"
    )
    assert_exact_suites(tmp_path / "evals.duckdb", "analytics", tasks_of(rows))


@pytest.mark.parametrize(("dbt", "engine"), BESIDE)
def test_parts_left_out_and_names_changed(
    tmp_path: Path, find_world: Callable[[str, str], World], sources: dict[str, list[dict[str, str]]],
    dbt: str, engine: str,
) -> None:  # fmt: skip
    """Tables that nobody asked for are not made; the others stand in schemas and under names of the project's own."""
    world = find_world(dbt, engine)
    rows = log(seed=9)
    files = project(rows, sources["local"])
    files["dbt_project.yml"]["models"]["passk"] = {
        "+schema": "reliability",
        "staging": {"+schema": "behind"},
        "intermediate": {"+schema": "behind"},
        "marts": {
            "plans": {"+enabled": False},
            "gates": {"+enabled": False},
            "estimates": {"passk_extrapolations": {"+enabled": False}},
            "comparisons": {
                "passk_contamination": {"+enabled": False},
                "passk_task_comparisons": {"+enabled": False},
            },
            "core": {"passk_tasks": {"+alias": "case_summary", "+materialized": "table"}},
        },
    }
    files["dbt_project.yml"]["vars"] = files["dbt_project.yml"]["vars"] | {
        "passk_diagnostics": False
    }
    # A project's own schemas, without the target's in front: the override that dbt's docs show.
    files["macros/generate_schema_name.sql"] = (
        "{% macro generate_schema_name(custom_schema_name, node) -%}\n"
        "  {{ custom_schema_name | trim if custom_schema_name else target.schema }}\n"
        "{%- endmacro %}\n"
    )
    files["models/report.sql"] = (
        "select run_id, pass_hat_k, {{ passk.pass_hat_k('n', 'c', 2) }} as of_counts\n"
        "from {{ ref('passk', 'passk_task_metrics') }}\nwhere k = 2\n"
    )
    write_project(tmp_path, files)
    world.run(tmp_path, "deps")
    assert "WARN=0 ERROR=0" in world.run(tmp_path, "build")
    database = tmp_path / "evals.duckdb"
    assert_exact(database, "reliability", tasks_of(rows), named="case_summary")
    places = dict(query(database, "select table_name, table_schema from information_schema.tables"))
    assert {schema for name, schema in places.items() if name.startswith(("int_", "stg_"))} == {
        "behind"
    }
    assert not places.keys() & {
        "passk_plans",
        "passk_contamination",
        "passk_extrapolations",
        "passk_gates",
        "passk_tasks",
    }
    ((different,),) = query(
        database,
        "select count(*) from experiments.report where abs(pass_hat_k - of_counts) > 1e-15",
    )
    assert different == 0
