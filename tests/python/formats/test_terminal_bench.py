"""Terminal-Bench: its accuracy and pass@k from the landed rows, in both layouts."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "terminal_bench"
FILES: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]
RATES = [(name, rate) for name, said in FILES.items() for rate in said["pass_rates"]]


def rate_of(loaded: Any, name: str) -> Fraction:
    """Compute a figure as BenchmarkResults does: whatever was not resolved is a failure."""
    counts = loaded.counts(excluded_fail=True)
    if name == "accuracy":
        return Fraction(sum(c for _, c in counts.values()), sum(n for n, _ in counts.values()))
    if name == "n_resolved":
        return Fraction(sum(c for _, c in counts.values()))
    if name == "n_unresolved":
        return Fraction(sum(n - c for n, c in counts.values()))
    k = int(name.rpartition("@")[2])
    tasks = [1 - Fraction(comb(n - c, k), comb(n, k)) for n, c in counts.values()]
    return sum(tasks, Fraction(0)) / len(tasks)


@pytest.mark.parametrize(("name", "rate"), RATES)
def test_the_tools_own_figures_follow_from_the_rows(
    name: str, rate: str, harness_log: Callable[..., Any]
) -> None:
    said = FILES[name]["pass_rates"][rate]
    assert float(rate_of(harness_log(FIXTURES / name), rate)) == pytest.approx(said, rel=1e-12)


def test_a_trial_is_an_attempt(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "attempts")
    row = next(r for r in loaded.attempts if (r["task_id"], r["attempt"]) == ("hello-world", 3))
    run = "2026-02-10__09-30-00"
    raw = json.loads((FIXTURES / "attempts" / run / "results.json").read_text("utf-8"))
    told = next(r for r in raw["results"] if r["trial_name"].startswith("hello-world.3-of-4"))
    assert (row["run_id"], row["suite"]) == (run, "terminal-bench-core")
    assert (row["agent"], row["model"]) == ("terminus", "example/model-s")
    assert (row["input_tokens"], row["output_tokens"]) == (
        told["total_input_tokens"],
        told["total_output_tokens"],
    )
    assert row["started_at"].isoformat() + "+00:00" == told["trial_started_at"]
    assert row["duration_s"] == 40.125
    # It timed out and was resolved all the same.
    assert (row["outcome"], row["outcome_reason"]) == ("passed", "agent_timeout")
    folder = FIXTURES / "attempts" / run / "hello-world" / told["trial_name"]
    assert folder.is_dir()
    assert row["transcript"] == str(folder)


def test_failure_modes_decide_only_where_nothing_was_graded(
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(FIXTURES / "attempts")
    told = {
        (row["outcome_reason"], row["outcome"])
        for row in loaded.attempts
        if row["outcome_reason"] is not None
    }
    assert told == {
        ("agent_timeout", "passed"),
        ("agent_timeout", "failed"),
        ("agent_installation_failed", "failed"),
        ("context_length_exceeded", "failed"),
        ("fatal_llm_parse_error", "failed"),
        ("test_timeout", "failed"),
        ("parse_error", "excluded"),
        ("unknown_agent_error", "excluded"),
    }
    changed = harness_log(FIXTURES / "attempts", policy={"*_timeout": "excluded", "*": "failed"})
    timeouts = {r["outcome"] for r in changed.attempts if r["outcome_reason"] == "agent_timeout"}
    assert timeouts == {"passed", "failed"}
    assert {r["outcome"] for r in changed.attempts if r["outcome_reason"] == "test_timeout"} == {
        "excluded"
    }
    assert {r["outcome"] for r in changed.attempts if r["outcome_reason"] == "parse_error"} == {
        "failed"
    }


def test_runs_of_one_attempt_each_are_attempts_of_one_run(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "single")
    (report,) = loaded.report.files
    assert Path(report.path) == FIXTURES / "single"
    assert {row["run_id"] for row in loaded.attempts} == {"single.terminus.example/model-s"}
    starts: dict[str, list[Any]] = {}
    for row in loaded.attempts:
        starts.setdefault(row["task_id"], []).append(row["started_at"])
    assert all(times == sorted(times) for times in starts.values())
    # Three runs over four tasks, of which the log holds eight attempts.
    assert sum(row["expected_attempts"] for row in loaded.expected) == 12
    assert len(loaded.attempts) == 8


def test_files_of_single_trials_are_not_landed_twice(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "attempts")
    assert len(loaded.attempts) == 16
    assert {file.reason for file in loaded.report.skipped} == {
        "one trial of Terminal-Bench, which the results.json of its run holds too"
    }


def test_attempts_that_an_interrupted_run_lacks_are_expected(
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(FIXTURES / "interrupted")
    expected = {row["task_id"]: row["expected_attempts"] for row in loaded.expected}
    assert expected["hello-world"] == expected["fix-git"] == 3
    assert sum(row["task_id"] == "fix-git" for row in loaded.attempts) == 1


def test_a_merged_file_keeps_the_numbers_of_its_trials(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "merged")
    numbers = {row["attempt"] for row in loaded.attempts if row["task_id"] == "hello-world"}
    assert numbers == {1, 2, 3, 4, 5}
    assert {row["model"] for row in loaded.attempts} == {None}
    assert {row["run_id"] for row in loaded.attempts} == {"merged"}


ROW = {"trial_name": "t.1-of-2.r", "task_id": "t", "is_resolved": True, "failure_mode": "unset"}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"task_id": None}, "missing_field"),
        ({"task_id": ["t"]}, "wrong_type"),
        ({"trial_name": "t"}, "missing_field"),
        ({"is_resolved": "maybe"}, "wrong_type"),
        ({"total_input_tokens": -1}, "out_of_range"),
        ({"trial_started_at": 7}, "wrong_type"),
    ],
)
def test_a_row_that_breaks_the_contract_is_rejected(
    change: dict[str, Any], code: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "results.json"
    second = ROW | {"trial_name": "t.2-of-2.r"}
    path.write_text(json.dumps({"results": [ROW, ROW | change, second]}), "utf-8")
    loaded = harness_log(path)
    assert [row["reason_code"] for row in loaded.rejected] == [code]
    assert [row["attempt"] for row in loaded.attempts] == [1, 2]


def test_an_empty_run_says_so(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    path = tmp_path / "results.json"
    path.write_text('{"id": "x", "results": []}', "utf-8")
    (report,) = harness_log(path).report.files
    assert report.status == "failed"


def single_run(folder: Path, tasks: dict[str, bool], **metadata: Any) -> None:
    """Write a run of one attempt of each task; without metadata if there is none."""
    folder.mkdir(parents=True)
    rows = [
        {"trial_name": f"{task}.1-of-1.{folder.name}", "task_id": task, "is_resolved": resolved}
        for task, resolved in tasks.items()
    ]
    (folder / "results.json").write_text(json.dumps({"id": "x", "results": rows}), "utf-8")
    if metadata:
        said = {"agent_name": "a", "model_name": "m", **metadata}
        (folder / "run_metadata.json").write_text(json.dumps(said), "utf-8")


def test_a_task_is_counted_in_the_runs_that_were_to_try_it(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    single_run(tmp_path / "runs" / "1", {"a": True}, task_ids=["a"])
    single_run(tmp_path / "runs" / "2", {"b": False}, task_ids=["b"])
    single_run(tmp_path / "runs" / "3", {"b": True}, task_ids=["a", "b", "c"])
    loaded = harness_log(tmp_path / "runs")
    assert loaded.verdicts() == {("a", 1): "passed", ("b", 1): "failed", ("b", 2): "passed"}
    expected = {row["task_id"]: row["expected_attempts"] for row in loaded.expected}
    assert expected == {"a": 2, "b": 2, "c": 1}


def test_a_task_that_its_run_does_not_name_has_a_number_all_the_same(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    single_run(tmp_path / "runs" / "1", {"a": True, "b": True}, task_ids=["a"])
    single_run(tmp_path / "runs" / "2", {"a": True, "b": True}, task_ids=["b"])
    single_run(tmp_path / "runs" / "3", {"a": False, "b": False})
    loaded = harness_log(tmp_path / "runs")
    assert {key[1] for key in loaded.verdicts() if key[0] == "b"} == {1, 2}
    assert not loaded.rejected


def test_runs_are_ordered_by_their_start_and_else_as_people_count(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    names = ("run1", "run10", "run2")
    for name in names:
        single_run(tmp_path / "plain" / name, {name: True, "t": name == "run10"})
        start = f"2026-01-0{names.index(name) + 1}T00:00:00+00:00"
        single_run(tmp_path / "dated" / name, {"t": name == "run10"}, start_time=start)
        resumed = {"start_time": start, "resumed_at": start if name == "run1" else None}
        single_run(tmp_path / "resumed" / name, {"t": name == "run10"}, **resumed)
    places = {
        folder: [
            row["attempt"]
            for row in harness_log(tmp_path / folder).attempts
            if row["task_id"] == "t" and row["outcome"] == "passed"
        ]
        for folder in ("plain", "dated", "resumed")
    }
    assert places == {"plain": [3], "dated": [2], "resumed": [3]}


def test_datasets_of_runs_side_by_side_are_runs_of_their_own(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    for name, dataset in [("1", "core"), ("2", "extra"), ("3", "core")]:
        tasks = {"core": ["a"], "extra": ["b"]}[dataset]
        metadata = {"dataset_name": dataset, "task_ids": tasks}
        single_run(tmp_path / "runs" / name, dict.fromkeys(tasks, True), **metadata)
    loaded = harness_log(tmp_path / "runs")
    assert {(r["run_id"], r["suite"], r["task_id"]) for r in loaded.expected} == {
        ("runs.a.m.core", "core", "a"),
        ("runs.a.m.extra", "extra", "b"),
    }
    assert set(loaded.verdicts()) == {("a", 1), ("a", 2), ("b", 1)}
