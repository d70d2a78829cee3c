"""A project that has this package: its own input and models, databases and time zones."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest
import yaml

from passk_py.warehouse.catalog import PUBLIC_TABLES
from passk_py.warehouse.freshness import stale
from passk_py.warehouse.settings import read_settings
from passk_py.warehouse.tables import open_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Dbt, Project

LOG = (
    "select 'r' as run_id, 't' || t as task_id, i as attempt, i > t as passed "
    "from range(1, 4) x(i), range(1, 6) y(t)"
)


@pytest.fixture
def own(tmp_path: Path, dbt: Dbt, project: Project, request: pytest.FixtureRequest) -> Any:
    """Make a project of these models, with the package, and its database."""

    def made(models: dict[str, str], *, config: dict[str, Any] | None = None) -> Project:
        folder = tmp_path / "own"
        files: dict[str, str] = {
            "dbt_project.yml": json.dumps(
                {
                    "name": "own", "version": "1.0.0", "config-version": 2, "profile": "own",
                    "flags": {"require_generic_test_arguments_property": True},
                    **(config or {}),
                }
            ),
            "packages.yml": json.dumps({"packages": [{"local": str(request.config.rootpath)}]}),
            **{f"models/{name}.sql": text for name, text in models.items()},
        }  # fmt: skip
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        (folder / "dbt_packages").mkdir()
        (folder / "dbt_packages" / "passk").symlink_to(request.config.rootpath)
        own = type(dbt)(folder / "dbt", folder, profile="own", has_vars_of_passk_alone=False)
        return type(project)(tmp_path, own)

    return made


def change_profile(project: Project, **more: Any) -> None:
    """Have dbt open the database with these settings."""
    profiles = project.dbt.folder / "profiles.yml"
    profile = json.loads(profiles.read_text("utf-8"))
    for output in profile["own"]["outputs"].values():
        output.update(more)
    profiles.write_text(json.dumps(profile), "utf-8")


INPUT = {"passk_attempts_model": "trials", "passk_ks": [1, 2, 4]}


def test_an_ephemeral_input_is_refused_in_words(own: Callable[..., Project]) -> None:
    project = own({"trials": "{{ config(materialized='ephemeral') }}\n" + LOG})
    said = project.refused(INPUT)
    assert "the model trials of the var passk_attempts_model is ephemeral" in said
    assert "Make it a view or a table." in said


@pytest.mark.long
def test_an_input_that_is_not_built_is_named_where_dbt_only_compiles(
    own: Callable[..., Project],
) -> None:
    project = own({"trials": LOG})
    said = project.refused(INPUT, "compile")
    assert "the model trials of the var passk_attempts_model is not built yet" in said
    assert "build it first: dbt run --select trials." in said
    project.run(INPUT, select=["trials"])
    project.dbt.invoke(["compile"], folder=project.folder, variables=INPUT)


@pytest.mark.long
def test_wrong_vars_are_listed_where_dbt_only_compiles(own: Callable[..., Project]) -> None:
    project = own({"trials": LOG})
    said = project.refused({**INPUT, "passk_ks": [0], "passk_confidence": 0.91}, "compile")
    assert "passk_ks holds 0, but must hold integers of at least 1 only." in said
    assert "passk_confidence is 0.91, but must be" in said


MACROS = {
    "trials": LOG,
    "reading": (
        "select {{ passk.normal_quantile() }} as z, {{ passk.student_quantile(10) }} as t,\n"
        "  {{ passk.mean_lower(1, 0, 5) }} as lower, {{ passk.mean_upper(0, 0, 5) }} as upper,\n"
        "  {{ passk.least_tasks(0.95) }} as tasks,\n"
        "  {{ passk.diagnostic_verdict(0.01, 30) }} as verdict\n"
        "from {{ ref('passk', 'passk_runs') }}"
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("confidence", [None, 0.8])
def test_macros_take_the_vars_that_they_default_to(
    confidence: float | None, own: Callable[..., Project]
) -> None:
    project = own(MACROS)
    project.run(INPUT | ({} if confidence is None else {"passk_confidence": confidence}))
    ((z, t, lower, upper, tasks, verdict),) = project.query("from reading")
    level = confidence or 0.95
    assert z == pytest.approx(NormalDist().inv_cdf((1 + level) / 2), rel=1e-12)
    # Tables of Student's t with 10 degrees of freedom.
    assert t == pytest.approx({0.95: 2.228, 0.8: 1.372}[level], abs=5e-4)
    assert 0 < lower < 1
    assert lower == pytest.approx(1 - upper)
    assert tasks > 0
    assert verdict in ("ok", "warning", "notice")


@pytest.mark.long
def test_vars_of_the_package_alone_do_not_stop_models_that_call_its_macros(
    own: Callable[..., Project],
) -> None:
    scoped = {"passk": {**INPUT, "passk_confidence": 0.9}}
    project = own(MACROS, config={"vars": scoped})
    project.run({})
    ((z,),) = project.query("select z from reading")
    assert z == pytest.approx(NormalDist().inv_cdf(0.975), rel=1e-12)
    assert project.query("select n from passk_runs") == [(15,)]


MISSPELT = {
    "passk_kz": [1],
    "passk": {"gates": [], "passk_slice": ["domain"]},
    "own": {"passk_confidenze": 0.9, "colour": "red"},
    "colours": {"passk_red": 1},
}


@pytest.mark.long
def test_misspelt_vars_of_dbt_project_yml_are_refused(own: Callable[..., Project]) -> None:
    project = own({"trials": LOG}, config={"vars": MISSPELT})
    assert project.refused(INPUT).splitlines()[1:-1] == [
        "  - There is no var passk_kz. Did you mean passk_ks?",
        "  - There is no var passk.gates. Did you mean passk_gates?",
        "  - There is no var passk_slice. Did you mean passk_slices?",
        "  - There is no var passk_confidenze. Did you mean passk_confidence?",
    ]


@pytest.mark.long
def test_wrong_vars_do_not_stop_models_of_ones_own(own: Callable[..., Project]) -> None:
    """But they stop the package's, and what is asked for beside them, before anything runs."""
    project = own({"trials": LOG, "mine": "select 1 as one"}, config={"vars": MISSPELT})
    wrong = {**INPUT, "passk_ks": [0], "passk_on_short": "x"}
    project.run(wrong, select=["mine"])
    assert project.query("from mine") == [(1,)]
    project.execute("drop view mine")
    with pytest.raises(Exception, match="passk: 6 vars are wrong"):
        project.run(wrong, select=["mine", "passk_plans"])
    assert project.query("select count(*) from duckdb_views() where view_name = 'mine'") == [(0,)]


