"""CTRF: the summaries of two reporters, retries, repeats, times, names, bad reports."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "ctrf"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]


def last_tries(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give the last try of each test: all tries of one have its pointer."""
    return list({row["transcript"]: row for row in rows}.values())


def test_gives_the_summary_of_pytest(harness_log: Callable[..., Any]) -> None:
    rows = last_tries(harness_log(FIXTURES / "pytest.json").attempts)
    summary = SAID["pytest.json"]["summary"]
    found = Counter(row["outcome"] for row in rows)
    broken = [row for row in rows if row["outcome_reason"] == "setup_failed"]
    skipped = [row for row in rows if row["outcome_reason"] == "skipped"]
    assert found["passed"] == summary["passed"]
    # CTRF counts a fixture that broke as a failure of the test.
    assert found["failed"] + len(broken) == summary["failed"]
    assert len(broken) == 3
    assert len(skipped) == summary["skipped"]
    assert len(rows) == summary["tests"]


def test_gives_the_summary_of_playwright(harness_log: Callable[..., Any]) -> None:
    rows = last_tries(harness_log(FIXTURES / "playwright.json").attempts)
    summary = SAID["playwright.json"]["summary"]
    found = Counter(row["outcome"] for row in rows)
    # The summary counts a test that failed as it should as failed, though its status is passed.
    assert found["passed"] == summary["passed"] + 1
    assert found["failed"] == summary["failed"] - 1
    assert found["excluded"] == summary["skipped"]
    assert len(rows) == summary["tests"]


def test_an_attempt_spelled_out(harness_log: Callable[..., Any]) -> None:
    path = FIXTURES / "pytest.json"
    tests = json.loads(path.read_text("utf-8"))["results"]["tests"]
    (place,) = [n for n, one in enumerate(tests) if one["name"].endswith("test_flaky[2-3]")]
    rows = [row for row in harness_log(path).attempts if row["task_id"].endswith("test_flaky")]
    row, attempt = rows[2], tests[place]["retryAttempts"][0]
    expected = {
        "run_id": "pytest",
        "suite": "agent",
        "agent_version": "1.4",
        "attempt": 3,
        "outcome": "failed",
        "outcome_reason": None,
        "duration_s": attempt["duration"] / 1000,
        "tags": {"reruns": "1", "tags": "flaky::reruns_2", "tool": "pytest"},
        "transcript": f"{path}#/results/tests/{place}",
    }
    assert {name: row[name] for name in expected} == expected
    assert row["started_at"] < rows[3]["started_at"] < rows[4]["started_at"]


def test_repeats_are_expected_and_times_come_from_the_log(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "pytest.json")
    assert {row["expected_attempts"] for row in loaded.expected} == {3}
    slow = [row for row in loaded.attempts if row["task_id"].endswith("test_slow")]
    assert {(row["outcome"], row["outcome_reason"]) for row in slow} == {("failed", "timeout")}
    # Playwright's reporter does not say when the earlier tries began.
    other = harness_log(FIXTURES / "playwright.json").attempts
    assert {row["started_at"] for row in other} == {None}


def case(name: str | None = "add", status: Any = "passed", **changes: Any) -> dict[str, Any]:
    """Make a test."""
    return {"name": name, "status": status, "duration": 250, **changes}


@pytest.fixture
def report_of(tmp_path: Path, harness_log: Callable[..., Any]) -> Callable[..., Any]:
    """Load a report of these tests."""

    def loaded(*tests: Any, head: Any = None, **results: Any) -> Any:
        path = tmp_path / "nightly.json"
        said = {"tool": {"name": "jest"}, "summary": {}, "tests": tests, **results}
        report = {"reportFormat": "CTRF", "specVersion": "1.0.0", "results": said}
        path.write_text(json.dumps({**report, **(head or {})}), "utf-8")
        return harness_log(path)

    return loaded


def test_parameters_that_are_numbers_are_no_repeats(report_of: Callable[..., Any]) -> None:
    names = [f"t.py::{name}" for name in ("add[1-2]", "add[2-3]", "mul[1-2]", "mul[2-2]")]
    loaded = report_of(*map(case, names))
    assert set(loaded.verdicts()) == {
        (names[0], 1),
        (names[1], 1),
        ("t.py::mul", 1),
        ("t.py::mul", 2),
    }
    assert {row["task_id"]: row["expected_attempts"] for row in loaded.expected} == {"t.py::mul": 2}
    said = f"tasks of their own: {names[0]}, {names[1]}."
    assert said in loaded.report.files[0].message


