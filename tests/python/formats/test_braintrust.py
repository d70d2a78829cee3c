"""Braintrust: its own means, traces of several spans, trials, errors, pages, bad files."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "braintrust"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]


@pytest.mark.parametrize("file", SAID)
def test_gives_the_means_of_the_sdks_summary(file: str, harness_log: Callable[..., Any]) -> None:
    found: dict[str, list[float]] = defaultdict(list)
    for row in harness_log(FIXTURES / file).attempts:
        for name, value in row["tags"].items():
            if name.startswith("score."):
                number = {"true": 1.0, "false": 0.0}.get(value)
                found[name.removeprefix("score.")].append(
                    float(value) if number is None else number
                )
    means = {name: mean(values) for name, values in found.items()}
    assert means == pytest.approx(SAID[file]["means"], rel=1e-12)


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / "events.json"
    events = json.loads(path.read_text("utf-8"))["events"]
    (place,) = [n for n, one in enumerate(events) if one["output"] == "東京" and one["is_root"]]
    (row,) = [row for row in harness_log(path).attempts if row["transcript"].endswith(f"/{place}")]
    expected = {
        "run_id": "nightly-7",
        "suite": "braintrust",
        "task_id": "größte Stadt?",
        "attempt": 2,
        "outcome": "passed",
        "outcome_reason": None,
        # Scores and tokens are in other spans of the trace.
        "score": 1 / 3,
        "input_tokens": 100,
        "output_tokens": 7,
        "cost_usd": None,
        "model": "mock-2",
        "duration_s": 1.5,
        "tags": {
            "difficulty": "easy",
            "score.brevity": str(1 / 3),
            "score.exact": "1",
            "score.polite": "1.0",
            "tags": "nightly",
        },
        "transcript": f"{path}#/events/{place}",
    }
    assert {name: row[name] for name in expected} == expected


def test_errors_are_excluded_by_their_reason(harness_log: Callable[..., Any]) -> None:
    for file, crash in (
        ("events.json", "ConnectionError: sandbox is unavailable"),
        ("result.json", "sandbox is unavailable"),
    ):
        loaded = harness_log(FIXTURES / file)
        assert {key: why for key, why in loaded.reasons().items() if why} == {
            ("crash", 2): crash,
            ("judge", 2): "evaluator_error",
        }
        assert {loaded.verdicts()[key] for key in (("crash", 2), ("judge", 2))} == {"excluded"}


def test_a_result_is_named_by_its_summary(harness_log: Callable[..., Any]) -> None:
    rows = harness_log(FIXTURES / "result.json").attempts
    assert {(row["run_id"], row["tags"]["project"]) for row in rows} == {
        ("arithmetic", "arithmetic")
    }


def span(trace: str = "t1", name: str = "2+2", **changes: Any) -> dict[str, Any]:
    """Make a root span as the server gives it."""
    made = {
        "id": trace,
        "experiment_id": "x1",
        "created": "2026-11-21T10:00:00.000Z",
        "input": name,
        "output": "4",
        "error": None,
        "scores": {"exact": 1},
        "metadata": {},
        "metrics": {},
        "span_id": trace,
        "root_span_id": trace,
        "span_parents": None,
        "span_attributes": {"name": "eval", "type": "eval"},
    }
    return {**made, **changes}


def within(trace: str, kind: str = "score", **changes: Any) -> dict[str, Any]:
    inner = {"id": f"{trace}-{kind}", "span_id": f"{trace}-{kind}", "span_parents": [trace]}
    return span(trace, **{**inner, "span_attributes": {"type": kind}, "scores": None, **changes})


@pytest.fixture
def export_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load an export of these spans."""

    def loaded(*spans: Any, head: dict[str, Any] | None = None, **options: Any) -> Any:
        path = tmp_path / "nightly.json"
        rows: Any = list(spans)
        path.write_text(json.dumps({"events": rows, **head} if head else rows), "utf-8")
        return harness_log(path, **options)

    return loaded