FUNCTIONS = "select distinct schema_name from duckdb_functions() where function_name = 'pass_hat_k'"


@pytest.mark.long
def test_functions_lie_beside_the_public_tables(own: Callable[..., Project]) -> None:
    """From the first build on, in a schema that nobody has made, and after a move in both places."""
    models = {"own": {"+schema": "mine"}, "passk": {"marts": {"+schema": "reliability"}}}
    project = own({"trials": LOG}, config={"models": models})
    change_profile(project, schema="analytics")
    # The models that are left out would have made the schema of the public tables.
    project.run(INPUT, select=["trials", "+int_passk__estimates_by_count"])
    assert project.query(FUNCTIONS) == [("analytics_reliability",)]
    # C(14, 4) / C(16, 4)
    (value,) = project.query("select analytics_reliability.pass_hat_k(16, 14, 4)")[0]
    assert value == pytest.approx(1001 / 1820, rel=1e-12)


@pytest.mark.long
def test_functions_follow_the_public_tables(own: Callable[..., Project]) -> None:
    project = own({"trials": LOG})
    project.run(INPUT)
    assert project.query(FUNCTIONS) == [("main",)]
    path = project.dbt.project_dir / "dbt_project.yml"
    moved = {"models": {"passk": {"marts": {"+schema": "reliability"}}}}
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | moved), "utf-8")
    project.dbt.manifests.clear()
    project.run(INPUT)
    assert sorted(project.query(FUNCTIONS)) == [("main",), ("main_reliability",)]


MARTS: Final = Path(__file__).parents[3] / "models" / "marts"


def marts_off(*but: str) -> dict[str, Any]:
    marts: dict[str, Any] = {"+enabled": False}
    for name in but:
        [path] = MARTS.glob(f"*/{name}.sql")
        marts.setdefault(path.parent.name, {})[name] = {"+enabled": True}
    return {"models": {"passk": {"marts": marts}}}


def test_no_model_reads_a_public_table_that_may_be_switched_off(project: Project) -> None:
    """Of the package's models, as dbt parses them: each could be off without another's parse."""
    public = {f"model.passk.{table.name}" for table in PUBLIC_TABLES}
    manifest = project.dbt.manifest({})
    assert public <= manifest.nodes.keys() | manifest.disabled.keys()
    read = {
        (name, parent)
        for name, node in manifest.nodes.items()
        if node.resource_type == "model"
        for parent in public.intersection(node.depends_on.nodes)
    }
    assert read == set()


@pytest.mark.long
@pytest.mark.parametrize("rest", [(), ("passk_runs", "passk_gates")])
def test_tables_that_are_switched_off_are_not_missed(
    rest: tuple[str, ...], own: Callable[..., Project]
) -> None:
    project = own({"trials": LOG}, config=marts_off(*rest))
    project.run(INPUT, command="build")
    made = relations_of(project)
    assert {table.name for table in PUBLIC_TABLES} & made == set(rest)
    if rest:
        # Three attempts of five tasks, none of them rejected, and no harness that says how many there should be.
        columns = "attempts, rejected, rejected_unnamed, missing_attempts"
        assert project.query(f"select {columns} from passk_runs") == [(15, 0, 0, None)]


