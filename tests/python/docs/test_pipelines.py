"""The examples of docs/pipelines.md, run where variables name a Python that has the pipeline and passk."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Final

import duckdb
import pytest

PAGE: Final = Path(__file__).parents[3] / "docs" / "pipelines.md"
LOG: Final = [
    {"run_id": "nightly", "task_id": task, "attempt": attempt, "passed": True}
    for task in ("a", "b")
    for attempt in (1, 2, 3, 4)
]
DLT: Final = """
import os
os.environ["DLT_DATA_DIR"] = os.getcwd()
{example}
"""
DAGSTER: Final = """
{example}
done = dg.materialize([attempts, metrics, gates])
[check] = done.get_asset_check_evaluations()
print(check.passed, check.metadata["reliable"].value)
"""
AIRFLOW: Final = """
{example}
tasks = evals().tasks
print([(task.task_id, sorted(task.downstream_task_ids)) for task in tasks])
"""


def example(section: str) -> str:
    """Give the code of a section."""
    text = PAGE.read_text("utf-8").partition(f"\n## {section}\n")[2]
    return text.partition("```python\n")[2].partition("```")[0]


def run(variable: str, code: str, folder: Path) -> str:
    """Run code by the Python that a variable of the environment names, and give what it prints."""
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no Python that has the pipeline and passk")
    environment = {**os.environ, "AIRFLOW_HOME": str(folder)}
    done = subprocess.run(
        [python, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("section", ["dlt", "Dagster", "Airflow"])
def test_examples_are_python(section: str) -> None:
    compile(example(section), section, "exec")


@pytest.mark.long
def test_dlt_lands_the_rows_of_its_resource(tmp_path: Path) -> None:
    run("PASSK_DLT", DLT.format(example=example("dlt")), tmp_path)
    with duckdb.connect(str(tmp_path / "passk.duckdb")) as connection:
        rows = connection.execute(
            "select task_id, count(*), count(*) filter (outcome = 'passed') "
            "from landing.attempts group by 1 order by 1"
        ).fetchall()
    assert rows == [("refund-17", 4, 3), ("refund-18", 4, 3)]


@pytest.mark.long
def test_dagster_checks_the_gate(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in LOG))
    said = run("PASSK_DAGSTER", DAGSTER.format(example=example("Dagster")), tmp_path)
    assert said.splitlines()[-1].startswith("False pass^4 is 1.000")


@pytest.mark.long
def test_airflow_reads_the_tasks_in_their_order(tmp_path: Path) -> None:
    said = run("PASSK_AIRFLOW", AIRFLOW.format(example=example("Airflow")), tmp_path)
    assert said.splitlines()[-1] == "[('load', ['build']), ('build', ['gate']), ('gate', [])]"
