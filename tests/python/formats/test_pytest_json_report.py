"""pytest-json-report: its own summary, repeats, reruns, errors around a test, bad tests."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "pytest_json_report"
SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]["report.json"]  # fmt: skip


def test_gives_the_summary_of_the_report(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "report.json")
    said = SAID["summary"]
    assert Counter(row["outcome"] for row in loaded.attempts) == {
        # Tests that were tried again passed at last.
        "passed": said["passed"] + said["rerun"],
        "failed": said["failed"],
        "excluded": said["skipped"] + said["xfailed"] + said["error"],
    }
    verdicts = {(one["task_id"], one["attempt"]): one["passed"] for one in SAID["attempts"]}
    assert loaded.verdicts() == {
        key: {True: "passed", False: "failed", None: "excluded"}[one]
        for key, one in verdicts.items()
    }
    assert {why for why in loaded.reasons().values() if why} == {
        "RuntimeError: the sandbox died",
        "skipped",
        "timeout",
        "xfailed",
    }
    assert {row["expected_attempts"] for row in loaded.expected} == {3}


def test_parameters_that_are_numbers_are_no_repeats(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    names = ["add[1-2]", "add[2-3]", "add[2-2]", "mul[1-2]", "mul[2-2]", "once[1-1]", "half[2-3]"]
    tests = [{"nodeid": f"t::{name}", "outcome": "passed"} for name in names]
    path = tmp_path / "nightly.json"
    path.write_text(json.dumps({"exitcode": 0, "summary": {"total": 7}, "tests": tests}), "utf-8")
    loaded = harness_log(path)
    assert set(loaded.verdicts()) == {
        *((f"t::{name}", 1) for name in (*names[:3], *names[5:])),
        ("t::mul", 1),
        ("t::mul", 2),
    }
    assert [(row["task_id"], row["expected_attempts"]) for row in loaded.expected] == [
        ("t::mul", 2)
    ]
    said = "tasks of their own: t::add[1-2], t::add[2-3], t::add[2-2]."
    assert said in loaded.report.files[0].message


def test_what_went_wrong_around_a_test(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    good = {"duration": 0.25, "outcome": "passed"}
    bad = {"duration": 0.25, "outcome": "failed"}
    tests = [
        {"nodeid": "t::after", "outcome": "error", "setup": good, "call": good, "teardown": bad},
        {"nodeid": "t::before", "outcome": "error", "setup": bad, "teardown": good},
        {"nodeid": "t::again", "outcome": "rerun", "setup": good, "call": bad, "teardown": good},
        {"nodeid": "t::strict", "outcome": "xpassed", "call": good},
        {"nodeid": "t::odd", "outcome": "perhaps"},
        {"outcome": "passed"},
        {"nodeid": "t::unsaid", "call": good},
    ]
    path = tmp_path / "nightly.json"
    path.write_text(json.dumps({"exitcode": 1, "summary": {"total": 7}, "tests": tests}), "utf-8")
    loaded = harness_log(path)
    assert loaded.verdicts() == {
        ("t::after", 1): "passed",
        ("t::before", 1): "excluded",
        ("t::again", 1): "failed",
        ("t::strict", 1): "passed",
    }
    assert loaded.reasons()["t::before", 1] == "error"
    seconds = {row["task_id"]: row["duration_s"] for row in loaded.attempts}
    assert seconds == {"t::after": 0.75, "t::before": 0.5, "t::again": 0.75, "t::strict": 0.25}
    codes = [row["reason_code"] for row in loaded.rejected]
    assert codes == ["unknown_outcome", "missing_field", "missing_field"]
