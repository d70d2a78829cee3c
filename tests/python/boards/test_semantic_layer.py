"""MetricFlow gives the numbers of the tables, or null where a question has no one number, in both forms of the layer.

MetricFlow comes with dbt 1.11, which reads the old form. It also answers from the semantic manifest that dbt v2 writes of
the new form.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest
import yaml  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT: Final = Path(__file__).resolve().parents[3]
MF: Final = os.environ.get("PASSK_MF") or shutil.which("mf")
DBT_2: Final = os.environ.get("PASSK_DBT_2")
POINT: Final = "passk_suite_point"
WRITTEN: Final = Path("target") / "semantic_manifest.json"

FORMS: Final = {
    "dbt 1.11": ["models", "dbt_packages/passk/semantic", "dbt_packages/passk/semantic_legacy"],
    "dbt v2": ["models", "dbt_packages/passk/semantic"],
}
"""The paths of models in a project that asks for the layer, as docs/bi.md has them."""

pytestmark = [
    pytest.mark.skipif(
        MF is None, reason="metrics need mf (dbt-metricflow), which is not installed"
    ),
    pytest.mark.timeout(600),
]

SPINE: Final = """
{{ config(materialized='table') }}
select cast(range as date) as date_day from range(date '2026-01-01', date '2027-01-01', interval 1 day)
"""
SPINE_YAML: Final = """
models:
  - name: spine
    time_spine: {standard_granularity_column: date_day}
    columns: [{name: date_day, granularity: day}]
"""
SETTINGS: Final[dict[str, Any]] = {
    "name": "mine",
    "profile": "mine",
    "flags": {"require_generic_test_arguments_property": True},
    "vars": {
        "passk_attempts_model": "attempts",
        "passk_slices": [
            {
                "name": "half",
                "expression": "case when task_id < 'queens' then 'first' else 'second' end",
            }
        ],
    },
}
PROFILE: Final = {
    "mine": {
        "target": "demo",
        "outputs": {"demo": {"type": "duckdb", "path": "demo.duckdb", "threads": 2}},
    }
}


def write_yaml(path: Path, content: object) -> None:
    path.write_text(yaml.safe_dump(content), encoding="utf-8")


def settle(folder: Path, form: str) -> None:
    """Give the project the paths of models of one form."""
    write_yaml(folder / "dbt_project.yml", {**SETTINGS, "model-paths": FORMS[form]})


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the demo log in a project that installs the package and has a time spine."""
    folder = tmp_path_factory.mktemp("metrics")
    models = folder / "models"
    models.mkdir()
    (models / "spine.sql").write_text(SPINE, encoding="utf-8")
    (models / "spine.yml").write_text(SPINE_YAML, encoding="utf-8")
    log = ROOT / "seeds" / "demo" / "passk_demo_attempts.csv"
    (models / "attempts.sql").write_text(f"select * from read_csv('{log}')", encoding="utf-8")
    write_yaml(folder / "packages.yml", {"packages": [{"local": str(ROOT)}]})
    write_yaml(folder / "profiles.yml", PROFILE)
    settle(folder, "dbt 1.11")
    dbt = str(Path(str(MF)).with_name("dbt"))
    run(folder, dbt, "--quiet", "deps")
    run(folder, dbt, "--quiet", "--warn-error", "build", "--exclude-resource-type", "test")
    return folder


@pytest.fixture(scope="module")
def manifests(project: Path) -> dict[str, str]:
    """The semantic manifests, by form."""
    found = {"dbt 1.11": (project / WRITTEN).read_text(encoding="utf-8")}
    if DBT_2:
        settle(project, "dbt v2")
        assert "warning" not in run(project, DBT_2, "parse").lower()
        found["dbt v2"] = (project / WRITTEN).read_text(encoding="utf-8")
        settle(project, "dbt 1.11")
    return found


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("DBT_")},
            "DBT_PROFILES_DIR": ".",
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            "DO_NOT_TRACK": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(params=FORMS)
def query(
    request: pytest.FixtureRequest, project: Path, manifests: dict[str, str]
) -> Callable[..., list[dict[str, str]]]:
    if request.param not in manifests:
        pytest.skip("no dbt v2: PASSK_DBT names its program; see scripts/install_dbt_v2")
    (project / WRITTEN).write_text(manifests[request.param], encoding="utf-8")

    def ask(metrics: str, group_by: str = "", where: str = "") -> list[dict[str, str]]:
        options = ["--group-by", group_by] if group_by else []
        options += ["--where", where] if where else []
        run(
            project, str(MF), "query", "--metrics", metrics, *options,
            "--csv", "answer.csv", "--decimals", "15",
        )  # fmt: skip
        with (project / "answer.csv").open(encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines))

    return ask


