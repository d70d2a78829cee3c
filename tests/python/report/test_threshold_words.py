"""pass^k by the score that passes: in sentences, in the answer and in the report."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import passk_py as pk
from passk_py.reports.answer import find_answer
from passk_py.reports.answer.as_dict import answer_as_dict
from passk_py.reports.threshold_words import threshold_sentences
from passk_py.warehouse.tables import open_tables

if TYPE_CHECKING:
    from pathlib import Path


def row(threshold: float, value: float | None, **told: Any) -> dict[str, Any]:
    return {
        "run_id": "r", "k": 4, "threshold": threshold, "pass_hat_k": value, "null_reason": None,
        "caveat": None, **told,
    }  # fmt: skip


def test_values_follow_the_thresholds() -> None:
    assert threshold_sentences([[row(0.5, 0.75), row(0.8, 0.5), row(1.0, 0.0)]]) == [
        "pass^4 of r is 75.0% if a score passes from 0.5 on, 50.0% from 0.8 and 0% from 1."
    ]


def test_what_is_missing_is_said() -> None:
    caveat = "9 of 10 counted attempts have a score, and the others are left out"
    assert threshold_sentences([[row(0.5, 0.75, caveat=caveat)]]) == [
        f"pass^4 of r is 75.0% if a score passes from 0.5 on; {caveat}."
    ]
    reason = "only 5 of 10 counted attempts have a score"
    assert threshold_sentences([[row(0.5, None, null_reason=reason)]]) == [
        f"pass^4 of r at thresholds of the score is not known: {reason}."
    ]


def test_the_last_runs_and_the_first_thresholds_are_said() -> None:
    runs = [[row(0.1 * step, 0.5, run_id=f"r{number}") for step in range(8)] for number in range(6)]
    found = threshold_sentences([[], *runs])
    assert len(found) == 5
    assert found[0].startswith("pass^4 of r2 is 50.0% if a score passes from 0 on, ")
    assert found[0].endswith(" 50.0% from 0.5 and 2 more.")
    assert found[-1] == "2 other runs in passk_threshold_metrics."


@pytest.fixture(scope="module")
def graded(published_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, as a build with three thresholds would leave it."""
    database = tmp_path_factory.mktemp("graded") / "passk.duckdb"
    shutil.copyfile(published_demo / "passk.duckdb", database)
    made = pk.threshold_metrics(pk.read_table("passk_attempts", database=database), [0.5, 0.75, 1])
    with duckdb.connect(str(database)) as connection:
        path = database.with_name("made.parquet")
        made.write_parquet(path)
        connection.execute("drop view passk_threshold_metrics")
        connection.execute(
            "create table passk_threshold_metrics as"
            f" select *, null::timestamp as loaded_at from read_parquet('{path}')"
        )
    return database


def test_the_answer_has_a_sentence_for_each_run(graded: Path) -> None:
    with open_tables(graded) as tables:
        (suite,) = answer_as_dict(find_answer(tables))["suites"]
    assert len(suite["thresholds"]) == 4
    assert all(
        one.startswith("pass^4 of ") and " from 0.75 and " in one for one in suite["thresholds"]
    )


def test_the_report_has_every_threshold(graded: Path, published_demo: Path) -> None:
    said = pk.report(graded).markdown().split("### By the score that passes")[1]
    lines = [line for line in said.split("###")[0].splitlines() if line.startswith("| `")]
    assert len(lines) == 4 * 3
    with duckdb.connect(str(graded), read_only=True) as connection:
        wanted = connection.execute(
            "select run_id, threshold, estimate from passk_threshold_metrics where slice_name = 'all'"
            " and metric = 'pass_hat_k' and k = 4 order by run_id, threshold"
        ).fetchall()
    shown = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]
    assert [(cells[0].strip("`"), float(cells[1]), cells[6]) for cells in shown] == [
        (run, threshold, f"{estimate:.3f}") for run, threshold, estimate in wanted
    ]
    page = pk.report(graded).html()
    assert '<h3 id="thresholds-1">By the score that passes</h3>' in page
    assert page.split("By the score that passes</h3>")[1].split("</table>")[0].count("<tr>") == 13
    assert "By the score that passes" not in pk.report(published_demo / "passk.duckdb").html()
