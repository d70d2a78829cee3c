"""Langfuse: its own averages, repetitions, items that raised, runs without scores, pages, bad files."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "langfuse"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]


@pytest.mark.parametrize("file", SAID)
def test_gives_the_averages_that_the_sdk_prints(file: str, harness_log: Callable[..., Any]) -> None:
    rows = harness_log(FIXTURES / file).attempts
    for name, said in SAID[file]["averages"].items():
        found = [
            {"true": 1.0, "false": 0.0}.get(value) if name == "correct" else float(value)
            for row in rows
            if (value := (row["tags"] or {}).get(f"score.{name}"))
        ]
        # The SDK prints three decimals.
        assert mean(found) == pytest.approx(said, abs=5e-4)
    assert len(SAID[file]["averages"]) == 2


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / "items.json"
    items = json.loads(path.read_text("utf-8"))["data"]
    (place,) = [n for n, one in enumerate(items) if one["output"] == "東京"]
    (row,) = [
        row
        for row in harness_log(path).attempts
        if row["output_hash"] and row["task_id"] == "item-2" and row["outcome"] == "passed"
    ]
    expected = {
        "run_id": "nightly-7",
        "suite": "arithmetic-1",
        "task_id": "item-2",
        "attempt": 2,
        "outcome_reason": None,
        "score": 1 / 3,
        "model": "mock-2",
        "duration_s": 1 + 7 / 4,
        "tags": {
            "difficulty": "easy",
            "score.brevity": str(1 / 3),
            "score.correct": "true",
            "score.kind": "text",
        },
        "transcript": f"{path}#/data/{place}",
    }
    assert {name: row[name] for name in expected} == expected
    assert row["started_at"].isoformat() == "2026-11-21T10:01:10"


def test_the_shapes_tell_the_same_attempts(harness_log: Callable[..., Any]) -> None:
    items, run = (harness_log(FIXTURES / file) for file in ("items.json", "run.json"))
    assert {row["run_id"] for row in (*items.attempts, *run.attempts)} == {"nightly-7"}
    assert {row["suite"] for row in run.attempts} == {"arithmetic"}
    assert items.verdicts() == run.verdicts()
    assert items.reasons()["item-3", 2] == "sandbox is unavailable"
    # A dataset run does not say why an item has no scores.
    assert run.reasons()["item-3", 2] == "no_verdict"


def test_says_what_decided_and_what_is_missing(harness_log: Callable[..., Any]) -> None:
    (file,) = harness_log(FIXTURES / "result.json").report.files
    assert "correct decided what passed; brevity, kind did not" in file.message
    rows = harness_log(FIXTURES / "result.json").attempts
    assert {(row["agent"], row["run_id"]) for row in rows} == {("agent", "nightly-7")}


def item(number: int = 1, task: str | None = "t1", **changes: Any) -> dict[str, Any]:
    """Make an item as the API gives it."""
    made = {
        "id": f"o{number}",
        "traceId": f"a{number}",
        "startTime": f"2026-11-21T10:00:{number:02d}.000Z",
        "endTime": None,
        "level": "DEFAULT",
        "experimentId": "e1",
        "experimentName": "nightly",
        "experimentItemId": task,
        "scores": [score()],
    }
    return {**made, **changes}


def score(
    name: str = "correct", value: Any = 1, kind: str = "NUMERIC", **more: Any
) -> dict[str, Any]:
    return {"name": name, "value": value, "dataType": kind, **more}


@pytest.fixture
def export_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load an export of these items."""

    def loaded(*items: Any, meta: Any = None, **options: Any) -> Any:
        path = tmp_path / "nightly.json"
        rows: Any = list(items)
        path.write_text(json.dumps(rows if meta is None else {"data": rows, "meta": meta}), "utf-8")
        return harness_log(path, **options)

    return loaded