def told(manifest: str) -> dict[str, Any]:
    """Give all that MetricFlow reads of a semantic manifest, whichever its form."""
    parts = json.loads(manifest)
    measures = {
        measure["name"]: (model["name"], measure["agg"], measure["expr"])
        for model in parts["semantic_models"]
        for measure in model["measures"]
    }
    models = {
        model["name"]: (
            model["node_relation"]["relation_name"],
            model["primary_entity"],
            [entity["name"] for entity in model["entities"]],
            sorted(
                (
                    dimension["name"],
                    dimension["type"],
                    (dimension["type_params"] or {}).get("time_granularity"),
                    dimension["expr"] or dimension["name"],
                    dimension["description"],
                )
                for dimension in model["dimensions"]
            ),
        )
        for model in parts["semantic_models"]
    }
    metrics: dict[str, Any] = {}
    for metric in parts["metrics"]:
        how_told: tuple[Any, ...]
        how = metric["type_params"]
        summed = how.get("metric_aggregation_params")
        if metric["type"] == "derived":
            how_told = (how["expr"], [one["name"] for one in how["metrics"]])
        elif summed:
            how_told = (summed["semantic_model"], summed["agg"], how["expr"])
        else:
            how_told = measures[how["measure"]["name"]]
        words = (metric["label"], metric["description"].strip(), metric["filter"])
        metrics[metric["name"]] = (metric["type"], how_told, words)
    return {"models": models, "metrics": metrics}


def test_both_forms_say_the_same(manifests: dict[str, str]) -> None:
    if "dbt v2" not in manifests:
        pytest.skip("no dbt v2: PASSK_DBT names its program; see scripts/install_dbt_v2")
    old, new = told(manifests["dbt 1.11"]), told(manifests["dbt v2"])
    assert len(new["models"]) == 2
    assert len(new["metrics"]) == 19
    assert new["models"] == old["models"]
    assert new["metrics"] == old["metrics"]


VALUES: Final = (
    "pass_at_k",
    "pass_at_k_lower",
    "pass_at_k_upper",
    "pass_hat_k",
    "pass_hat_k_lower",
    "pass_hat_k_upper",
    "delta_k",
)


def test_a_question_for_one_k_has_the_numbers_of_the_table(
    project: Path, query: Callable[..., list[dict[str, str]]]
) -> None:
    answers = query(
        ",".join(f"passk_{name}" for name in VALUES),
        f"{POINT}__run_id",
        f"{{{{ Dimension('{POINT}__attempts_k') }}}} = 4",
    )
    with duckdb.connect(str(project / "demo.duckdb"), read_only=True) as connection:
        rows = connection.execute(
            f"select run_id, {', '.join(VALUES)} from passk_suite_metrics "
            "where slice_name = 'all' and k = 4"
        ).fetchall()
        slices = connection.execute(
            "select count(*) from passk_suite_metrics where slice_name = 'half' and k = 4"
        ).fetchall()
    assert slices == [(8,)]
    assert {answer[f"{POINT}__run_id"] for answer in answers} == {row[0] for row in rows}
    for run_id, *expected in rows:
        (answer,) = [answer for answer in answers if answer[f"{POINT}__run_id"] == run_id]
        for name, value in zip(VALUES, expected, strict=True):
            assert abs(float(answer[f"passk_{name}"]) - value) <= 1e-12


@pytest.mark.parametrize(
    ("group_by", "where"),
    [
        ("", ""),
        (f"{POINT}__run_id", ""),
        (f"{POINT}__attempts_k", ""),
        (f"{POINT}__suite", f"{{{{ Dimension('{POINT}__attempts_k') }}}} = 4"),
        (f"{POINT}__run_id", f"{{{{ Dimension('{POINT}__attempts_k') }}}} in (1, 2)"),
        (f"{POINT}__run_id", f"{{{{ Dimension('{POINT}__attempts_k') }}}} = 100"),
    ],
)
def test_a_question_over_runs_or_k_has_no_number(
    query: Callable[..., list[dict[str, str]]], group_by: str, where: str
) -> None:
    answers = query("passk_pass_at_k,passk_pass_hat_k", group_by, where)
    assert answers
    for answer in answers:
        assert answer["passk_pass_at_k"] in {"", "None", "nan"}, answer
        assert answer["passk_pass_hat_k"] in {"", "None", "nan"}, answer


def test_an_agent_with_two_runs_has_no_number_and_one_with_one_run_has(
    query: Callable[..., list[dict[str, str]]],
) -> None:
    answers = query(
        "passk_pass_hat_k",
        f"{POINT}__agent",
        f"{{{{ Dimension('{POINT}__attempts_k') }}}} = 4",
    )
    known = {answer[f"{POINT}__agent"]: answer["passk_pass_hat_k"] for answer in answers}
    assert known["scout"] in {"", "None", "nan"}
    assert 0 < float(known["walker"]) < 1


def test_counts_are_added_over_runs(
    project: Path, query: Callable[..., list[dict[str, str]]]
) -> None:
    names = {"all": "attempts", "counted": "n", "passed": "c", "excluded": "excluded"}
    (answer,) = query(",".join(f"passk_{name}_attempts" for name in names))
    with duckdb.connect(str(project / "demo.duckdb"), read_only=True) as connection:
        (expected,) = connection.execute(
            f"select {', '.join(f'sum({column})' for column in names.values())} from passk_runs"
        ).fetchall()
    assert [float(answer[f"passk_{name}_attempts"]) for name in names] == list(expected)
