"""Arize Phoenix: the server's own means, repetitions, errors, tables, runs without annotations, bad files."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "phoenix"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]


@pytest.mark.parametrize("file", SAID)
def test_gives_the_means_of_the_server(file: str, harness_log: Callable[..., Any]) -> None:
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in harness_log(FIXTURES / file).attempts:
        for name, value in (row["tags"] or {}).items():
            if name.startswith("score."):
                found[name.removeprefix("score.")][row["task_id"]].append(float(value))
    means = {name: mean(map(mean, tasks.values())) for name, tasks in found.items()}
    assert means == pytest.approx(SAID[file]["means"], rel=1e-12)


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / "nightly.json"
    runs = json.loads(path.read_text("utf-8"))
    (place,) = [n for n, one in enumerate(runs) if one["output"] == {"answer": "東京"}]
    run = runs[place]
    (row,) = [
        row
        for row in harness_log(path).attempts
        if (row["task_id"], row["attempt"]) == (run["example_id"], run["repetition_number"])
    ]
    expected = {
        "run_id": "nightly",
        "suite": "phoenix",
        "outcome": "passed",
        "outcome_reason": None,
        "score": 1 / 3,
        "duration_s": run["latency_ms"] / 1000,
        "tags": {
            "label.correct": "True",
            "label.polite": "polite",
            "score.brevity": str(1 / 3),
            "score.correct": "1.0",
            "score.polite": "1.0",
        },
        "transcript": f"{path}#/{place}",
    }
    assert {name: row[name] for name in expected} == expected
    assert row["started_at"].isoformat() == "2026-11-21T10:00:00"


def test_the_table_tells_the_same(harness_log: Callable[..., Any]) -> None:
    first, second = (harness_log(FIXTURES / f"nightly.{kind}") for kind in ("json", "csv"))
    assert first.verdicts() == second.verdicts()
    assert first.reasons() == second.reasons()
    assert sorted(filter(None, first.reasons().values())) == [
        "ConnectionError('sandbox is unavailable')",
        "evaluator_error",
    ]
    assert {row["tags"]["difficulty"] for row in second.attempts} == {"easy", "hard"}


def test_scores_above_one_need_a_threshold(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "graded.json")
    assert [row["reason_code"] for row in loaded.rejected] == ["no_verdict"] * 5
    rows = harness_log(FIXTURES / "graded.json", score_threshold=10).attempts
    assert sorted(row["outcome"] for row in rows) == ["failed"] * 4 + ["passed"]


def test_runs_without_annotations_are_refused(harness_log: Callable[..., Any]) -> None:
    (file,) = harness_log(FIXTURES / "runs.json").report.files
    assert file.status == "failed"
    assert "no annotations" in file.message
    assert "/v1/experiments/{id}/json" in file.hint


def run(task: str | None = "t1", repetition: Any = 1, **changes: Any) -> dict[str, Any]:
    """Make a run as the server gives it."""
    made = {
        "example_id": task,
        "repetition_number": repetition,
        "input": {"q": "2+2"},
        "reference_output": {"a": "4"},
        "output": {"a": "4"},
        "error": None,
        "latency_ms": 250.0,
        "start_time": "2026-11-21T10:00:00+00:00",
        "annotations": [note()],
    }
    return {**made, **changes}


def note(name: str = "correct", score: Any = 1.0, **changes: Any) -> dict[str, Any]:
    return {"name": name, "score": score, "label": None, "error": None, **changes}


@pytest.fixture
def export_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load an export of these runs."""

    def loaded(*runs: Any, **options: Any) -> Any:
        path = tmp_path / "nightly.json"
        path.write_text(json.dumps(runs), "utf-8")
        return harness_log(path, **options)

    return loaded


def test_annotations_of_all_kinds(export_of: Callable[..., Any]) -> None:
    loaded = export_of(
        run("none", annotations=[]),
        run("null", annotations=None),
        run("label", annotations=[note(score=None, label="incorrect")]),
        run("other label", annotations=[note("tone", None, label="friendly"), note()]),
        run("raised", annotations=[note(score=None, error="judge died")]),
        run("raised and wrong", annotations=[note(score=0), note("polite", None, error="x")]),
        run("not a number", annotations=[note(score=float("nan"))]),
        run("two", annotations=[note(), note("polite", 0)]),
        run("wrong type", annotations=[7, {"score": 1}]),
        run("error", error="TimeoutError: agent timed out\nline 2", annotations=[note(score=0)]),
    )
    assert {task: (loaded.verdicts()[task, 1], why) for (task, _), why in loaded.reasons().items()} == {
        "none": ("excluded", "no_verdict"),
        "null": ("excluded", "no_verdict"),
        "label": ("failed", None),
        "other label": ("passed", None),
        "raised": ("excluded", "evaluator_error"),
        "raised and wrong": ("failed", None),
        "not a number": ("excluded", "evaluator_error"),
        "two": ("failed", None),
        "wrong type": ("excluded", "no_verdict"),
        "error": ("failed", "TimeoutError: agent timed out"),
    }  # fmt: skip


def test_exports_of_before_repetitions(export_of: Callable[..., Any]) -> None:
    old = [run("a"), run("b", annotations=[note(score=0.0)])]
    for one in old:
        del one["repetition_number"]
    assert export_of(*old).verdicts() == {("a", 1): "passed", ("b", 1): "failed"}


def test_wrong_rows_are_refused_with_a_reason(export_of: Callable[..., Any]) -> None:
    loaded = export_of(run(), run(None), run("b", "x"), run("c", latency_ms="long"), 7, run("d", 0))
    assert loaded.report.rows_landed == 1
    assert [row["reason_code"] for row in loaded.rejected] == [
        "missing_field",
        "wrong_type",
        "wrong_type",
        "malformed_line",
        "out_of_range",
    ]


def test_counts_of_a_table_that_some_rows_lack(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "nightly.csv"
    path.write_text(
        "example_id,repetition_number,reference_output,output,latency_ms,prompt_token_count,"
        "annotation_a_score_score,annotation_a_score_label\n"
        'e1,1,"{}",x,500,12.0,1.0,\ne1,2,"{}",x,500,,0.0,\ne1,3,"{}",x,,,,\n',
        "utf-8",
    )
    loaded = harness_log(path)
    assert [(row["outcome"], row["input_tokens"], row["tags"]) for row in loaded.attempts] == [
        ("passed", 12, {"score.a_score": "1.0"}),
        ("failed", None, {"score.a_score": "0.0"}),
        ("excluded", None, None),
    ]
