"""promptfoo: rows and files that are odd, cut off or of others."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .promptfoo_rows import FIXTURES, SAID, case, row

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_row_without_a_verdict_is_excluded(eval_of: Callable[..., Any]) -> None:
    one = row()
    del one["success"]
    loaded = eval_of(row(testIdx=1), one)
    assert loaded.reasons() == {("a test", 1): "no_verdict", ("a test", 2): None}


def test_wrong_types_are_refused_with_a_reason(eval_of: Callable[..., Any]) -> None:
    loaded = eval_of(
        row(),
        row(success="maybe"),
        row(score={"a": 1}),
        row(testIdx=[1]),
        row(testIdx=-1),
        row(latencyMs=True),
        row(testCase=[1], vars=None),
        [1],
        7,
    )
    assert loaded.report.rows_landed == 1
    assert [one["reason_code"] for one in loaded.rejected] == [
        "wrong_type",
        "wrong_type",
        "wrong_type",
        "out_of_range",
        "wrong_type",
        "missing_field",
        "malformed_line",
        "malformed_line",
    ]
    assert "testIdx" in loaded.rejected[2]["reason"]


def test_not_a_number_and_halves_of_characters_don_t_stop_the_others(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    rows = ", ".join(
        [
            json.dumps(row(testIdx=0)),
            json.dumps(row(testIdx=1)).replace('"score": 1,', '"score": NaN,'),
            json.dumps(row(testIdx=2, testCase=case("\ud800", options={"repeat": 2}))),
            json.dumps(row(testIdx=3)).replace('"id": "row"', '"success": false, "id": "row"'),
        ]
    )
    path = tmp_path / "eval.json"
    head = '{"evalId": "e\\ud800", "runtimeOptions": {"repeat": 4}, "results": {"results": ['
    path.write_text(f"{head}{rows}]}}}}", encoding="utf-8")
    loaded = harness_log(path)
    assert loaded.report.rows_read == 4
    # Of a name that comes twice the last value counts, as everywhere in JSON.
    assert [one["outcome"] for one in loaded.attempts][-1] == "passed"
    assert {one["reason_code"] for one in loaded.rejected} <= {"invalid_utf8", "not_finite"}
    assert [one["source_line"] for one in loaded.rejected][-1] == 3


@pytest.mark.parametrize("file", ["single.json", "single.jsonl"])
def test_of_a_file_that_is_cut_off_the_rows_before_land(
    file: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    whole = (FIXTURES / file).read_bytes()
    second = [place for place in range(len(whole)) if whole.startswith(b'"latencyMs"', place)][1]
    (tmp_path / file).write_bytes(whole[:second])
    loaded = harness_log(tmp_path / file)
    assert loaded.report.rows_landed == 1
    assert [one["reason_code"] for one in loaded.rejected] == ["truncated"]


def test_an_eval_without_rows_is_known_and_has_none(eval_of: Callable[..., Any]) -> None:
    report = eval_of().report.files[0]
    assert report.status == "failed"
    assert "no rows" in report.message


@pytest.mark.parametrize("long", ["prompts", "prompt"])
def test_is_known_by_what_comes_before_something_long(
    long: str, eval_of: Callable[..., Any], tmp_path: Path
) -> None:
    words = "x" * (2 << 20)
    results: dict[str, Any] = {"version": 3, "timestamp": "", "prompts": []}
    if long == "prompts":
        results["prompts"] = [{"raw": words}]
        results["results"] = [row()]
    else:
        early = {"latencyMs": 1, "namedScores": {}}
        results["results"] = [{**early, **row(prompt={"raw": words, "label": "plain"})}]
    loaded = eval_of(head={"results": results})
    assert [one.format for one in loaded.report.files] == ["promptfoo"]
    assert loaded.report.rows_landed == 1
    assert (tmp_path / "eval.json").stat().st_size > 2 << 20


def test_a_folder_lands_each_attempt_once(harness_log: Callable[..., Any], tmp_path: Path) -> None:
    for name in (*SAID, "expected.json"):
        shutil.copy(FIXTURES / name, tmp_path)
    loaded = harness_log(tmp_path)
    assert {one.format for one in loaded.report.files} == {"promptfoo"}
    said = [one for file in SAID if file != "single.jsonl" for one in SAID[file]["attempts"]]
    assert len(loaded.attempts) == len(said)
    skipped = {Path(one.path).name: one.reason for one in loaded.report.skipped}
    assert "single.json beside it" in skipped["single.jsonl"]


def test_lines_without_their_json_are_read_in_a_folder(
    harness_log: Callable[..., Any], tmp_path: Path
) -> None:
    shutil.copy(FIXTURES / "single.jsonl", tmp_path)
    # Another eval of the same name is no reason to leave out the lines.
    shutil.copy(FIXTURES / "cached.json", tmp_path / "single.json")
    loaded = harness_log(tmp_path)
    assert sorted(one.format for one in loaded.report.files) == ["promptfoo", "promptfoo-jsonl"]


def test_other_json_is_not_taken_for_promptfoo(
    harness_log: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "log.json"
    attempt = {"run_id": "r", "task_id": "t", "attempt": 1, "outcome": "passed"}
    path.write_text(json.dumps([{**attempt, "prompt": "p"}]), encoding="utf-8")
    assert [one.format for one in harness_log(path).report.files] == ["json"]


def test_a_worker_that_fails_is_no_failure_of_the_agent(harness_log: Callable[..., Any]) -> None:
    """The results that promptfoo writes of its Python workers; two rows have each reason."""
    rows = harness_log(FIXTURES / "workers.json").attempts
    found = Counter((one["outcome_reason"], one["outcome"]) for one in rows)
    assert found == {
        (None, "passed"): 2,
        ("Error: Worker failed to become ready within timeout", "excluded"): 2,
        ("Error: Worker crashed", "excluded"): 2,
        ("Error: Python error: no such tool", "excluded"): 2,
        # The call was running: it is the agent's time that was over.
        ("Error: Python worker timed out after 9000ms", "failed"): 2,
    }


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ("Worker failed to become ready within timeout", "excluded"),
        ("Error: Worker not ready", "excluded"),
        ("Error: Headers Timeout Error", "excluded"),
        ("Error: Request failed: upstream request timeout", "excluded"),
        ("ChatKit response timeout after 1000ms. Try increasing timeout in config", "excluded"),
        ("Evaluation timed out after 2500ms: Error: Evaluation timed out after 2500ms", "failed"),
        ("the agent's own timeout is over", "failed"),
    ],
)
def test_which_errors_are_the_providers(
    error: str, outcome: str, eval_of: Callable[..., Any]
) -> None:
    failed = row(success=False, failureReason=2, error=error, gradingResult=None, response=None)
    assert [one["outcome"] for one in eval_of(failed).attempts] == [outcome]


def test_tasks_do_not_depend_on_ids_that_are_new_in_each_eval(
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(FIXTURES / "ids_1.json", FIXTURES / "ids_2.json")
    written = (
        '{"order": "<uuid>", "question": "%s", "started": "<time>", "task": %s, '
        '"trace": "run/<uuid>"}'
    )
    tasks = {written % ("2+2", "1"), written % ("6*7", '"never"')}
    runs = {one["run_id"] for one in loaded.attempts}
    assert len(runs) == 2
    for run in runs:
        assert {one["task_id"] for one in loaded.attempts if one["run_id"] == run} == tasks
    assert [one.message for one in loaded.report.files] == ["", ""]
