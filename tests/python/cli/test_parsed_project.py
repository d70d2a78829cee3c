"""The parsed project that ``passk build`` keeps: when it serves, and that it changes nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from passk_py.common.errors import PasskError
from passk_py.warehouse.building import build
from passk_py.warehouse.building.parsed_project import SHAPING, place_of_parsed
from passk_py.warehouse.project import default_variables, digest_of_code, project_dir

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Project
    from dbt.contracts.graph.manifest import Manifest

PART: dict[str, Any] = {"select": ("+int_passk__log_runs",), "tests": False}
"""Two models that take no time to build."""

CHANGED: dict[str, Any] = {
    "passk_bootstrap_seed": 7,
    "passk_capable_threshold": 0.2,
    "passk_confidence": 0.8,
    "passk_consistent_rate": 0.95,
    "passk_consistent_threshold": 0.7,
    "passk_create_sql_functions": False,
    "passk_deployment_k": 3,
    "passk_diagnostics": False,
    "passk_incapable_rate": 0.01,
    "passk_incremental_by_loaded_at": True,
    "passk_ks": [1, 2, 3],
    "passk_min_eligible_share": 0.9,
    "passk_minimum_change": 0.1,
    "passk_causes": {"tool_*": "tools"},
    "passk_outcome_policy": {"timeout": "excluded"},
    "passk_plan_attempts": [3],
    "passk_plan_difference": 0.2,
    "passk_plan_power": 0.9,
    "passk_plan_width": 0.2,
    "passk_ranked_runs": 3,
    "passk_score_threshold": 0.5,
    "passk_score_thresholds": [0.5, 1],
    "passk_trend_runs": 5,
}
"""Another value of each var that shapes nothing."""


ALIKE: dict[str, tuple[Any, Any]] = {
    "passk_attempts_files": ("one.csv", "two/*.parquet"),
    "passk_baseline": ("r", "s"),
    "passk_cluster": ("repo", {"name": "start", "expression": "left(task_id, 3)"}),
    "passk_difficulty": ("human_minutes", "steps"),
    "passk_m_of_k": ([{"m": 2, "k": 3}], [{"m": 1, "k": 2}, {"m": 4, "k": 8}]),
    "passk_extrapolated_ks": ([100], [200, 1000]),
    "passk_gates": (
        [
            {"name": "a", "type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.5},
            {"name": "b", "type": "drop", "metric": "pass_at_k", "max_drop": 0.1, "baseline": "r"},
            {"name": "c", "type": "diagnostics", "diagnostics": "all"},
            {
                "name": "d",
                "type": "drop",
                "metric": "pass_at_k",
                "max_drop": 0.1,
                "baseline": {"last": 3},
            },
        ],
        [
            {"name": "x", "type": "threshold", "metric": "pass_hat_k", "k": 1, "min": 0.9},
            {"name": "y", "type": "drop", "metric": "pass_at_k", "max_drop": 0.2, "baseline": "s"},
            {"name": "z", "type": "diagnostics", "diagnostics": ["drift"]},
            {
                "name": "w",
                "type": "drop",
                "metric": "pass_at_k",
                "max_drop": 0.3,
                "baseline": {"last": 9},
            },
            {"name": "v", "type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.1},
        ],
    ),
    "passk_pairs": (
        [{"baseline": "r", "candidate": "s"}],
        [{"baseline": "s", "candidate": "t", "suite": "u"}],
    ),
    "passk_private_suites": (
        [{"public": "p", "private": "q"}],
        [{"public": "v", "private": "w"}],
    ),
    "passk_slices": (
        ["domain", {"name": "short", "expression": "length(task_id) < 5"}],
        ["size", {"name": "long", "expression": "length(task_id) > 50"}],
    ),
}
"""Two values of each var that shapes the project by its kind alone."""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return place_of_parsed({}, digest_of_code()).parent


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One for each time that dbt parses the project."""
    from dbt.parser.manifest import ManifestLoader

    found: list[None] = []
    load = ManifestLoader.load

    def counted(loader: ManifestLoader) -> Manifest:
        found.append(None)
        return load(loader)

    monkeypatch.setattr(ManifestLoader, "load", counted)
    return found


