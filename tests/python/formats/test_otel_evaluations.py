"""OpenTelemetry's evaluation events: means, logs and spans, tasks without a name, old names, bad files."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "otel_evaluations"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]
EVENT = "gen_ai.evaluation.result"
NAME, VALUE, LABEL = (f"gen_ai.evaluation.{one}" for one in ("name", "score.value", "score.label"))


@pytest.mark.parametrize("file", SAID)
def test_gives_the_means_of_the_evaluators(file: str, harness_log: Callable[..., Any]) -> None:
    found: dict[str, list[float]] = defaultdict(list)
    for row in harness_log(FIXTURES / file).attempts:
        for name, value in row["tags"].items():
            if name.startswith("score."):
                number = {"pass": 1.0, "fail": 0.0}.get(value)
                found[name.removeprefix("score.")].append(
                    float(value) if number is None else number
                )
    means = {name: mean(values) for name, values in found.items()}
    assert means == pytest.approx(SAID[file]["means"], rel=1e-12)


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    (row,) = [
        row
        for row in harness_log(FIXTURES / "spans.jsonl").attempts
        if (row["task_id"], row["attempt"]) == ("größte Stadt?", 2)
    ]
    expected = {
        "run_id": "spans",
        "suite": "arithmetic",
        "outcome": "passed",
        "outcome_reason": None,
        "score": 1 / 3,
        "agent": "agent",
        "agent_version": "7",
        "model": "mock-2",
        "duration_s": 2.0,
        "input_tokens": 100,
        "output_tokens": 7,
        "tags": {
            "label.correct": "pass",
            "score.brevity": str(1 / 3),
            "score.correct": "pass",
            "score.polite": "1",
        },
        # The eighth span of fifteen, each on a line of its own.
        "transcript": f"{FIXTURES / 'spans.jsonl'}#L8/scopeSpans/0/spans/0/events/0",
    }
    assert {name: row[name] for name in expected} == expected
    assert row["started_at"].isoformat() == "2026-11-21T10:01:20"


def test_spans_and_logs_tell_the_same(harness_log: Callable[..., Any]) -> None:
    loaded = {file: harness_log(FIXTURES / file) for file in SAID}
    assert loaded["spans.jsonl"].verdicts() == loaded["both.jsonl"].verdicts()
    assert loaded["logs.json"].verdicts() == loaded["logs.jsonl"].verdicts()
    differ = {
        key
        for key, said in loaded["logs.jsonl"].verdicts().items()
        if loaded["spans.jsonl"].verdicts()[key] != said
    }
    # Logs alone do not know that the agent raised.
    assert differ == {("crash", 2)}
    assert loaded["both.jsonl"].reasons()["crash", 2] == "ConnectionError"
    assert loaded["both.jsonl"].reasons()["judge", 2] == "evaluator_error"
    (row,) = [row for row in loaded["logs.jsonl"].attempts if row["outcome"] == "excluded"]
    assert row["tags"]["evaluator_error"] == "RuntimeError"


def attribute(name: str, value: Any) -> dict[str, Any]:
    kind = {bool: "boolValue", str: "stringValue", int: "intValue"}.get(type(value), "doubleValue")
    return {"key": name, "value": {kind: value}}


def event(task: str | None = "t1", span: str = "a1", time: int = 1, **said: Any) -> dict[str, Any]:
    """Make an event as a log record; double underscores are dots."""
    given = {NAME: "correct", **{name.replace("__", "."): value for name, value in said.items()}}
    if task:
        given["test.case.name"] = task
    made = {
        "timeUnixNano": str(1795255200_000000000 + time),
        "eventName": EVENT,
        "traceId": "b1" * 16,
        "spanId": span,
        "attributes": [attribute(name, value) for name, value in given.items()],
    }
    return {name: value for name, value in made.items() if value}


def scored(value: Any, task: str | None = "t1", span: str = "a1", **more: Any) -> dict[str, Any]:
    return event(task, span, **{VALUE.replace(".", "__"): value, **more})


@pytest.fixture
def logs_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load a document of these log records."""

    def loaded(*events: Any, **options: Any) -> Any:
        path = tmp_path / "nightly.json"
        scopes = [{"scope": {"name": "judges"}, "logRecords": events}]
        document = {"resourceLogs": [{"resource": {"attributes": []}, "scopeLogs": scopes}]}
        path.write_text(json.dumps(document), "utf-8")
        return harness_log(path, **options)

    return loaded


