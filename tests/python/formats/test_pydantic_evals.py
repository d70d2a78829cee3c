"""Pydantic Evals: its own averages, repeats, failures, evaluators that raise, scores, bad files."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "pydantic_evals"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]


def averages(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Compute the averages that the tool prints: means over the groups of the tries that ran."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        # A try whose task raised has no duration.
        if row["duration_s"] is not None:
            groups[row["task_id"]].append(row)
    found: dict[str, list[float]] = defaultdict(list)
    for group in groups.values():
        held = [
            value == "true"
            for row in group
            for name, value in row["tags"].items()
            if name.startswith("assertion.")
        ]
        if held:
            found["assertions"].append(mean(held))
        for column in ("cost_usd", "input_tokens", "output_tokens", "duration_s"):
            found[column].append(mean(row[column] for row in group))
        for name in {name for row in group for name in row["tags"] if name.startswith("score.")}:
            found[name].append(
                mean(float(row["tags"][name]) for row in group if name in row["tags"])
            )
    return {name: mean(values) for name, values in found.items()}


@pytest.mark.parametrize("file", SAID)
def test_gives_the_averages_that_the_tool_prints(
    file: str, harness_log: Callable[..., Any]
) -> None:
    found = averages(harness_log(FIXTURES / file).attempts)
    said = SAID[file]["averages"]
    held = said["assertions"]
    assert found.get("assertions") == (held and pytest.approx(held, rel=1e-12))
    assert found["duration_s"] == pytest.approx(said["task_duration"], rel=1e-12)
    assert found["cost_usd"] == pytest.approx(said["metrics"]["cost"], rel=1e-12)
    assert found["input_tokens"] == pytest.approx(said["metrics"]["input_tokens"], rel=1e-12)
    assert found["output_tokens"] == pytest.approx(said["metrics"]["output_tokens"], rel=1e-12)
    for name, value in said["scores"].items():
        assert found[f"score.{name}"] == pytest.approx(value, rel=1e-12)


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / "repeats.json"
    cases = json.loads(path.read_text("utf-8"))["cases"]
    (place,) = [n for n, case in enumerate(cases) if case["name"] == "task größte Stadt? [2/4]"]
    (row,) = [
        row
        for row in harness_log(path).attempts
        if (row["task_id"], row["attempt"]) == ("task größte Stadt?", 2)
    ]
    expected = {
        "run_id": "repeats",
        "suite": "arithmetic",
        "outcome": "passed",
        "outcome_reason": None,
        "score": 1 / 3,
        "agent": "agent",
        "model": "mock-2",
        "duration_s": cases[place]["task_duration"],
        "cost_usd": 0.25,
        "input_tokens": 102,
        "output_tokens": 7,
        "tags": {
            "assertion.Exact": "true",
            "assertion.short": "true",
            "difficulty": "easy",
            "label.kind": "text",
            "score.brevity": str(1 / 3),
            "tool": "search",
        },
        "transcript": f"{path}#/cases/{place}",
    }
    assert {name: row[name] for name in expected} == expected


def test_failures_count_by_their_reason(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "repeats.json")
    found = {key: (loaded.verdicts()[key], why) for key, why in loaded.reasons().items() if why}
    assert found == {
        ("task crash", 2): ("excluded", "ConnectionError: sandbox is unavailable"),
        ("task crash", 3): ("failed", "TimeoutError: agent timed out after 5 s"),
        ("task judge", 2): ("excluded", "evaluator_error"),
    }
    (judged,) = [row for row in loaded.attempts if row["outcome_reason"] == "evaluator_error"]
    assert judged["tags"]["evaluator_error"] == "RuntimeError: judge gave no answer"
    assert {row["expected_attempts"] for row in loaded.expected} == {4}


def test_scores_decide_with_the_threshold(harness_log: Callable[..., Any]) -> None:
    rows = harness_log(FIXTURES / "scores.json", score_threshold=0.5).attempts
    # The lowest of the two scores is 0 if the answer is wrong, and 0.5 if it is right.
    assert {row["task_id"]: row["outcome"] for row in rows} == {
        "task 2+2": "passed",
        "Case 2": "failed",
        "task größte Stadt?": "failed",
    }
    assert {row["agent"] for row in rows} == {"agent-7"}


def test_scores_above_one_need_a_threshold(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "graded.json")
    assert loaded.attempts == []
    assert [row["reason_code"] for row in loaded.rejected] == ["no_verdict"] * 3
    assert "--score-threshold" in loaded.rejected[0]["reason"]
    rows = harness_log(FIXTURES / "graded.json", score_threshold=5.0).attempts
    assert sorted(row["outcome"] for row in rows) == ["failed", "failed", "passed"]


def case(name: str | None = "a", **changes: Any) -> dict[str, Any]:
    """Make a case as the tool writes it."""
    made = {
        "name": name,
        "inputs": "2+2",
        "metadata": None,
        "expected_output": None,
        "output": "4",
        "metrics": {},
        "attributes": {},
        "scores": {},
        "labels": {},
        "assertions": {"exact": {"name": "exact", "value": True}},
        "task_duration": 0.5,
        "total_duration": 0.6,
    }
    return {**made, **changes}


@pytest.fixture
def report_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load a report of these cases."""

    def loaded(*cases: Any, **head: Any) -> Any:
        path = tmp_path / "nightly.json"
        path.write_text(json.dumps({"name": "agent", "cases": cases, **head}), "utf-8")
        return harness_log(path)

    return loaded


