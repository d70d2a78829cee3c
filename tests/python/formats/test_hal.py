"""HAL: its own accuracy, tasks whose agent broke, variations of prompts, files without lists, bad files."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "hal"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]
TAU, GAIA, SWE, VARIATIONS = SAID


@pytest.mark.parametrize("file", SAID)
def test_gives_the_accuracy_of_the_benchmark(file: str, harness_log: Callable[..., Any]) -> None:
    # HAL counts a task without a grade as failed.
    counts = harness_log(FIXTURES / file).counts(excluded_fail=True).values()
    assert mean(c / n for n, c in counts) == pytest.approx(SAID[file]["accuracy"], rel=1e-12)


def test_a_task_spelled_out(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / TAU
    row = harness_log(path).attempts[0]
    expected = {
        "run_id": "taubench_airline_1795000000",
        "suite": "taubench_airline",
        "task_id": "0",
        "attempt": 1,
        "outcome": "passed",
        "score": 1.0,
        "agent": "Größe Agent (mock-1)",
        "agent_version": "1f2e",
        "model": "acme/mock-1",
        "duration_s": 75.5,
        "cost_usd": 0.125,
        "tags": {"step_count": "9"},
        "transcript": f"{path}#/raw_eval_results/0",
    }
    assert {name: row[name] for name in expected} == expected
    assert str(row["started_at"]) == "2026-11-20 10:00:00"


def test_tasks_without_a_grade_are_no_failures(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / TAU)
    assert loaded.verdicts()["2", 1] == "excluded"
    assert loaded.reasons()["2", 1] == "ERROR: Docker container exited"
    loaded = harness_log(FIXTURES / SWE)
    assert loaded.verdicts() == {
        ("django__django-1", 1): "passed",
        ("django__django-2", 1): "failed",
        ("sympy__sympy-3", 1): "failed",
    }
    assert loaded.reasons()["sympy__sympy-3", 1] == "error"


def test_variations_of_a_prompt_are_attempts(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / VARIATIONS)
    assert loaded.counts() == {"0": (2, 1), "1": (2, 0)}
    assert [row["tags"] for row in loaded.attempts][:2] == [
        {"prompt_variation_id": "0"},
        {"prompt_variation_id": "1"},
    ]
    # The times are those of all variations together.
    assert {row["duration_s"] for row in loaded.attempts} == {None}


def test_repeated_runs_are_attempts_under_one_run_id(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / TAU, FIXTURES / GAIA, run_id="r", suite="s")
    assert {row["run_id"] for row in loaded.attempts} == {"r"}
    assert len(loaded.attempts) == 7


@pytest.fixture
def upload_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load a run of these results."""

    def loaded(raw: Any, results: Any, *, document: Any = None, **options: Any) -> Any:
        path = tmp_path / "nightly_UPLOAD.json"
        made = {"config": {}, "results": results, "raw_eval_results": raw, **(document or {})}
        path.write_text(json.dumps(made), "utf-8")
        return harness_log(path, **options)

    return loaded


def test_without_lists_the_results_decide(upload_of: Callable[..., Any]) -> None:
    raw = {
        "a": {"reward": 1.0, "cost": 0.5},
        "b": {"score": 0.5},
        "c": {"success": True},
        "d": "TimeoutError: agent timed out",
        "e": {"explanation": "?"},
        "f": True,
        "g": None,
    }
    loaded = upload_of(raw, {"latencies": {"a": 1.5}, "costs": {"a": 0.25}})
    assert {task: found for (task, _), found in loaded.verdicts().items()} == {
        "a": "passed", "b": "failed", "c": "passed", "d": "failed",
        "e": "excluded", "f": "passed", "g": "excluded",
    }  # fmt: skip
    assert loaded.reasons()["e", 1] == "no_verdict"
    first = loaded.attempts[0]
    assert (first["duration_s"], first["cost_usd"]) == (1.5, 0.25)
    assert (first["run_id"], first["suite"]) == ("nightly", "hal")
    loaded = upload_of(raw, {}, score_threshold=0.5)
    assert loaded.verdicts()["b", 1] == "passed"


def test_metadata_in_place_of_a_configuration(upload_of: Callable[..., Any]) -> None:
    metadata = {"run_id": "r0", "agent_args": {"agent.model.name": "m"}}
    loaded = upload_of({"a": {"reward": 1.0}}, {}, document={"metadata": metadata, "config": 7})
    assert [(row["run_id"], row["model"]) for row in loaded.attempts] == [("r0", "m")]


def test_wrong_types_are_refused_with_a_reason(upload_of: Callable[..., Any]) -> None:
    loaded = upload_of({"a": {"reward": 1.0, "cost": "dear"}, "b": [7, "x"], "c": []}, 7)
    assert [row["reason_code"] for row in loaded.rejected] == ["wrong_type"]
    assert loaded.verdicts() == {("b", 1): "excluded", ("c", 1): "excluded"}
    loaded = upload_of([], {"successful_tasks": ["a", 7, None], "failed_tasks": "b"})
    assert loaded.verdicts() == {("a", 1): "passed", ("7", 1): "passed"}


def test_a_run_without_tasks_has_no_rows(upload_of: Callable[..., Any]) -> None:
    (report,) = upload_of({}, {"accuracy": 0}).report.files
    assert report.status == "failed"
    assert "no rows" in report.message


def test_a_file_that_is_cut_off_says_so(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    whole = (FIXTURES / TAU).read_bytes()
    path = tmp_path / "x_UPLOAD.json"
    path.write_bytes(whole[: whole.index(b'"raw_logging_results"')])
    loaded = harness_log(path)
    assert loaded.report.rows_landed == 4
    assert [row["reason_code"] for row in loaded.rejected] == ["truncated"]