@pytest.mark.long
@pytest.mark.usefixtures("cache")
def test_a_second_database_costs_no_parse(
    make_project: Callable[[], Project], parses: list[None]
) -> None:
    first, second = make_project(), make_project()
    for project in (first, second):
        assert build(project.database, **PART).failed == ()
    assert len(parses) == 1
    # Vars that shape nothing don't matter, nor the order of those that do.
    assert build(second.database, **PART, variables={"passk_ks": [2, 4]}).failed == ()
    assert len(parses) == 1
    shaped = {"passk_slices": ["domain"], "passk_ordered_metrics": False}
    for variables in (shaped, dict(reversed(shaped.items()))):
        assert build(second.database, **PART, variables=variables).failed == ()
        assert len(parses) == 2
    # A gate reads the tables that it judges by.
    gate = {"name": "floor", "type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.5}
    for gates in ([gate], [{**gate, "type": "each_task"}]):
        judged = {"select": ("+passk_gates",), "tests": False, "variables": {"passk_gates": gates}}
        assert build(second.database, **judged).failed == ()
    assert len(parses) == 4
    # The model in Python gets its vars as it is parsed.
    for seed in (1, 2):
        drawn = {"passk_bootstrap": 100, "passk_bootstrap_seed": seed}
        assert build(second.database, **PART, variables=drawn).failed == ()
    assert len(parses) == 6
    # Only its name is another in the statements.
    other = second.database.rename(second.database.with_name("an other.v2.duckdb"))
    with duckdb.connect(str(other)) as connection:
        connection.execute("drop schema main_passk_internal cascade")
    assert build(other, **PART).failed == ()
    assert len(parses) == 6
    with duckdb.connect(str(other), read_only=True) as connection:
        made = "select count(*) from duckdb_tables() where schema_name = 'main_passk_internal'"
        assert connection.execute(made).fetchall() != [(0,)]


@pytest.mark.long
def test_a_whole_build_from_it_is_the_same(
    make_project: Callable[[], Project], attempts: Any, cache: Path
) -> None:
    tables: list[list[tuple[Any, ...]]] = []
    reports = []
    for _ in range(2):
        project = make_project()
        project.land([*attempts("r", "t", "PPFX"), *attempts("s", "t", "FFPP")])
        reports.append(build(project.database))
        with duckdb.connect(str(project.database), read_only=True) as connection:
            tables.append(connection.execute("from passk_suite_metrics order by all").fetchall())
    assert tables[0] == tables[1] != []
    kept, anew = ((one.models, one.tests, one.failed) for one in reversed(reports))
    assert kept == anew
    assert kept[2] == ()
    assert [path.suffix for path in cache.iterdir()] == [".msgpack"]


def test_a_damaged_file_is_parsed_anew(
    make_project: Callable[[], Project], cache: Path, parses: list[None]
) -> None:
    project = make_project()
    place = place_of_parsed({}, digest_of_code())
    place.parent.mkdir(parents=True)
    place.write_bytes(b"half of")
    assert build(project.database, **PART).failed == ()
    assert len(parses) == 1
    assert place.stat().st_size > 100_000
    assert [path.name for path in cache.iterdir()] == [place.name]


def test_without_a_cache_it_builds_as_well(
    make_project: Callable[[], Project], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert build(make_project().database, **PART).failed == ()


@pytest.mark.long
def test_a_build_with_a_wrong_var_keeps_nothing(
    make_project: Callable[[], Project], cache: Path, tmp_path: Path
) -> None:
    """With any wrong var dbt parses as if all had their defaults."""
    project = make_project()
    files = tmp_path / "attempts.jsonl"
    files.write_text('{"run_id": "r", "task_id": "t", "attempt": 1, "passed": true}\n', "utf-8")
    right = {"passk_attempts_files": str(files), "passk_slices": []}
    with pytest.raises(PasskError, match="passk_confidence"):
        build(project.database, **PART, variables={**right, "passk_confidence": 0.5})
    assert not cache.exists()
    chosen = {"select": ("+passk_runs",), "tests": False, "variables": right}
    assert build(project.database, **chosen).failed == ()


def test_what_an_earlier_build_left_is_not_kept_for_another(
    make_project: Callable[[], Project], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project()
    assert build(project.database, **PART).failed == ()
    [kept] = cache.iterdir()
    from dbt.parser.manifest import ManifestLoader

    def stop(_: ManifestLoader) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ManifestLoader, "load", stop)
    with pytest.raises(KeyboardInterrupt):
        build(project.database, **PART, variables={"passk_baseline": "r"})
    assert list(cache.iterdir()) == [kept]


@pytest.mark.long
def test_the_cache_does_not_grow(
    make_project: Callable[[], Project], cache: Path, parses: list[None]
) -> None:
    project = make_project()
    cache.mkdir(parents=True)
    for number in range(12):
        old = cache / f"parsed-{number:032}.msgpack"
        old.touch()
        os.utime(old, (number, number))
    assert build(project.database, **PART).failed == ()
    assert len(parses) == 1
    kept = {path.name for path in cache.iterdir()}
    assert kept == {
        place_of_parsed({}, digest_of_code()).name,
        *(f"parsed-{number:032}.msgpack" for number in range(5, 12)),
    }


def graph(manifest: Manifest) -> dict[str, Any]:
    """All that dbt knows before it renders a model, which the vars of a build may not change."""
    known: dict[str, Any] = {}
    for kind in ("nodes", "sources", "exposures", "unit_tests", "macros"):
        for key, node in getattr(manifest, kind).items():
            # When it was parsed, and which vars it names: dbt compares states by these, and builds nothing from them.
            left_out = {"created_at", "vars"}
            values = node.to_dict()
            known[f"{kind} {key}"] = {k: v for k, v in values.items() if k not in left_out}
    return known


def graph_of(variables: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Parse the project with these vars."""
    from dbt.cli.main import dbtRunner

    from passk_py.warehouse.building import as_yaml

    done = dbtRunner().invoke(
        ["--quiet", "--no-partial-parse", "--no-write-json", "parse",
         *("--project-dir", str(project_dir()), "--profiles-dir", str(project_dir())),
         *("--target", "duckdb", "--target-path", str(folder), "--log-path", str(folder)),
         *("--vars", as_yaml(variables))]
    )  # fmt: skip
    assert done.success
    return graph(done.result)  # type: ignore[arg-type]


@pytest.mark.long
def test_only_the_vars_that_shape_it_are_part_of_its_name(
    make_project: Callable[[], Project], tmp_path: Path
) -> None:
    """One parse with the defaults, one with every other var changed: the same models, tests and references."""
    defaults = default_variables()
    assert CHANGED.keys() | SHAPING == defaults.keys()
    assert not CHANGED.keys() & SHAPING
    assert all(defaults[name] != value for name, value in CHANGED.items())
    # With a wrong one all would have their defaults while dbt parses.
    assert build(make_project().database, **PART, variables=CHANGED).failed == ()
    graphs = [graph_of(variables, tmp_path) for variables in ({}, CHANGED)]
    assert len(graphs[0]) > 200
    assert graphs[0] == graphs[1]


@pytest.mark.long
def test_values_of_a_kind_are_parsed_alike(
    make_project: Callable[[], Project], tmp_path: Path
) -> None:
    one, other = ({name: values[i] for name, values in ALIKE.items()} for i in range(2))
    places = [
        place_of_parsed(variables, digest_of_code())
        for variables in (one, other, one | {"passk_slices": ["domain"]}, {})
    ]
    assert places[0] == places[1]
    assert len(set(places)) == 3
    for variables in (one, other):
        # With a wrong one all would have their defaults while dbt parses.
        assert make_project().render("{{ passk._var_mistakes() }}", variables) == "[]"
    graphs = [graph_of(variables, tmp_path) for variables in (one, other)]
    assert graphs[0] == graphs[1]
