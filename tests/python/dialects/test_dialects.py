"""Every model, compiled by the adapter of each warehouse, is SQL to a parser of that warehouse.

The warehouses are not there: see compile_for.py for what stands in. A parser finds syntax that a warehouse lacks, and functions that
the parser does not know there; it finds no difference in what a function returns.
"""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import sqlglot
from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT: Final = Path(__file__).resolve().parents[3]
ADAPTERS: Final = ("bigquery", "clickhouse", "databricks", "redshift", "snowflake", "trino")

COLUMNS: Final = (
    "run_id", "suite", "task_id", "attempt", "outcome", "outcome_reason", "score", "agent", "agent_version", "model", "seed",
    "started_at", "duration_s", "cost_usd", "input_tokens", "output_tokens", "output_hash", "tags", "transcript",
    "loaded_at",
)  # fmt: skip

VARS: Final[dict[str, Any]] = {
    "passk_attempts_model": "trials",
    "passk_ks": [1, 2, 4, 8],
    "passk_slices": ["level", {"name": "maker", "expression": "agent"}],
    "passk_causes": {"tool_*": "tools"},
    "passk_difficulty": "duration_s",
    "passk_m_of_k": [{"m": 2, "k": 3}],
    "passk_score_thresholds": [0.5, 1],
    "passk_costs": ["cost_usd", "tokens"],
    "passk_extrapolated_ks": [16],
    "passk_private_suites": [{"public": "a", "private": "b"}],
    "passk_gates": [
        {"name": "suite", "type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.5},
        {
            "name": "looks",
            "type": "threshold",
            "metric": "pass_hat_k",
            "k": 2,
            "min": 0.5,
            "sequential": True,
        },
        {"name": "most", "type": "threshold", "metric": "pass_m_of_k", "m": 2, "k": 3, "min": 0.5},
        {
            "name": "each level",
            "type": "threshold",
            "metric": "pass_at_k",
            "k": 2,
            "min": 0.5,
            "each": "level",
        },
        {"name": "each task", "type": "each_task", "metric": "pass_hat_k", "k": 2, "min": 0.5},
        {"name": "drop", "type": "drop", "metric": "pass_hat_k", "k": 2, "max_drop": 0.1},
        {"name": "worse", "type": "regressed_tasks", "max": 1},
        {"name": "tail", "type": "cost", "metric": "tokens", "statistic": "p95", "max": 100},
        {"name": "dearer", "type": "cost_increase", "metric": "cost_usd", "max_increase": 0.1},
        {"name": "excluded", "type": "coverage", "metric": "excluded_attempts", "max": 0.1},
        {"name": "missing", "type": "coverage", "metric": "missing_attempts", "max": 0.1},
        {"name": "rejected", "type": "coverage", "metric": "rejected_attempts", "max": 0.1},
        {"name": "sound", "type": "diagnostics", "diagnostics": "all"},
    ],
}

KNOWN_THERE: Final[dict[str, set[str]]] = {
    "clickhouse": {"tostring"},
    "databricks": {"bin", "expm1", "map_entries"},
}
"""Functions of a warehouse that the parser does not know, and the warehouse's manual has."""


@pytest.fixture(scope="module")
def python() -> str:
    """The Python of an environment with the adapters."""
    command = os.environ.get("PASSK_DIALECTS_PYTHON")
    if not command or not Path(command).exists():
        pytest.skip(
            "no adapters: PASSK_DIALECTS_PYTHON names their Python; see scripts/test_dialects"
        )
    return command


@pytest.fixture(scope="module")
def compiled(
    python: str, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], dict[str, str]]:
    """Gives the SQL of every model as an adapter has it."""

    @cache
    def compile_for(adapter: str) -> dict[str, str]:
        project = tmp_path_factory.mktemp(adapter)
        flags = {
            "require_generic_test_arguments_property": True,
            "send_anonymous_usage_stats": False,
        }
        files: dict[str, Any] = {
            "dbt_project.yml": {
                "name": "lab", "version": "1.0.0", "config-version": 2, "profile": "lab", "flags": flags, "vars": VARS,
            },
            "packages.yml": {"packages": [{"local": str(ROOT)}]},
            "columns.json": list(COLUMNS),
        }  # fmt: skip
        for name, content in files.items():
            (project / name).write_text(json.dumps(content), encoding="utf-8")
        nulls = ", ".join(
            f"cast(null as {{{{ dbt.type_string() }}}}) as {name}" for name in COLUMNS
        )
        (project / "models").mkdir()
        (project / "models" / "trials.sql").write_text(f"select {nulls}\n", encoding="utf-8")
        (project / "dbt_packages").mkdir()
        (project / "dbt_packages" / "passk").symlink_to(ROOT)
        output = project / "compiled.json"
        done = subprocess.run(
            [python, str(Path(__file__).with_name("compile_for.py")), adapter, str(project), str(output)],
            cwd=project, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
        found: dict[str, str] = json.loads(output.read_text(encoding="utf-8"))
        return found

    return compile_for


def models() -> list[str]:
    """Give the names of all models in SQL but those that are steps of the query of others."""
    steps = ("diagnostics", "plans")
    return sorted(
        path.stem for path in ROOT.glob("models/**/*.sql") if path.parent.name not in steps
    )


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_every_model_is_compiled(compiled: Callable[[str], dict[str, str]], adapter: str) -> None:
    assert set(models()) <= compiled(adapter).keys()


@pytest.mark.parametrize("model", models())
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_every_model_parses_with_functions_of_the_warehouse(
    compiled: Callable[[str], dict[str, str]], adapter: str, model: str
) -> None:
    parsed = sqlglot.parse(compiled(adapter)[model], read=adapter)
    assert len(parsed) == 1
    assert isinstance(parsed[0], exp.Query)
    unknown = {
        node.name.lower() for node in parsed[0].find_all(exp.Anonymous, exp.AnonymousAggFunc)
    }
    assert unknown <= KNOWN_THERE.get(adapter, set())


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_every_data_test_parses(compiled: Callable[[str], dict[str, str]], adapter: str) -> None:
    tests = {name: sql for name, sql in compiled(adapter).items() if name not in models()}
    assert len(tests) > 50
    for name, sql in tests.items():
        assert isinstance(sqlglot.parse_one(sql, read=adapter), exp.Query), name


DUCKDB_ONLY: Final = ("hugeint", "list_", "map(varchar", "unnest([", "sinh(")
POSTGRES_ONLY: Final = (
    "pg_typeof", "regtype", "jsonb", "json_each", "bit(", "as materialized", 'collate "c"', "generate_series", "~",
)  # fmt: skip


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_nothing_of_another_engine_is_left(
    compiled: Callable[[str], dict[str, str]], adapter: str
) -> None:
    """Text of macros/engine for DuckDB or Postgres alone went elsewhere: else the adapter was not asked."""
    found = {
        (model, word)
        for model, sql in compiled(adapter).items()
        for word in (*DUCKDB_ONLY, *POSTGRES_ONLY)
        if word in sql.lower()
    }
    assert found == set()
