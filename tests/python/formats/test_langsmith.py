"""LangSmith: its own means of feedback, runs of two experiments, repetitions, errors, tables, bad files."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.ingest.landing import load

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "langsmith"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]


@pytest.mark.parametrize("file", SAID)
def test_gives_the_means_of_the_sdks_own_feedback(
    file: str, harness_log: Callable[..., Any]
) -> None:
    found: dict[str, list[float]] = defaultdict(list)
    for row in harness_log(FIXTURES / file).attempts:
        for name, value in row["tags"].items():
            if name.startswith("score."):
                number = {"true": 1.0, "false": 0.0}.get(value.lower())
                found[name.removeprefix("score.")].append(
                    float(value) if number is None else number
                )
    means = {name: mean(values) for name, values in found.items()}
    assert means == pytest.approx(SAID[file]["feedback"], rel=1e-12)


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / "runs.jsonl"
    (run,) = [
        json.loads(line)
        for line in path.read_text("utf-8").splitlines()
        if '"question":"größte Stadt?"' in line and '"answer":"東京"' in line
    ]
    (row,) = [
        row
        for row in harness_log(path).attempts
        if (row["task_id"], row["attempt"]) == (run["reference_example_id"], 2)
    ]
    expected = {
        "run_id": run["session_id"],
        "suite": "langsmith",
        "outcome": "passed",
        "outcome_reason": None,
        "score": 1 / 3,
        "agent": "Target",
        "agent_version": "abc1234",
        "model": "mock-2",
        "cost_usd": 0.25,
        "input_tokens": 100,
        "output_tokens": 7,
        "duration_s": 1 + 7 / 4,
        "tags": {
            "score.brevity": str(1 / 3),
            "score.correct": "1.0",
            "score.polite": "1.0",
            "tags": "nightly",
        },
        # The child run is the second line.
        "transcript": f"{path}#L9",
    }
    assert {name: row[name] for name in expected} == expected
    assert row["started_at"].isoformat() == "2026-11-21T10:01:10"


def test_errors_are_excluded_by_their_reason(harness_log: Callable[..., Any]) -> None:
    for file in ("runs.jsonl", "rows.jsonl"):
        loaded = harness_log(FIXTURES / file)
        assert sorted(filter(None, loaded.reasons().values())) == [
            "ConnectionError('sandbox is unavailable')",
            "evaluator_error",
        ]
        assert [row["outcome"] for row in loaded.attempts].count("excluded") == 2
        assert {row["expected_attempts"] for row in loaded.expected} == {3}


def test_the_experiments_of_a_comparison_are_runs(harness_log: Callable[..., Any]) -> None:
    rows = harness_log(FIXTURES / "comparison.json").attempts
    runs = defaultdict(set)
    for row in rows:
        runs[row["run_id"]].add((row["task_id"], row["attempt"]))
    first, second = runs.values()
    assert first == second
    assert len(first) == 15
    assert {row["suite"] for row in rows} != {"langsmith"}
    assert {row["tags"]["difficulty"] for row in rows} == {"easy", "hard"}


def test_says_which_scores_decided(harness_log: Callable[..., Any]) -> None:
    (file,) = harness_log(FIXTURES / "runs.jsonl").report.files
    assert "correct, polite decided what passed; brevity did not" in file.message


def run(number: int = 1, example: str | None = "e1", **changes: Any) -> dict[str, Any]:
    """Make a run as the server gives it."""
    made = {
        "id": f"r{number}",
        "name": "agent",
        "run_type": "chain",
        "session_id": "s1",
        "reference_example_id": example,
        "parent_run_id": None,
        "start_time": f"2026-11-21T10:00:{number:02d}",
        "end_time": f"2026-11-21T10:01:{number:02d}",
        "error": None,
        "feedback_stats": {"correct": {"n": 1, "avg": 1.0}},
    }
    return {**made, **changes}


@pytest.fixture
def export_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load an export of these runs."""

    def loaded(*runs: Any, head: dict[str, Any] | None = None, **options: Any) -> Any:
        path = tmp_path / "nightly.json"
        rows: Any = list(runs)
        path.write_text(json.dumps({"runs": rows, **head} if head else rows), "utf-8")
        return harness_log(path, **options)

    return loaded


def feedback(**means: Any) -> dict[str, Any]:
    return {name: {"n": 1, "avg": value} for name, value in means.items()}


def test_runs_are_numbered_by_their_start(export_of: Callable[..., Any]) -> None:
    loaded = export_of(
        run(3, feedback_stats=feedback(correct=0)),
        run(1),
        run(2, feedback_stats=feedback(correct=0)),
    )
    assert loaded.verdicts() == {("e1", 1): "passed", ("e1", 2): "failed", ("e1", 3): "failed"}