def test_scores_of_all_kinds(export_of: Callable[..., Any]) -> None:
    old, new = "2026-11-21T10:00:00Z", "2026-11-21T11:00:00Z"
    loaded = export_of(
        item(1, "none", scores=[]),
        item(2, "null", scores=None),
        item(3, "old boolean", scores=[score(kind="BOOLEAN", value=0, stringValue="False")]),
        item(4, "category", scores=[score(kind="CATEGORICAL", value=0, stringValue="pass")]),
        item(5, "text", scores=[score(), score("correct", "nice", "TEXT", timestamp=new)]),
        item(6, "corrected", scores=[score(value=0, timestamp=new), score(value=1, timestamp=old)]),
        item(7, "two", scores=[score(), score("polite", 0)]),
        item(8, "wrong type", scores=[7, {"value": 1}, {"name": "x"}]),
        item(
            9,
            "raised",
            level="ERROR",
            output="Error: timed out\nafter 5 s",
            scores=[score(value=0)],
        ),
        item(10, "raised before", level="ERROR", output=None, scores=[]),
    )
    assert {task: (loaded.verdicts()[task, 1], why) for (task, _), why in loaded.reasons().items()} == {
        "none": ("excluded", "no_verdict"),
        "null": ("excluded", "no_verdict"),
        "old boolean": ("failed", None),
        "category": ("passed", None),
        "text": ("passed", None),
        "corrected": ("failed", None),
        "two": ("failed", None),
        "wrong type": ("excluded", "no_verdict"),
        "raised": ("failed", "timed out"),
        "raised before": ("excluded", "error"),
    }  # fmt: skip
    message = loaded.report.files[0].message
    assert "An attempt passed if each of correct, polite says so." in message
    # Seven items have a score of any name: those from the third to the ninth.
    assert "correct is missing in 1 of 7 rows with scores" in message
    assert "polite is missing in 6 of 7 rows with scores" in message
    assert "x has no value in any row" in message


def test_the_same_item_is_numbered_by_its_start(export_of: Callable[..., Any]) -> None:
    # The API gives the latest first.
    loaded = export_of(item(3, scores=[score(value=0)]), item(2), item(1), meta={})
    assert loaded.verdicts() == {("t1", 1): "passed", ("t1", 2): "passed", ("t1", 3): "failed"}


def test_a_run_that_names_its_traces_only_is_refused(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    run = json.loads((FIXTURES / "run.json").read_text("utf-8"))
    for one in run["datasetRunItems"]:
        del one["scores"]
    for document in (run, {"data": run["datasetRunItems"], "meta": {"page": 1}}):
        path = tmp_path / "run.json"
        path.write_text(json.dumps(document), "utf-8")
        (file,) = harness_log(path).report.files
        assert file.status == "failed"
        assert "no scores" in file.message
        assert "experiment-items?fields=scores" in file.hint
    for one in run["datasetRunItems"]:
        one["trace"] = {"scores": [score(value=0)], "latency": 2.5, "totalCost": 0.01}
    path.write_text(json.dumps(run), "utf-8")
    rows = harness_log(path).attempts
    assert {(row["outcome"], row["duration_s"], row["cost_usd"]) for row in rows} == {
        ("failed", 2.5, 0.01)
    }


def test_a_page_of_several_says_so(export_of: Callable[..., Any]) -> None:
    for meta in ({"cursor": "abc"}, {"page": 1, "totalPages": 2}):
        (file,) = export_of(item(), meta=meta).report.files
        assert file.status == "landed"
        assert "one page of several" in file.message
    for meta in ({}, {"cursor": None}, {"page": 2, "totalPages": 2}, [1]):
        assert export_of(item(), meta=meta).report.files[0].message == ""


def test_wrong_rows_are_refused_with_a_reason(export_of: Callable[..., Any]) -> None:
    loaded = export_of(item(), item(2, None), item(3, startTime="x"), 7, item(4, trace=[1]))
    assert loaded.report.rows_landed == 2
    assert [row["reason_code"] for row in loaded.rejected] == [
        "missing_field",
        "wrong_type",
        "malformed_line",
    ]


def test_snake_case_of_the_sdks_models(export_of: Callable[..., Any]) -> None:
    row = {
        "id": "o1",
        "trace_id": "a1",
        "start_time": "2026-11-21T10:00:00Z",
        "experiment_id": "e1",
        "experiment_name": "nightly",
        "experiment_item_id": "t1",
        "scores": [{"name": "correct", "value": True, "data_type": "BOOLEAN"}],
    }
    loaded = export_of(row)
    assert loaded.verdicts() == {("t1", 1): "passed"}
    assert {row["run_id"] for row in loaded.attempts} == {"nightly"}
