"""Lighteval: its own averages, responses that are graded together, older tables, bad files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "lighteval"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]
DATE = "2026-11-28T03-51-02.204724"


@pytest.mark.parametrize("file", SAID)
def test_gives_the_averages_of_the_results(file: str, harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / file)
    said = SAID[file]
    passes, tries = Counter[str](), Counter[str]()
    for one in said["attempts"]:
        tries[one["task_id"]] += 1
        passes[one["task_id"]] += one["passed"]
    assert loaded.counts() == {task: (tries[task], passes[task]) for task in tries}
    (metric,) = {row["tags"]["metric"] for row in loaded.attempts}
    share = mean(c / n for n, c in loaded.counts().values())
    assert share == pytest.approx(said["averages"][metric], rel=1e-12)
    if "pass@k:k=2&n=4" in said["averages"]:
        # Of 4 tries with 2 and with 1 passes, 2 hold a pass in 5 of 6 pairs, and in 3 of 6.
        pairs = {0: 0, 1: 3 / 6, 2: 5 / 6, 4: 1}
        found = mean(pairs[c] for _, c in loaded.counts().values())
        assert found == pytest.approx(said["averages"]["pass@k:k=2&n=4"], rel=1e-12)


def test_a_row_spelled_out(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / next(file for file in SAID if "words" in file)
    rows = harness_log(path).attempts
    expected = {
        "run_id": f"acme_größe-7b_{DATE}",
        "suite": "words|5",
        "task_id": "1",
        "attempt": 1,
        "outcome": "failed",
        "score": 0.0,
        "model": "acme/größe-7b",
        "tags": {"metric": "em"},
        "transcript": f"{path}#/1",
    }
    assert {name: rows[1][name] for name in expected} == expected


def test_the_tasks_of_a_folder_are_one_run(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES)
    assert {row["run_id"] for row in loaded.attempts} == {f"acme_größe-7b_{DATE}"}
    assert {row["suite"] for row in loaded.attempts} == {"sums|0", "means|0", "words|5"}
    passed_over = {one.path: one.message for one in loaded.report.files if one.status != "landed"}
    assert all("results" in path or "expected.json" in path for path in map(str, passed_over))


def test_the_results_are_no_log(harness_log: Callable[..., Any]) -> None:
    (path,) = (FIXTURES / "results").rglob("*.json")
    (report,) = harness_log(path).report.files
    assert report.status == "failed"
    assert "--save-details" in report.hint


@pytest.fixture
def table_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load a table of details with these columns."""

    def loaded(columns: dict[str, list[Any]], name: str = "details.parquet") -> Any:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame(columns, strict=False).write_parquet(path)
        return harness_log(path)

    return loaded


def now(metrics: list[Any], responses: list[list[str]], **doc: Any) -> dict[str, list[Any]]:
    """Make the columns that the tool writes now."""
    docs = [{"id": str(n), "query": "?", **doc} for n in range(len(metrics))]
    return {
        "doc": docs,
        "metric": metrics,
        "model_response": [{"text": said} for said in responses],
    }


def before(metrics: list[Any], predictions: list[Any]) -> dict[str, list[Any]]:
    """Make the columns that the tool wrote up to 0.10."""
    empty = [""] * len(metrics)
    return {
        "full_prompt": empty,
        "gold_index": empty,
        "metrics": metrics,
        "predictions": predictions,
    }


def test_tables_of_texts(table_of: Callable[..., Any]) -> None:
    # Up to 0.6 each value is the text of a Python value.
    columns = before(
        ["{'maj@4': 1, 'em': 1.0, 'f1': 0.5}", "{'maj@4': 1, 'em': 0.0, 'f1': 0.0}", "{'em': "],
        ["['4']", "['it\\'s 5']", "['6']"],
    )
    loaded = table_of(columns, f"details/m/{DATE}/details_leaderboard|gsm8k|5|0_{DATE}.parquet")
    assert loaded.verdicts() == {("0", 1): "passed", ("1", 1): "failed"}
    assert {row["suite"] for row in loaded.attempts} == {"leaderboard|gsm8k|5|0"}
    assert {row["model"] for row in loaded.attempts} == {"m"}
    assert {row["run_id"] for row in loaded.attempts} == {f"m_{DATE}"}
    assert [row["reason_code"] for row in loaded.rejected] == ["missing_field"]


def test_samples_in_the_names_of_the_metrics(table_of: Callable[..., Any]) -> None:
    # Up to 0.10 the number of samples is in the metric's name; the most samples count.
    metrics = [
        {"math_pass@1:1_samples": 1.0, "math_pass@1:4_samples": 0.25},
        {"math_pass@1:1_samples": 0.0, "math_pass@1:4_samples": 0.5},
    ]
    loaded = table_of(before(metrics, [list("abcd"), list("abcd")]))
    assert loaded.counts() == {"0": (4, 1), "1": (4, 2)}
    assert {row["tags"]["verdicts"] for row in loaded.attempts} == {"counted"}
    # One of four responses was graded: the first.
    loaded = table_of(before([{"gpqa_pass@1:1_samples": 1.0}], [list("abcd")]))
    assert list(loaded.verdicts().values()) == ["passed", "excluded", "excluded", "excluded"]
    assert set(loaded.reasons().values()) == {None, "not_graded"}


def test_pass_at_k_without_n(table_of: Callable[..., Any]) -> None:
    loaded = table_of(now([{"gpqa_pass@k:k=1": 0.5}], [["a", "b"]]))
    assert loaded.counts() == {"0": (2, 1)}


@pytest.mark.parametrize(
    ("metrics", "responses", "code"),
    [
        ({"f1": 0.5}, ["a"], "no_verdict"),
        ({"maj@n:n=2": 1.0}, ["a", "b"], "no_verdict"),
        ({"em": 1.0}, ["a", "b"], "no_single_verdict"),
        ({"pass@k:k=1&n=4": 0.3}, list("abcd"), "out_of_range"),
        ({"pass@k:k=1&n=4": 0.5}, ["a", "b"], "out_of_range"),
        ({"pass@k:k=1&n=1": float("nan")}, ["a"], "out_of_range"),
        ({"avg@n:n=2": 0.3}, ["a", "b"], "no_verdict"),
    ],
)
def test_a_figure_that_is_no_verdict_is_rejected(
    metrics: dict[str, float], responses: list[str], code: str, table_of: Callable[..., Any]
) -> None:
    loaded = table_of(now([metrics], [responses]))
    assert loaded.attempts == []
    assert [row["reason_code"] for row in loaded.rejected] == [code]


def test_documents_without_names_are_known_by_their_place(table_of: Callable[..., Any]) -> None:
    columns = now([{"em": 1.0}, {"em": 0.0}], [["a"], ["b"]])
    columns["doc"] = [{"query": "?", "specific": {"id": "7"}}] * 2
    loaded = table_of(columns)
    assert loaded.verdicts() == {("0", 1): "passed", ("1", 1): "failed"}
    assert {row["suite"] for row in loaded.attempts} == {"lighteval"}


def test_other_tables_are_not_recognised(table_of: Callable[..., Any]) -> None:
    columns = {"doc": ["text"], "metric": ["em"], "model_response": ["x"]}
    (report,) = table_of(columns).report.files
    assert report.status == "failed"


def test_a_file_that_is_cut_off_says_so(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    path = tmp_path / "details.parquet"
    path.write_bytes((FIXTURES / next(iter(SAID))).read_bytes()[:-100])
    (report,) = harness_log(path).report.files
    assert report.status == "failed"
    assert "without its end" in report.message