def test_the_spans_of_a_trace_are_put_together(export_of: Callable[..., Any]) -> None:
    used = {"prompt_tokens": 10, "completion_tokens": 2, "estimated_cost": 0.25}
    loaded = export_of(
        within("a", scores={"exact": 0}),
        span("a", "first", scores=None, metrics={"start": 1795255200, "end": 1795255202.5}),
        within("a", "llm", id="l1", metrics=used),
        within("a", "llm", id="l2", metrics={**used, "prompt_tokens": 30}),
        # A tool is no call of a model, whatever it counts.
        within("a", "tool", metrics=used),
        span("b", "second", scores={"exact": None}, metrics={**used, "prompt_tokens": 7}),
        within("b", scores={"exact": 1}),
        within("b", "llm", metrics=used),
    )
    assert loaded.verdicts() == {("first", 1): "failed", ("second", 1): "passed"}
    first, second = loaded.attempts
    names = ("input_tokens", "output_tokens", "cost_usd", "duration_s")
    assert [first[name] for name in names] == [40, 4, 0.5, 2.5]
    assert [second[name] for name in names] == [7, 2, 0.25, None]
    assert first["started_at"].isoformat() == "2026-11-21T10:00:00"


def test_a_root_span_with_an_id_of_its_own(export_of: Callable[..., Any]) -> None:
    loaded = export_of(span("t1", span_id="s1"), within("t1", span_parents=["s1"]))
    assert loaded.verdicts() == {("2+2", 1): "passed"}
    # Without the fields that say it, the type of a span does.
    bare = [span("t1"), within("t1", "task"), within("t1", "llm")]
    for one in bare:
        del one["span_parents"]
    assert export_of(*bare).verdicts() == {("2+2", 1): "passed"}


def test_trials_are_numbered_by_their_start(export_of: Callable[..., Any]) -> None:
    loaded = export_of(
        span("c", scores={"exact": 0}, metrics={"start": 1795255203}),
        span("b", metrics={"start": 1795255202}),
        span("a", scores={"exact": 0}, metrics={"start": 1795255201}),
    )
    assert loaded.verdicts() == {
        ("2+2", 1): "failed",
        ("2+2", 2): "passed",
        ("2+2", 3): "failed",
    }


def test_rows_of_all_kinds(export_of: Callable[..., Any]) -> None:
    broken = {"scorer_errors": {"exact": "Traceback"}}
    loaded = export_of(
        span("a", "none", scores={}),
        span("b", "null", scores=None),
        span("c", "broken", scores=None, metadata=broken),
        span("d", "broken and wrong", scores={"polite": 0}, metadata=broken),
        span("e", "skipped", scores={"exact": None}),
        span("j", "skipped one", scores={"exact": None, "polite": 1}),
        span("f", "error", error={"name": "TimeoutError", "message": "agent timed out"}),
        span("g", {"q": "ü", "n": [1]}),
        span("h", "wrong types", scores=[1], metadata=7, metrics="x", tags={}, origin=[]),
        span("i", "dataset", origin={"object_type": "dataset", "object_id": "d1", "id": "r1"}),
    )
    assert {task: (loaded.verdicts()[task, 1], why) for (task, _), why in loaded.reasons().items()} == {
        "none": ("excluded", "no_verdict"),
        "null": ("excluded", "no_verdict"),
        "broken": ("excluded", "evaluator_error"),
        "broken and wrong": ("failed", None),
        "skipped": ("excluded", "no_verdict"),
        "skipped one": ("passed", None),
        "error": ("failed", "TimeoutError: agent timed out"),
        '{"q": "ü", "n": [1]}': ("passed", None),
        "wrong types": ("excluded", "no_verdict"),
        "dataset": ("passed", None),
    }  # fmt: skip
    assert {row["suite"] for row in loaded.attempts} == {"braintrust", "d1"}


def test_a_page_says_so(export_of: Callable[..., Any]) -> None:
    (file,) = export_of(span(), head={"cursor": "abc"}).report.files
    assert "one page of several" in file.message
    assert export_of(span(), head={"cursor": None}).report.files[0].message == ""


def test_wrong_rows_are_refused_with_a_reason(export_of: Callable[..., Any]) -> None:
    loaded = export_of(span(), span("b", None), 7, span("c", created="x"))
    assert loaded.report.rows_landed == 1
    assert [row["reason_code"] for row in loaded.rejected] == [
        "missing_field",
        "malformed_line",
        "wrong_type",
    ]