def holds(**values: Any) -> dict[str, Any]:
    return {name: {"name": name, "value": value} for name, value in values.items()}


def test_all_assertions_have_to_hold(report_of: Callable[..., Any]) -> None:
    broken = [{"name": "judge", "error_message": "RuntimeError: died\nin line 3"}]
    loaded = report_of(
        case("all", assertions=holds(a=True, b=True)),
        case("one", assertions=holds(a=True, b=False)),
        case("none", assertions={}),
        case("broken", evaluator_failures=broken),
        case("broken and wrong", assertions=holds(a=False), evaluator_failures=broken),
        case("no assertion", assertions=holds(a=True, b=None)),
        case("no flag", assertions=holds(a=0)),
    )
    assert {task: (loaded.verdicts()[task, 1], why) for (task, _), why in loaded.reasons().items()} == {
        "all": ("passed", None),
        "one": ("failed", None),
        "none": ("excluded", "no_verdict"),
        "broken": ("excluded", "evaluator_error"),
        "broken and wrong": ("failed", None),
        "no assertion": ("excluded", "no_verdict"),
        "no flag": ("excluded", "no_verdict"),
    }  # fmt: skip


def test_a_score_is_no_assertion_whatever_its_values(report_of: Callable[..., Any]) -> None:
    loaded = report_of(
        case("wrong", scores=holds(likeness=0), assertions=holds(a=True)),
        case("its own evaluators", scores=holds(likeness=1, effort=0.5), assertions={}),
        case("right", scores=holds(likeness=1), assertions={}),
    )
    assert loaded.verdicts() == {
        ("wrong", 1): "passed",
        ("its own evaluators", 1): "failed",
        ("right", 1): "passed",
    }


def test_reports_of_versions_without_repeats(report_of: Callable[..., Any]) -> None:
    # They have no failures, and a name that looks like a repeat is a name.
    loaded = report_of(case("a [1/2]"), case("a [2/2]"))
    assert loaded.verdicts() == {("a [1/2]", 1): "passed", ("a [2/2]", 1): "passed"}
    assert loaded.expected == []
    assert {row["suite"] for row in loaded.attempts} == {"pydantic-evals"}


def test_a_report_of_failures_only(report_of: Callable[..., Any]) -> None:
    failure = {
        "name": "a [1/2]",
        "source_case_name": "a",
        "inputs": 1,
        "error_message": "",
        "error_stacktrace": "",
    }
    loaded = report_of(failures=[failure, {**failure, "name": "a [2/2]", "error_message": None}])
    assert loaded.reasons() == {("a", 1): "error", ("a", 2): "no_verdict"}


def test_wrong_types_are_refused_with_a_reason(report_of: Callable[..., Any]) -> None:
    loaded = report_of(
        case(),
        case(name=None),
        case("b", task_duration="long"),
        case("c", metrics={"input_tokens": -1}),
        case("d", metrics=7, attributes=[1], scores="x", labels=[], evaluator_failures=[7]),
        [],
        experiment_metadata=["x"],
        dataset_name=7,
    )
    assert loaded.report.rows_landed == 2
    assert [row["reason_code"] for row in loaded.rejected] == [
        "missing_field",
        "wrong_type",
        "out_of_range",
        "malformed_line",
    ]


def test_of_a_file_that_is_cut_off_the_cases_before_land(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    whole = (FIXTURES / "repeats.json").read_bytes()
    path = tmp_path / "repeats.json"
    path.write_bytes(whole[: whole.index(b'"name": "task 2+2 [3/4]"') + 40])
    loaded = harness_log(path)
    assert loaded.report.rows_landed == 2
    assert [row["reason_code"] for row in loaded.rejected] == ["truncated"]
    # In the second list, only what is left of it is missing.
    path.write_bytes(whole[: whole.index(b"agent timed out")])
    loaded = harness_log(path)
    assert loaded.report.rows_landed == 19
    assert [row["reason_code"] for row in loaded.rejected] == ["truncated"]


def test_a_report_without_cases_has_no_rows(report_of: Callable[..., Any]) -> None:
    (report,) = report_of(failures=[], experiment_metadata=None).report.files
    assert report.status == "failed"
    assert "no rows" in report.message
