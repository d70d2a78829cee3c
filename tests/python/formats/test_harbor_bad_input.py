"""Harbor: trials that are cut off, wrong or of others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from .harbor_trials import trial

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_trial_that_is_cut_off_is_rejected_and_the_others_land(
    job: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    whole = json.dumps(trial(2) | {"config": {"text": "x" * 50}}, indent=4)
    loaded = harness_log(job(trial(1), whole[:-20], trial(3)))
    assert [row["reason_code"] for row in loaded.rejected] == ["truncated"]
    assert [row["started_at"].second for row in loaded.attempts] == [1, 3]
    assert loaded.report.rows_read == 3


def test_a_trial_with_a_transcript_of_megabytes_is_told_by_its_early_keys(
    job: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    result = {"n_input_tokens": 7, "rollout_details": [{"tokens": [1] * 600_000}]}
    (row,) = harness_log(job(trial(agent_result=result))).attempts
    assert (row["outcome"], row["input_tokens"]) == ("passed", 7)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"task_name": None}, "missing_field"),
        ({"task_name": {"a": 1}}, "wrong_type"),
        ({"task_name": True}, "wrong_type"),
        ({"verifier_result": {"rewards": {"reward": float("nan")}}}, "not_finite"),
        ({"verifier_result": {"rewards": {"reward": "full"}}}, "wrong_type"),
        ({"verifier_result": {"rewards": {"reward": [1]}}}, "wrong_type"),
        ({"agent_info": {"name": ["a"]}}, "wrong_type"),
        ({"agent_result": {"n_input_tokens": -1}}, "out_of_range"),
        ({"started_at": "yesterday"}, "wrong_type"),
    ],
)
def test_a_trial_with_a_wrong_value_is_rejected_with_a_reason(
    changes: dict[str, Any],
    code: str,
    job: Callable[..., Path],
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(job(trial(1), trial(2, **changes)))
    assert [row["reason_code"] for row in loaded.rejected] == [code]
    assert len(loaded.attempts) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"agent_info": "a"},
        {"agent_info": None, "agent_result": [], "step_results": {"a": 1}},
        {"step_results": [None, 1, {"agent_result": 5, "exception_info": "x"}]},
        {"exception_info": ["x"], "finished_at": 7},
        {"agent_result": {"cost_usd": None}},
    ],
)
def test_what_has_another_shape_is_passed_over(
    changes: dict[str, Any], job: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    (row,) = harness_log(job(trial(1, **changes))).attempts
    assert (row["outcome"], row["cost_usd"], row["duration_s"]) == ("passed", None, None)


def test_of_a_key_that_is_there_twice_the_last_counts(
    job: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    twice = json.dumps(trial(1))[:-1] + ', "task_name": "größer 長い"}'
    (row,) = harness_log(job(twice)).attempts
    assert row["task_id"] == "größer 長い"


@pytest.mark.parametrize(
    "other",
    [
        {"trial_name": "a.1-of-1", "task_id": "a", "is_resolved": True, "results": []},
        {"task_name": "copy", "trial_name": "copy__1"},
        {"run_id": "r", "task_id": "t", "attempt": 1, "passed": True, "task_name": "copy"},
    ],
)
def test_files_of_others_are_not_taken_for_trials(
    other: dict[str, Any], tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(other))
    assert {file.format for file in harness_log(path).report.files} != {"harbor"}
