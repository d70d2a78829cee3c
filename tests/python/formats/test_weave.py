"""W&B Weave: its own summary, trials, exceptions of the model and of scorers, expanded examples, bad files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "weave"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]["calls.jsonl"]  # fmt: skip


def test_gives_the_summary_of_the_evaluation(harness_log: Callable[..., Any]) -> None:
    rows = harness_log(FIXTURES / "calls.jsonl").attempts
    summary = SAID["summary"]
    for name, said in (
        ("correct", summary["correct"]),
        ("quality.polite", summary["quality"]["polite"]),
    ):
        true = sum((row["tags"] or {}).get(f"score.{name}") == "true" for row in rows)
        # Weave divides by all trials, those that raised included.
        assert (true, true / len(rows)) == (
            said["true_count"],
            pytest.approx(said["true_fraction"]),
        )
    found = [
        float(row["tags"]["score.quality.brevity"]) for row in rows if len(row["tags"] or {}) > 2
    ]
    assert sum(found) / len(found) == pytest.approx(
        summary["quality"]["brevity"]["mean"], rel=1e-12
    )


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / "calls.jsonl"
    task = SAID["rows"]["größte Stadt?"]
    calls = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    (line,) = [
        number
        for number, call in enumerate(calls, 1)
        if ".predict_and_score:" in call["op_name"]
        and (call["output"] or {}).get("output") == "東京"
    ]
    call = calls[line - 1]
    (row,) = [
        row for row in harness_log(path).attempts if (row["task_id"], row["attempt"]) == (task, 2)
    ]
    expected = {
        "run_id": call["parent_id"],
        "suite": "arithmetic",
        "outcome": "passed",
        "outcome_reason": None,
        "score": 1 / 3,
        "agent": "agent",
        "agent_version": call["inputs"]["model"].rpartition(":")[2],
        "model": None,
        "duration_s": 0.25,
        "cost_usd": None,
        "tags": {
            "score.correct": "true",
            "score.quality.brevity": str(1 / 3),
            "score.quality.polite": "true",
        },
        "transcript": f"{path}#L{line}",
    }
    assert {name: row[name] for name in expected} == expected
    assert row["started_at"].isoformat() + "+00:00" == call["started_at"]


def test_exceptions_are_excluded_by_their_reason(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "calls.jsonl")
    assert {key: why for key, why in loaded.reasons().items() if why} == {
        (SAID["rows"]["crash"], 2): "ConnectionError: sandbox is unavailable",
        (SAID["rows"]["judge"], 2): "evaluator_error",
    }
    (row,) = [row for row in loaded.attempts if row["outcome_reason"] == "evaluator_error"]
    assert row["tags"] == {"evaluator_error": "RuntimeError: judge gave no answer"}
    assert [row["outcome"] for row in loaded.attempts].count("excluded") == 2


def call(
    number: int = 1, example: Any = "t1", scores: Any = None, **changes: Any
) -> dict[str, Any]:
    """Make a call of predict_and_score as the server gives it."""
    made = {
        "id": f"c{number}",
        "op_name": "weave:///e/p/op/Evaluation.predict_and_score:d1",
        "trace_id": "x",
        "parent_id": "run1",
        "started_at": f"2026-11-21T10:00:{number:02d}Z",
        "ended_at": f"2026-11-21T10:01:{number:02d}Z",
        "inputs": {
            "self": "weave:///e/p/object/sums:d2",
            "model": "weave:///e/p/op/agent:d3",
            "example": f"weave:///e/p/object/Dataset:d4/attr/rows/id/{example}"
            if isinstance(example, str)
            else example,
        },
        "output": {"output": "4", "scores": {"exact": True} if scores is None else scores},
        "exception": None,
        "summary": {},
    }
    return {**made, **changes}


@pytest.fixture
def export_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load an export of these calls."""

    def loaded(*calls: Any, **options: Any) -> Any:
        path = tmp_path / "nightly.json"
        path.write_text(json.dumps(calls), "utf-8")
        return harness_log(path, **options)

    return loaded


def test_trials_are_numbered_by_their_start(export_of: Callable[..., Any]) -> None:
    loaded = export_of(
        call(3, scores={"exact": False}), call(1), call(2, scores={"exact": False}), call(4, "t2")
    )
    assert loaded.verdicts() == {
        ("t1", 1): "passed",
        ("t1", 2): "failed",
        ("t1", 3): "failed",
        ("t2", 1): "passed",
    }