def test_a_project_runs_the_tests_of_public_tables_only(own: Callable[..., Project]) -> None:
    project = own({"trials": LOG})
    nodes = project.dbt.manifest(INPUT).nodes.values()
    tested = {node.attached_node for node in nodes if node.resource_type == "test"}
    assert {f"model.passk.{table.name}" for table in PUBLIC_TABLES} <= tested
    assert [
        name for name in tested if name and name.startswith(("model.passk.int", "model.passk.stg"))
    ] == []


CORE: Final = {
    "passk_attempts", "passk_rejected_attempts", "passk_runs", "passk_tasks", "passk_task_metrics",
    "passk_suite_metrics",
}  # fmt: skip


def relations_of(project: Project) -> set[str]:
    """Name the tables and views of a database."""
    names = project.query("select table_name from information_schema.tables")
    return {name for (name,) in names}


@pytest.mark.long
def test_the_core_is_what_its_tag_selects(own: Callable[..., Project]) -> None:
    project = own({"trials": LOG})
    project.run(INPUT, command="build", select=["trials", "+tag:passk_core"])
    made = relations_of(project)
    assert {table.name for table in PUBLIC_TABLES} & made == CORE
    assert "int_passk__comparisons" not in made
    with open_tables(project.database) as tables:
        assert stale(tables) is None
        assert read_settings(tables).recorded


@pytest.mark.long
def test_the_core_alone_is_what_the_page_switches_on(
    own: Callable[..., Project], request: pytest.FixtureRequest
) -> None:
    page = (request.config.rootpath / "docs" / "dbt-package.md").read_text("utf-8")
    block = page.split("leaves out the rest", 1)[1].split("```yaml\n")[1].split("```")[0]
    project = own({"trials": LOG}, config=yaml.safe_load(block))
    project.run(INPUT, command="build")
    made = relations_of(project)
    assert {table.name for table in PUBLIC_TABLES} & made == CORE
    assert "int_passk__count_checks" not in made
    values = "select pass_at_k, pass_hat_k from passk_suite_metrics where k = 2"
    # Tasks of three attempts with 2, 1, 0, 0 and 0 passes: pairs with a pass are 3 and 2 of 3, pairs of passes 1 of 3.
    assert project.query(values) == [pytest.approx((1 / 3, 1 / 15), rel=1e-12)]


@pytest.mark.long
def test_a_rule_whose_table_is_switched_off_stops_the_parse(own: Callable[..., Project]) -> None:
    """A gate that could never be judged must not be passed over."""
    gate = {"name": "g", "type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.5}
    project = own({"trials": LOG}, config=marts_off("passk_gates"))
    with pytest.raises(
        Exception, match=r"passk_gates.* depends on .*passk_suite_metrics.* disabled"
    ):
        project.run({**INPUT, "passk_deployment_k": 2, "passk_gates": [gate]})


@pytest.mark.long
def test_the_tables_may_lie_in_an_attached_database(
    own: Callable[..., Project], tmp_path: Path
) -> None:
    project = own({"trials": LOG}, config={"models": {"passk": {"+database": "other"}}})
    change_profile(project, attach=[{"path": str(tmp_path / "other.duckdb")}])
    project.run(INPUT)
    with duckdb.connect(str(project.database)) as connection:
        connection.execute(f"attach '{tmp_path / 'other.duckdb'}' as other (read_only)")
        assert connection.sql("select n from other.passk_runs").fetchall() == [(15,)]
        ((value,),) = connection.sql("select other.pass_hat_k(16, 14, 4)").fetchall()
        # C(14, 4) / C(16, 4)
        assert value == pytest.approx(1001 / 1820, rel=1e-12)


@pytest.mark.long
def test_times_with_a_zone_are_those_of_utc(own: Callable[..., Project]) -> None:
    """The clock of New York goes back at 6:00 UTC: what came later has an earlier time there."""
    project = own({"trials": "select * from events"})
    row = "('r', '{}', {}, true, '2026-11-01 {}+00'::timestamptz, '2026-11-01T{}Z')"
    project.execute(
        "create table events (run_id text, task_id text, attempt int, passed boolean, "
        "loaded_at timestamptz, started_at text)",
        f"insert into events values {row.format('t', 1, '05:30', '05:00')}",
    )
    variables = INPUT | {"passk_incremental_by_loaded_at": True}
    change_profile(project, settings={"TimeZone": "America/New_York"})
    project.run(variables)
    project.execute(
        f"insert into events values {row.format('t', 2, '06:15', '05:00')}, "
        f"{row.format('u', 1, '06:15', '06:00')}"
    )
    project.run(variables)
    assert project.query("select n from passk_runs") == [(3,)]
    assert project.query(
        "select distinct strftime(loaded_at, '%H:%M'), strftime(started_at, '%H:%M') "
        "from passk_attempts where task_id = 'u'"
    ) == [("06:15", "06:00")]
