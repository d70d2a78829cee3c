"""Playwright: what it prints, repeats and retries, tests that should fail, bad reports."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "playwright"
REPORT = FIXTURES / "report.json"
STATS = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]["report.json"]["stats"]


def test_gives_the_numbers_that_playwright_prints(harness_log: Callable[..., Any]) -> None:
    # The pointer to a result tells which of them are tries of one test.
    tests: dict[str, list[str]] = defaultdict(list)
    for row in harness_log(REPORT).attempts:
        tests[row["transcript"].rpartition("/results/")[0]].append(row["outcome"])
    found = Counter(
        "skipped"
        if outcomes == ["excluded"]
        else "flaky"
        if {"passed", "failed"} <= set(outcomes)
        else {"passed": "expected", "failed": "unexpected"}[outcomes[0]]
        for outcomes in tests.values()
    )
    assert found == {name: STATS[name] for name in ("expected", "unexpected", "flaky", "skipped")}


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    (row,) = [
        row
        for row in harness_log(REPORT).attempts
        if (row["task_id"], row["attempt"]) == ("large::agent.spec.ts::agent \u203a add", 2)
    ]
    place = "suites/0/suites/0/specs/0/tests/3/results/0"
    result: Any = json.loads(REPORT.read_text("utf-8"))
    for step in place.split("/"):
        result = result[int(step)] if step.isdigit() else result[step]
    expected = {
        "run_id": "playwright",
        "suite": "playwright",
        "outcome": "passed",
        "outcome_reason": None,
        "duration_s": result["duration"] / 1000,
        "tags": {"difficulty": "easy", "project": "large", "tags": "smoke"},
        "transcript": f"{REPORT}#/{place}",
    }
    assert {name: row[name] for name in expected} == expected
    assert f"{row['started_at'].isoformat(timespec='milliseconds')}Z" == result["startTime"]


def test_retries_are_attempts_and_say_so(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(REPORT)
    task = "small::agent.spec.ts::agent \u203a with tools \u203a slow"
    rows = [row for row in loaded.attempts if row["task_id"] == task]
    assert [(row["outcome"], row["outcome_reason"], row["tags"].get("reruns")) for row in rows] == [
        ("failed", "timeout", "1"),
        ("passed", None, "1"),
        ("passed", None, None),
    ]
    assert {row["expected_attempts"] for row in loaded.expected} == {2}


def test_the_tasks_are_those_of_the_junit_report(harness_log: Callable[..., Any]) -> None:
    junit = harness_log(FIXTURES.parent / "junit" / "playwright" / "junit.xml").counts()
    names = {"small::agent.spec.ts::agent \u203a add", "large::agent.spec.ts::agent \u203a add"}
    assert names <= set(junit)
    assert names <= set(harness_log(REPORT).counts())


def result(status: str | None = "passed", **changes: Any) -> dict[str, Any]:
    """Make a result."""
    return {"status": status, "duration": 250, "retry": 0, **changes}


@pytest.fixture
def report_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load a report of one test with these results."""

    def loaded(*results: Any, head: Any = None, suites: Any = None, **changes: Any) -> Any:
        test = {"expectedStatus": "passed", "projectName": "", "results": results, **changes}
        file = {"title": "a.spec.ts", "file": "a.spec.ts", "specs": [{"title": "add", "tests": [test]}]}  # fmt: skip
        path = tmp_path / "nightly.json"
        report: dict[str, Any] = {"config": {}, "suites": [file] if suites is None else suites, "errors": [], "stats": {}}  # fmt: skip
        path.write_text(json.dumps({**report, **(head or {})}), "utf-8")
        return harness_log(path)

    return loaded


def test_without_projects_the_file_and_the_titles_name_a_task(
    report_of: Callable[..., Any],
) -> None:
    assert report_of(result()).verdicts() == {("a.spec.ts::add", 1): "passed"}


def test_a_test_that_should_fail_passes_if_it_fails(report_of: Callable[..., Any]) -> None:
    fails = report_of(result("failed"), expectedStatus="failed")
    assert fails.verdicts() == {("a.spec.ts::add", 1): "passed"}
    # Its retry says nothing new.
    passes = report_of(result(), result(retry=1), expectedStatus="failed")
    assert passes.verdicts() == {("a.spec.ts::add", 1): "failed"}


def test_results_without_times_are_numbered_as_they_stand(report_of: Callable[..., Any]) -> None:
    loaded = report_of(result("timedOut"), result("interrupted"), result(startTime=None))
    assert loaded.verdicts() == {
        ("a.spec.ts::add", 1): "failed",
        ("a.spec.ts::add", 2): "excluded",
        ("a.spec.ts::add", 3): "passed",
    }
    assert loaded.reasons()["a.spec.ts::add", 2] == "interrupted"


def test_errors_outside_of_the_tests_are_said(report_of: Callable[..., Any]) -> None:
    errors = {"errors": [{"message": "Error: port 80 is in use\n at x"}]}
    (landed,) = report_of(result(), head=errors).report.files
    assert "port 80 is in use" in landed.message
    (refused,) = report_of(head=errors, suites=[]).report.files
    assert refused.status == "failed"
    assert "no tests, because Playwright failed: Error: port 80 is in use" in refused.message
    assert "run them again" in refused.hint


def test_a_status_that_is_unknown_is_rejected(report_of: Callable[..., Any]) -> None:
    loaded = report_of(result(), result("maybe"), result(None), 7, result(duration="long"))
    assert loaded.report.rows_landed == 2
    assert [row["reason_code"] for row in loaded.rejected] == ["unknown_outcome"] * 2


def test_wrong_types_are_refused_with_a_reason(report_of: Callable[..., Any]) -> None:
    good = {
        "title": "a",
        "file": "a",
        "specs": [{"title": "b", "tests": [{"results": [result()]}]}],
    }
    loaded = report_of(
        suites=[
            good,
            7,
            {"title": "b", "specs": 7, "suites": {"a": 1}},
            {"title": "c", "specs": [7, {"tests": 7}, {"tests": [7, {"results": 7}]}]},
            {"title": "d", "specs": [{"title": "e", "tests": [{"results": [result(startTime=[])]}]}]},
        ],
        head={"config": {"projects": [7, {"repeatEach": "x"}]}, "errors": 7},
    )  # fmt: skip
    assert loaded.verdicts() == {("a::b", 1): "passed"}
    assert [row["reason_code"] for row in loaded.rejected] == ["malformed_line", "wrong_type"]


def test_of_a_report_that_is_cut_off_the_files_before_land(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    data = json.loads(REPORT.read_text("utf-8"))
    data["suites"] = [{**data["suites"][0], "title": f"{name}.spec.ts"} for name in "ab"]
    text = json.dumps(data)
    path = tmp_path / "cut.json"
    path.write_text(text[: text.index("b.spec.ts") + 60], "utf-8")
    loaded = harness_log(path)
    assert {task.split("::")[1] for task in loaded.counts()} == {"a.spec.ts"}
    assert [row["reason_code"] for row in loaded.rejected] == ["truncated"]
