"""JUnit XML: each time that a test was run is an attempt, with the runner's own verdict."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.ingest.formats.policy import policy_from

from .junit_cases import EXPECTED, FIXTURES, SUREFIRE, case

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    "name", ["repeat.xml", "reruns.xml", "single.xml", "runs/run-1.xml", "runs/run-2.xml"]
)
def test_the_counts_that_pytest_printed_follow_from_what_landed(
    name: str, harness_log: Callable[..., Any]
) -> None:
    rows = harness_log(FIXTURES / name).attempts
    printed = EXPECTED[name]["printed"]
    found = Counter(row["outcome"] for row in rows)
    reasons = Counter(row["outcome_reason"] for row in rows)
    # A test that passed although it was expected to fail is counted apart.
    assert found["passed"] == printed.get("passed", 0) + printed.get("xpassed", 0)
    assert found["failed"] == printed.get("failed", 0)
    assert reasons["skipped"] == printed.get("skipped", 0)
    assert reasons["xfailed"] == printed.get("xfailed", 0)
    assert reasons["setup"] + reasons["teardown"] == printed.get("errors", 0)
    reruns = sum(int((row["tags"] or {}).get("reruns", 0)) for row in rows)
    assert reruns == printed.get("rerun", 0)


def test_the_counts_that_jest_printed_follow_from_what_landed(
    harness_log: Callable[..., Any],
) -> None:
    found = Counter(row["outcome"] for row in harness_log(FIXTURES / "jest/junit.xml").attempts)
    printed = EXPECTED["jest/junit.xml"]["printed"]
    assert found["failed"] == printed["numFailedTests"]
    assert found["excluded"] == printed["numPendingTests"]
    # jest-junit writes a todo as a test that passed.
    assert found["passed"] == printed["numPassedTests"] + printed["numTodoTests"]


def test_the_counts_that_playwright_printed_follow_from_what_landed(
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(FIXTURES / "playwright/junit.xml")
    said = {
        (one["task_id"], one["attempt"]): {True: "passed", False: "failed", None: "excluded"}[
            one["passed"]
        ]
        for one in EXPECTED["playwright/junit.xml"]["attempts"]
    }
    assert loaded.verdicts() == said
    printed = EXPECTED["playwright/junit.xml"]["printed"]
    found = Counter(row["outcome"] for row in loaded.attempts)
    # A flaky test passed in the end.
    assert found["passed"] == printed["expected"] + printed["flaky"]
    assert found["excluded"] == printed["skipped"]
    # Each of two repeats of two projects ran out of time, and so did its retry.
    assert Counter(loaded.reasons().values())["timeout"] == 8
    assert {row["model"] for row in loaded.attempts if "flaky" in row["task_id"]} == {"mock-1"}


def test_a_test_of_two_projects_of_playwright_is_two_tasks(
    harness_log: Callable[..., Any],
) -> None:
    counts = harness_log(FIXTURES / "playwright/junit.xml").counts()
    assert counts["small::agent.spec.ts::agent \u203a add"] == (3, 1)
    assert counts["large::agent.spec.ts::agent \u203a add"] == (2, 2)


def test_pass_at_k_of_repeats_is_that_of_the_runners_own_verdicts(
    harness_log: Callable[..., Any],
) -> None:
    def rates(verdicts: dict[str, list[bool]], k: int) -> dict[str, Fraction]:
        return {
            task: 1 - Fraction(comb(passed.count(False), k), comb(len(passed), k))
            for task, passed in verdicts.items()
            if len(passed) >= k
        }

    said: dict[str, list[bool]] = {}
    for one in EXPECTED["repeat.xml"]["attempts"]:
        if one["passed"] is not None:
            said.setdefault(one["task_id"], []).append(one["passed"])
    landed = harness_log(FIXTURES / "repeat.xml").counts()
    found = {task: [True] * c + [False] * (n - c) for task, (n, c) in landed.items()}
    assert rates(found, 2) == rates(said, 2)
    assert rates(found, 2)["test_agent::test_agent[translate]"] == Fraction(5, 6)


def test_a_test_becomes_a_row_with_all_that_it_says(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / "repeat.xml")
    (row,) = (
        row
        for row in loaded.attempts
        if (row["task_id"], row["attempt"]) == ("test_agent::test_agent[slow]", 2)
    )
    del row["loaded_at"], row["source_line"]
    unknown = ("score", "agent", "agent_version", "seed", "cost_usd", "input_tokens")
    unknown += ("output_tokens", "output_hash", "transcript")
    assert row == dict.fromkeys(unknown) | {
        "run_id": "repeat",
        "suite": "junit",
        "task_id": "test_agent::test_agent[slow]",
        "attempt": 2,
        "outcome": "failed",
        "outcome_reason": "timeout",
        "model": "mock-1",
        "started_at": dt.datetime(2026, 11, 21, 16, 28, 21, 555696),
        "duration_s": 0.501,
        "tags": row["tags"],
        "source_file": str(FIXTURES / "repeat.xml"),
        "source_format": "junit",
    }
    assert row["tags"].keys() == {"score"}


def test_errors_and_skipped_tests_are_excluded_and_a_tear_down_changes_no_verdict(
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(FIXTURES / "repeat.xml")
    sandbox = "test_agent::test_sandbox"
    found = [(loaded.verdicts()[sandbox, n], loaded.reasons()[sandbox, n]) for n in range(1, 5)]
    assert found == [
        ("passed", None),
        ("excluded", "setup"),
        ("passed", "teardown"),
        ("failed", "teardown"),
    ]
    assert loaded.reasons()["test_agent.TestMore::test_skip", 3] == "skipped"
    assert loaded.verdicts()["test_agent.TestMore::test_skip", 3] == "excluded"
    assert loaded.verdicts()["test_agent.TestMore::test_known", 3] == "passed"


def test_policy_changes_errors_and_nothing_that_was_graded(
    harness_log: Callable[..., Any],
) -> None:
    before = harness_log(FIXTURES / "repeat.xml").verdicts()
    policy = policy_from(["setup=failed", "timeout=excluded", "teardown=excluded"])
    after = harness_log(FIXTURES / "repeat.xml", policy=policy).verdicts()
    changed = {key: verdict for key, verdict in after.items() if verdict != before[key]}
    assert changed == {("test_agent::test_sandbox", 2): "failed"}


def test_surefires_tries_are_attempts_and_its_timeouts_fail(
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(FIXTURES / SUREFIRE)
    found = {
        task: [
            (row["outcome"], row["outcome_reason"], row["duration_s"])
            for row in loaded.attempts
            if row["task_id"] == f"org.example.AgentTest::{task}"
        ]
        for task in ("steady", "flakyTwice", "broken")
    }
    late = "java.util.concurrent.TimeoutException"
    # The time of a test of several tries is that of one of them.
    assert found == {
        "steady": [("passed", None, 0.012)],
        "flakyTwice": [
            ("excluded", "java.net.ConnectException", None),
            ("failed", None, None),
            ("passed", None, None),
        ],
        "broken": [("failed", None, None), ("failed", late, None), ("failed", None, None)],
    }


def test_tries_of_pytest_are_one_attempt(harness_log: Callable[..., Any]) -> None:
    rows = harness_log(FIXTURES / "reruns.xml").attempts
    assert {(row["task_id"], row["attempt"]): row["tags"] for row in rows} == {
        (f"test_agent::test_rerun[{task}]", attempt): {"reruns": "2"} if tries else None
        for task, tries in (("steady", 0), ("flaky", 2), ("broken", 2))
        for attempt in (1, 2)
    }


def test_tries_of_pytest_that_others_came_between_are_one_attempt(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    # As with pytest-xdist, whose workers write in turn.
    wrong = '<failure message="no"/>'
    path = report(
        case("a") + case("b") + case("a") + case("b") + case("a", wrong), suite='name="pytest"'
    )
    loaded = harness_log(path)
    assert loaded.verdicts() == {("c::a", 1): "failed", ("c::b", 1): "passed"}


def test_pytest_is_told_by_its_suite_where_that_has_a_name_of_its_own(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    """Before 8.4 the root had no name, and junit_suite_name may be anything."""
    log = tmp_path / "log.xml"
    log.write_text(
        '<testsuites><testsuite name="helpdesk" errors="1" failures="1" skipped="0" tests="6" time="1" '
        'timestamp="2026-11-01T10:00:00" hostname="h">'
        '<testcase classname="t" name="down" time="0.1"><failure message="assert 0"/></testcase>'
        '<testcase classname="t" name="down" time="0.1">'
        '<error message="failed on teardown with &quot;RuntimeError&quot;"/></testcase>'
        '<testcase classname="t" name="flaky" time="0.1"/><testcase classname="t" name="flaky" time="0.1"/>'
        '<testcase classname="t" name="ok[1-2]" time="0.1"/><testcase classname="t" name="ok[2-2]" time="0.1"/>'
        "</testsuite></testsuites>"
    )
    loaded = harness_log(log)
    assert loaded.verdicts() == {
        ("t::down", 1): "failed",
        ("t::flaky", 1): "passed",
        ("t::ok", 1): "passed",
        ("t::ok", 2): "passed",
    }


def test_errors_that_are_timeouts_fail_whatever_their_type_is(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    log = tmp_path / "log.xml"
    errors = {
        "junit4": (
            "test timed out after 100 milliseconds",
            "org.junit.runners.model.TestTimedOutException",
        ),
        "playwright": ("Test timeout of 30000ms exceeded.", "Error"),
        "plain": ("Exceeded timeout of 5000 ms", "Exception"),
        "read": ("test timed out", "ReadTimeout"),
        "lost": ("Request to a model exceeded timeout of 30 s", "openai.APIConnectionError"),
        "sandbox": ("the test timed out: no container", "docker.errors.APIError"),
        "other": ("boom", "KeyError"),
    }
    cases = "".join(
        f'<testcase classname="c" name="{name}"><error message="{message}" type="{type_}"/></testcase>'
        for name, (message, type_) in errors.items()
    )
    log.write_text(f'<testsuite name="s">{cases}</testsuite>')
    loaded = harness_log(log)
    assert {row["task_id"]: (row["outcome"], row["outcome_reason"]) for row in loaded.attempts} == {
        "c::junit4": ("failed", "timeout"),
        "c::playwright": ("failed", "timeout"),
        "c::plain": ("failed", "timeout"),
        "c::read": ("excluded", "ReadTimeout"),
        "c::lost": ("excluded", "openai.APIConnectionError"),
        "c::sandbox": ("excluded", "docker.errors.APIError"),
        "c::other": ("excluded", "KeyError"),
    }


@pytest.mark.parametrize(
    ("inside", "more", "outcome", "reason"),
    [
        ("<failure/><failure/>", {}, "failed", None),
        ("<error/><failure/>", {}, "failed", None),
        ('<error type="api.RateLimitError"/>', {}, "excluded", "api.RateLimitError"),
        ('<error message="test timed out after 5 s"/>', {}, "failed", "timeout"),
        ("<failure>Exceeded timeout of 5 s</failure>", {}, "failed", "timeout"),
        ('<failure message="timeout is 5, not 6"/>', {}, "failed", None),
        ('<error message="collection failure"/>', {}, "excluded", "collection"),
        ("<error/>", {}, "excluded", "error"),
        ("<skipped/>", {}, "excluded", "skipped"),
        ("", {"status": "notrun"}, "excluded", "skipped"),
        ("", {"status": "run", "result": "completed"}, "passed", None),
        ("<rerunFailure/>", {"status": "run"}, "passed", None),
        ("<other/>text", {}, "passed", None),
    ],
)
def test_a_test_counts_as_its_runner_says(
    inside: str,
    more: dict[str, str],
    outcome: str,
    reason: str | None,
    report: Callable[..., Path],
    harness_log: Callable[..., Any],
) -> None:
    row = harness_log(report(case("a", inside, **more))).attempts[0]
    assert (row["outcome"], row["outcome_reason"]) == (outcome, reason)


def test_properties_fill_columns_and_tags(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    def properties(**given: str) -> str:
        inner = "".join(f'<property name="{k}" value="{v}"/>' for k, v in given.items())
        return f"<properties>{inner}</properties>"

    path = report(
        properties(agent="bot", model="m", java="21")
        + case("a", properties(model="größe", cost_usd="0.5", input_tokens="7", kind="x"))
        + case("b")
    )
    first, second = harness_log(path).attempts
    assert (first["agent"], first["model"], first["cost_usd"]) == ("bot", "größe", 0.5)
    assert (first["input_tokens"], first["tags"]) == (7, {"kind": "x"})
    assert (second["agent"], second["model"], second["tags"]) == ("bot", "m", None)