def test_calls_of_all_kinds(export_of: Callable[..., Any]) -> None:
    nested = {"judge": {"match": True, "detail": {"short": False, "why": {"deep": False}}}}
    model = {"op_name": "weave:///e/p/op/agent:d3", "parent_id": "c6", "output": None}
    loaded = export_of(
        call(1, "none", {}),
        call(2, "nested", nested),
        call(3, "camel", op_name="weave:///e/p/op/Evaluation.predictAndScore:d1"),
        call(4, "old output", output={"model_output": "4", "scores": {"exact": False}}),
        call(5, {"q": "2+2"}),
        call(6, "raised", {}, output={"output": None, "scores": {"exact": {}}}),
        call(60, "not an attempt", **model, exception="TimeoutError: agent timed out\n  in x"),
        call(
            7,
            "scorer",
            {},
            output=None,
            exception="Traceback (most recent call last):\nKeyError: 1",
        ),
        call(8, "not a number", {"exact": float("nan")}),
        call(9, "wrong types", output=7, summary=[1]),
    )
    assert {task: (loaded.verdicts()[task, 1], why) for (task, _), why in loaded.reasons().items()} == {
        "none": ("excluded", "no_verdict"),
        "nested": ("failed", None),
        "camel": ("passed", None),
        "old output": ("failed", None),
        '{"q": "2+2"}': ("passed", None),
        "raised": ("failed", "TimeoutError: agent timed out"),
        "scorer": ("excluded", "evaluator_error"),
        "not a number": ("excluded", "evaluator_error"),
        "wrong types": ("excluded", "no_verdict"),
    }  # fmt: skip


def test_tokens_and_costs_of_models(export_of: Callable[..., Any]) -> None:
    costs = {"prompt_tokens_total_cost": 0.25, "completion_tokens_total_cost": 0.5}
    # Each model says it in its own words, or in both.
    usage = {
        "m1": {"prompt_tokens": 10, "completion_tokens": 2, "input_tokens": 10},
        "m2": {"input_tokens": 5, "output_tokens": 1},
    }
    both = {"usage": usage, "weave": {"costs": {"m1": costs, "m2": costs}}}
    one = {"usage": {"m1": usage["m1"]}, "weave": {"costs": {"m1": {**costs, "requests": 1}}}}
    first, second = export_of(call(1, "a", summary=both), call(2, "b", summary=one)).attempts
    names = ("model", "input_tokens", "output_tokens", "cost_usd")
    assert [first[name] for name in names] == [None, 15, 3, 1.5]
    assert [second[name] for name in names] == ["m1", 10, 2, 0.75]


def trial(call: str, scores: Any, **also: Any) -> dict[str, Any]:
    """Make a trial as /eval_results/query gives it."""
    return {
        "predict_and_score_call_id": call,
        "predict_call_id": f"p{call}",
        "model_output": {"answer": "4"},
        "scores": scores,
        "scorer_call_ids": {},
        "model_latency_seconds": 0.5,
        "total_tokens": 7,
        **also,
    }


def test_the_answer_of_the_query_for_results(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    def row(digest: str, **runs: list[dict[str, Any]]) -> dict[str, Any]:
        known = [{"evaluation_call_id": run, "trials": trials} for run, trials in runs.items()]
        return {"row_digest": digest, "evaluations": known, "raw_data_row": {"q": "2+2"}}

    good, bad = {"judge": {"match": True}}, {"judge": {"match": False}}
    rows = [
        row("d1", ev1=[trial("c1", good), trial("c2", bad)], ev2=[trial("c3", good)]),
        row("d2", ev1=[trial("c4", {}), trial("c5", good, model_latency_seconds=None)], ev2=[]),
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"rows": rows, "total_rows": 2, "summary": None}), "utf-8")
    loaded = harness_log(path)
    names = ("run_id", "suite", "task_id", "attempt", "outcome", "duration_s")
    assert [tuple(one[name] for name in names) for one in loaded.attempts] == [
        ("ev1", "weave", "d1", 1, "passed", 0.5),
        ("ev1", "weave", "d1", 2, "failed", 0.5),
        ("ev1", "weave", "d2", 1, "excluded", 0.5),
        ("ev1", "weave", "d2", 2, "passed", None),
        ("ev2", "weave", "d1", 1, "passed", 0.5),
    ]
    assert loaded.attempts[1]["transcript"] == f"{path}#/rows/0/evaluations/0/trials/1"
    # The summary tells what is evaluated.
    said = {
        "evaluation_ref": "weave:///e/p/object/sums:d2",
        "model_ref": "weave:///e/p/op/agent:d3",
    }
    rows = [row("d1", ev1=[trial("c1", good)]), row("d2", ev1=7), 7]
    path.write_text(json.dumps({"rows": rows, "summary": {"evaluations": [said]}}), "utf-8")
    loaded = harness_log(path)
    (one,) = loaded.attempts
    assert (one["suite"], one["agent"], one["agent_version"]) == ("sums", "agent", "d3")
    assert [one["reason_code"] for one in loaded.rejected] == ["malformed_line"]


def test_calls_without_an_evaluation_are_of_no_format(
    export_of: Callable[..., Any], harness_log: Callable[..., Any]
) -> None:
    (file,) = export_of(call(op_name="weave:///e/p/op/agent:d3")).report.files
    assert file.status == "failed"
    assert "no format that passk knows" in file.message


def test_wrong_rows_are_refused_with_a_reason(export_of: Callable[..., Any]) -> None:
    broken = {**call(2)["output"], "model_latency": "long"}
    loaded = export_of(
        call(), call(2, output=broken), 7, call(3, inputs=7), call(4, started_at="x")
    )
    assert loaded.report.rows_landed == 1
    assert [row["reason_code"] for row in loaded.rejected] == [
        "wrong_type",
        "malformed_line",
        "missing_field",
        "wrong_type",
    ]
