"""OpenAI Evals: its own accuracy, a sample spelled out, matches and metrics, errors, bad lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "openai_evals"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]["events.jsonl"]  # fmt: skip


def test_gives_the_accuracy_of_the_matches(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "events.jsonl")
    matched = [f"größe.dev.{number}" for number in (0, 1, 2, 8)]
    found = [row["outcome"] == "passed" for row in loaded.attempts if row["task_id"] in matched]
    assert len(found) == SAID["figures"]["matches"]
    assert sum(found) / len(found) == SAID["figures"]["accuracy"]
    verdicts = {
        (one["task_id"], one["attempt"]): {True: "passed", False: "failed", None: "excluded"}[
            one["passed"]
        ]
        for one in SAID["attempts"]
    }
    assert loaded.verdicts() == verdicts
    assert {key: why for key, why in loaded.reasons().items() if why} == {
        ("größe.dev.5", 1): "no_verdict",
        ("größe.dev.6", 1): "ValueError: Expecting value",
        ("größe.dev.7", 1): "no_verdict",
    }


def test_a_sample_spelled_out(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / "events.jsonl"
    loaded = harness_log(path)
    rows = {(row["task_id"], row["attempt"]): row for row in loaded.attempts}
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    (first,) = [
        number
        for number, line in enumerate(lines, 1)
        if line.get("sample_id") == "größe.dev.2" and line["type"] == "sampling"
    ]
    expected = {
        "run_id": SAID["figures"]["run_id"],
        "suite": "größe.dev.v0",
        "score": 1.0,
        "model": "gpt-4.1-mini",
        "input_tokens": 7,
        "output_tokens": 2,
        "transcript": f"{path}#L{first}",
    }
    row = rows["größe.dev.2", 1]
    assert {name: row[name] for name in expected} == expected
    # Two matches share one sampling, whose tokens are of neither alone.
    assert {rows["größe.dev.8", number]["input_tokens"] for number in (1, 2)} == {None}


def event(number: int, kind: str, data: Any, sample: Any = "s") -> dict[str, Any]:
    return {"event_id": number, "sample_id": sample, "type": kind, "data": data}


def test_grades_of_one_to_five_need_a_threshold(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "events.jsonl"
    grades = [event(place, "metrics", {"score": 1 + place}, f"s{place}") for place in range(5)]
    both = [event(5, "metrics", {"score": 5}, "m"), event(6, "match", {"correct": False}, "m")]
    path.write_text("\n".join(map(json.dumps, [*grades, *both])) + "\n", "utf-8")
    loaded = harness_log(path)
    assert loaded.verdicts() == {("m", 1): "failed"}
    assert {row["reason_code"] for row in loaded.rejected} == {"no_verdict"}
    assert len(loaded.rejected) == 5
    found = harness_log(path, score_threshold=4).verdicts()
    passed = [task for (task, _), verdict in found.items() if verdict == "passed"]
    assert sorted(passed) == ["s3", "s4"]


def test_an_error_on_the_way_is_no_reason_of_a_pass(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "events.jsonl"
    lines = [
        event(2 * place + step, kind, data, f"{correct}")
        for place, correct in enumerate((True, False))
        for step, (kind, data) in enumerate(
            (("error", {"type": "Slow", "message": "again"}), ("match", {"correct": correct}))
        )
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    assert harness_log(path).reasons() == {("True", 1): None, ("False", 1): "Slow: again"}


def test_other_events_and_bad_lines(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    path = tmp_path / "events.jsonl"
    lines = [
        json.dumps(one)
        for one in (
            event(0, "raw_sample", "text", "only raw"),
            event(1, "metrics", {"score": 0.75}, 7),
            event(2, "error", None, "unsaid"),
            event(3, "match", {"correct": True}, None),
            event(4, "match", {"correct": "perhaps"}, "wrong"),
            {"final_report": {"accuracy": 1.0}},
        )
    ]
    path.write_text("\n".join([*lines, '{"event_id": 5, "sam']), "utf-8")
    loaded = harness_log(path)
    assert {(row["run_id"], row["suite"]) for row in loaded.attempts} == {
        ("events", "openai-evals")
    }
    assert loaded.verdicts() == {("7", 1): "failed", ("unsaid", 1): "excluded"}
    assert loaded.reasons()["unsaid", 1] == "error"
    codes = sorted(row["reason_code"] for row in loaded.rejected)
    assert codes == ["missing_field", "truncated", "wrong_type"]
    assert harness_log(path, score_threshold=0.75).verdicts()["7", 1] == "passed"
