"""MetricFlow gives the numbers of the tables, or null where a question has no one number."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb
import pytest
import yaml  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT: Final = Path(__file__).resolve().parents[3]
MF: Final = os.environ.get("PASSK_MF") or shutil.which("mf")
POINT: Final = "passk_suite_point"

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


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the demo in a copy of the project that has a time spine."""
    folder = tmp_path_factory.mktemp("metrics") / "project"
    for name in ("models", "macros", "seeds", "tests/generic"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "profiles.yml", folder)
    settings = yaml.safe_load((ROOT / "dbt_project.yml").read_text(encoding="utf-8"))
    settings["vars"]["passk"]["passk_semantic_layer"] = True
    settings["vars"]["passk"]["passk_slices"] = [
        {
            "name": "half",
            "expression": "case when task_id < 'queens' then 'first' else 'second' end",
        }
    ]
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    (folder / "models" / "spine.sql").write_text(SPINE, encoding="utf-8")
    (folder / "models" / "spine.yml").write_text(SPINE_YAML, encoding="utf-8")
    run(
        folder,
        str(Path(str(MF)).with_name("dbt")), "--quiet", "build",
        "--exclude-resource-type", "test", "--exclude-resource-type", "unit_test",
    )  # fmt: skip
    return folder


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("DBT_")},
            "DBT_PROFILES_DIR": ".",
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            "DO_NOT_TRACK": "1",
            "PASSK_DATABASE": "passk_demo.duckdb",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def query(project: Path) -> Callable[..., list[dict[str, str]]]:
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
    with duckdb.connect(str(project / "passk_demo.duckdb"), read_only=True) as connection:
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
    with duckdb.connect(str(project / "passk_demo.duckdb"), read_only=True) as connection:
        (expected,) = connection.execute(
            f"select {', '.join(f'sum({column})' for column in names.values())} from passk_runs"
        ).fetchall()
    assert [float(answer[f"passk_{name}_attempts"]) for name in names] == list(expected)