def test_the_suite_and_the_name_are_the_task(report_of: Callable[..., Any]) -> None:
    loaded = report_of(
        case(suite=["a.ts", "sums"]),
        case(suite="a.ts > sums"),
        case(filePath="b.ts"),
        case(),
        case("t.py::test[1-2]", suite=["t.py"]),
        case("t.py::test[2-2]", suite=["t.py"]),
        case("sums[1-2]"),
        case("sums[2-2]"),
    )
    assert loaded.counts() == {
        "a.ts > sums > add": (2, 2),
        "b.ts > add": (1, 1),
        "add": (1, 1),
        "t.py::test": (2, 2),
        # A name without a file is not pytest's.
        "sums[1-2]": (1, 1),
        "sums[2-2]": (1, 1),
    }


def test_retries_that_are_only_counted_are_one_attempt(report_of: Callable[..., Any]) -> None:
    (row,) = report_of(case(retries=2)).attempts
    assert (row["outcome"], row["tags"]["reruns"]) == ("passed", "2")


@pytest.mark.parametrize("start", [1795825681, 1795825681000, "1795825681000"])
def test_starts_may_be_in_seconds(start: Any, report_of: Callable[..., Any]) -> None:
    (row,) = report_of(case(start=start)).attempts
    assert row["started_at"].isoformat() == "2026-11-28T00:28:01"


def test_a_timeout_is_found_in_a_long_message(report_of: Callable[..., Any]) -> None:
    message = f"expected {'x' * 230}, but the call timed out"
    (row,) = report_of(case(status="failed", message=message)).attempts
    assert (row["outcome"], row["outcome_reason"]) == ("failed", "timeout")


def test_reports_of_the_first_versions_have_results_only(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "old.json"
    results = {"tool": {"name": "cypress"}, "summary": {"tests": 1}, "tests": [case()]}
    path.write_text(json.dumps({"results": results}), "utf-8")
    assert [row["tags"] for row in harness_log(path).attempts] == [{"tool": "cypress"}]


def test_shards_of_one_run_have_its_id(report_of: Callable[..., Any]) -> None:
    assert {row["run_id"] for row in report_of(case(), head={"runId": "ci-7"}).attempts} == {"ci-7"}


def test_wrong_types_are_refused_with_a_reason(report_of: Callable[..., Any]) -> None:
    loaded = report_of(
        case(),
        case(None),
        case(status="flaky"),
        case(status=["passed"]),
        case(duration=-5),
        case(retries="x", retryAttempts=[7, {"status": "failed", "start": "soon"}], labels=[1]),
        7,
        tool=7,
        environment=[1],
    )
    assert loaded.report.rows_landed == 3
    assert Counter(row["reason_code"] for row in loaded.rejected) == {
        "missing_field": 1,
        "unknown_outcome": 2,
        "out_of_range": 1,
        "malformed_line": 1,
    }


def test_of_a_report_that_is_cut_off_the_tests_before_land(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    whole = (FIXTURES / "pytest.json").read_bytes()
    path = tmp_path / "cut.json"
    path.write_bytes(whole[: whole.index(b"test_add[3-3]") + 30])
    loaded = harness_log(path)
    assert loaded.report.rows_landed == 2
    assert [row["reason_code"] for row in loaded.rejected] == ["truncated"]


def test_a_report_without_tests_has_no_rows(report_of: Callable[..., Any]) -> None:
    (report,) = report_of().report.files
    assert report.status == "failed"
    assert "no rows" in report.message


def test_jests_own_json_is_no_log(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    test = {"fullName": "s ok", "status": "passed", "title": "ok", "invocations": 2}
    results = [{"name": "/app/a.test.js", "status": "passed", "assertionResults": [test]}]
    path = tmp_path / "jest.json"
    path.write_text(json.dumps({"numTotalTests": 1, "testResults": results}), "utf-8")
    (file,) = harness_log(path).report.files
    assert file.status == "failed"
    assert "is Jest's or Vitest's own JSON" in file.message
    assert "jest-ctrf-json-reporter" in file.hint