def test_scores_of_all_kinds(logs_of: Callable[..., Any]) -> None:
    label = LABEL.replace(".", "__")
    loaded = logs_of(
        scored(1.0, "double", "01"),
        scored("0", "text", "02"),
        scored(0, "integer", "03"),
        event("label", "04", **{label: "fail"}),
        scored(1.0, "label decides", "05", **{label: "fail"}),
        scored(1.0, "another label", "06", **{label: "relevant"}),
        scored("NaN", "not a number", "07"),
        event("nothing", "08"),
        event("error", "09", error__type="timeout"),
    )
    assert {task: (loaded.verdicts()[task, 1], why) for (task, _), why in loaded.reasons().items()} == {
        "double": ("passed", None),
        "text": ("failed", None),
        "integer": ("failed", None),
        "label": ("failed", None),
        "label decides": ("failed", None),
        "another label": ("passed", None),
        "not a number": ("excluded", "evaluator_error"),
        "nothing": ("excluded", "evaluator_error"),
        "error": ("excluded", "evaluator_error"),
    }  # fmt: skip


def test_the_events_of_a_span_are_one_attempt(logs_of: Callable[..., Any]) -> None:
    loaded = logs_of(
        scored(1, span="02", time=9),
        scored(1, span="01", time=5),
        scored(0, span="01", time=6, gen_ai__evaluation__name="polite"),
        # The latest of one name counts.
        scored(1, span="01", time=7, gen_ai__evaluation__name="polite"),
        scored(0, span="03", time=2),
        scored(1, span="0" * 16, time=1, gen_ai__response__id="r1"),
        scored(1, span="", time=1, gen_ai__response__id="r1", gen_ai__evaluation__name="polite"),
    )
    assert loaded.verdicts() == {
        ("t1", 1): "passed",
        ("t1", 2): "failed",
        ("t1", 3): "passed",
        ("t1", 4): "passed",
    }


def test_events_that_name_no_task_or_no_span_are_refused(logs_of: Callable[..., Any]) -> None:
    loaded = logs_of(scored(1), scored(1, None, "02", my__case="x"), scored(1, span=""))
    assert loaded.report.rows_landed == 1
    assert [row["reason_code"] for row in loaded.rejected] == ["missing_field"] * 2
    reasons = " ".join(row["reason"] for row in loaded.rejected)
    assert "neither its span nor a gen_ai.response.id" in reasons
    assert "the others are my.case. Name it by test.case.name, or read the file by --map" in reasons


def test_names_of_before_there_was_one_event(logs_of: Callable[..., Any]) -> None:
    old = scored(1)
    del old["eventName"]
    old["attributes"].append(attribute("event.name", "gen_ai.evaluation.relevance"))
    old["attributes"] = [one for one in old["attributes"] if one["key"] != NAME]
    other = event("t1", "a2", gen_ai__evaluation__score=0.0)
    other["eventName"] = "gen_ai.evaluation.relevance"
    other["attributes"] = [one for one in other["attributes"] if one["key"] != NAME]
    loaded = logs_of(old, other)
    assert sorted(row["outcome"] for row in loaded.attempts) == ["failed", "passed"]
    assert {"score.relevance"} == {name for row in loaded.attempts for name in row["tags"]}


def test_strange_documents_are_refused_or_passed_over(
    tmp_path: Path, logs_of: Callable[..., Any], harness_log: Callable[..., Any]
) -> None:
    loaded = logs_of(7, None, scored(1), {"eventName": EVENT, "attributes": 7}, {"eventName": 7})
    assert loaded.report.rows_landed == 1
    assert [row["reason_code"] for row in loaded.rejected] == ["missing_field"]
    good = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [scored(1)]}]}]})
    path = tmp_path / "lines.jsonl"
    path.write_text(f'{good}\n{{"resourceLogs": 7}}\n[1]\n{good[:90]}', "utf-8")
    loaded = harness_log(path)
    assert loaded.report.rows_landed == 1
    assert [row["reason_code"] for row in loaded.rejected] == ["malformed_line", "truncated"]


def test_a_resource_that_is_no_json_is_refused(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    good = json.dumps({"scopeLogs": [{"logRecords": [scored(1)]}]})
    path = tmp_path / "nightly.json"
    path.write_text(f'{{"resourceLogs": [{good}, {{"scopeLogs": tru}}, null]}}', "utf-8")
    loaded = harness_log(path)
    assert loaded.report.rows_landed == 1
    assert [row["reason_code"] for row in loaded.rejected] == ["malformed_line"]
    assert "not valid JSON" in loaded.rejected[0]["reason"]
    assert loaded.rejected[0]["raw"] == '{"scopeLogs": tru}'


def test_traces_without_evaluations_are_of_no_format(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "traces.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": []}]}]}), "utf-8")
    (file,) = harness_log(path).report.files
    assert file.status == "failed"
    assert "no format that passk knows" in file.message