def test_feedback_of_all_kinds(export_of: Callable[..., Any]) -> None:
    loaded = export_of(
        run(1, "no feedback", feedback_stats=None),
        run(2, "raised", feedback_stats={"correct": {"n": 0, "avg": None, "errors": 1}}),
        run(3, "not a number", feedback_stats=feedback(correct=float("nan"))),
        run(4, "pending", feedback_stats=None, status="pending"),
        run(5, "note", feedback_stats={"note": {"n": 1, "avg": None, "comments": ["good"]}}),
        run(
            6, "word", feedback_stats={"correct": {"n": 1, "avg": None, "values": {"incorrect": 1}}}
        ),
        run(7, "wrong type", feedback_stats=[1]),
        run(8, "passed"),
        run(
            9,
            "timeout",
            error="TimeoutError('agent timed out')Traceback (most recent call last):\n",
        ),
    )
    assert {task: (loaded.verdicts()[task, 1], why) for (task, _), why in loaded.reasons().items()} == {
        "no feedback": ("excluded", "no_verdict"),
        "raised": ("excluded", "evaluator_error"),
        "not a number": ("excluded", "evaluator_error"),
        "pending": ("excluded", "in_progress"),
        "note": ("excluded", "no_verdict"),
        "word": ("failed", None),
        "wrong type": ("excluded", "no_verdict"),
        "passed": ("passed", None),
        "timeout": ("failed", "TimeoutError('agent timed out')"),
    }  # fmt: skip


def test_graded_feedback_needs_a_threshold_above_one(export_of: Callable[..., Any]) -> None:
    runs = [run(n, feedback_stats=feedback(helpful=n, kind=2 * n)) for n in (1, 2, 3)]
    loaded = export_of(*runs)
    assert [row["reason_code"] for row in loaded.rejected] == ["no_verdict"] * 3
    loaded = export_of(*runs, score_threshold=2)
    assert loaded.verdicts() == {("e1", 1): "failed", ("e1", 2): "passed", ("e1", 3): "passed"}
    assert "lowest of helpful, kind" in loaded.report.files[0].message


def test_a_page_of_several_says_so(export_of: Callable[..., Any]) -> None:
    for head in ({"cursors": {"next": "abc"}}, {"cursor": "abc"}):
        (file,) = export_of(run(), head=head).report.files
        assert file.status == "landed"
        assert "one page of several" in file.message
    (file,) = export_of(run(), head={"cursors": {"next": None}}).report.files
    assert file.message == ""


def test_wrong_rows_are_refused_with_a_reason(export_of: Callable[..., Any]) -> None:
    loaded = export_of(run(), run(2, None), run(3, total_cost="much"), 7, run(4, start_time="x"))
    assert loaded.report.rows_landed == 1
    assert [row["reason_code"] for row in loaded.rejected] == [
        "missing_field",
        "wrong_type",
        "malformed_line",
        "wrong_type",
    ]


def test_a_table_without_ids_names_tasks_by_their_inputs(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    # As Client.get_test_results gives it, whose index with the examples is lost.
    path = tmp_path / "results.csv"
    path.write_text(
        ",reference.a,input.q,outputs.a,execution_time,error,id,feedback.correct\n"
        "0,4,2+2,4,0.5,,r1,1.0\n1,4,2+2,5,0.25,,r2,0.0\n2,4,3+1,4,0.5,,r3,nan\n3,4,3+1,x",
        "utf-8",
    )
    loaded = harness_log(path)
    assert loaded.verdicts() == {
        ('{"q": "2+2"}', 1): "passed",
        ('{"q": "2+2"}', 2): "failed",
        ('{"q": "3+1"}', 1): "excluded",
    }
    assert [row["duration_s"] for row in loaded.attempts] == [0.5, 0.25, 0.5]
    assert [row["reason_code"] for row in loaded.rejected] == ["truncated"]


def test_two_exports_of_one_experiment_are_the_same_attempts(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    lines = (FIXTURES / "runs.jsonl").read_text("utf-8").splitlines()
    runs = [json.loads(line) for line in lines]
    (tmp_path / "runs.json").write_text(json.dumps({"runs": list(reversed(runs))}), "utf-8")
    key = ("run_id", "suite", "task_id", "attempt", "outcome", "score", "tags")
    first, second = (
        [tuple(row[name] for name in key[:6]) for row in harness_log(path).attempts]
        for path in (FIXTURES / "runs.jsonl", tmp_path / "runs.json")
    )
    assert first == second


def test_another_export_of_a_run_is_named(tmp_path: Path) -> None:
    runs = [json.loads(line) for line in (FIXTURES / "runs.jsonl").read_text("utf-8").splitlines()]
    (tmp_path / "again.json").write_text(json.dumps({"runs": runs[::-1]}), "utf-8")
    # The first run of the third example failed and its second one passed.
    (tmp_path / "page.json").write_text(json.dumps({"runs": runs[8:]}), "utf-8")
    database = tmp_path / "passk.duckdb"

    def said(path: Path) -> str:
        (file,) = load([path], database=database).files
        assert file.status == "landed"
        return file.message

    assert "exports of one run" not in said(FIXTURES / "runs.jsonl")
    assert "so both are exports of one run. Each attempt counts once" in said(
        tmp_path / "again.json"
    )
    assert "and other verdicts, so that neither counts" in said(tmp_path / "page.json")
