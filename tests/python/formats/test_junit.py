"""JUnit XML: each time that a test was run is an attempt, with the runner's own verdict."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import shutil
from collections import Counter
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.ingest.formats.policy import policy_from

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures" / "junit"
EXPECTED = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]
SUREFIRE = "surefire-reports/TEST-org.example.AgentTest.xml"


@pytest.fixture
def report(tmp_path: Path) -> Callable[..., Path]:
    """Write a report of these test cases."""

    def written(cases: str, path: str = "log.xml", suite: str = 'name="s"') -> Path:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        text = f"<testsuites><testsuite {suite}>{cases}</testsuite></testsuites>"
        file.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n{text}', "utf-8")
        return file

    return written


def case(name: str, inside: str = "", classname: str = "c", **more: str) -> str:
    given = "".join(f' {key}="{value}"' for key, value in more.items())
    return f'<testcase classname="{classname}" name="{name}"{given}>{inside}</testcase>'


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
    # What is flaky passed in the end.
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


def test_tests_of_one_name_are_attempts_where_pytest_is_not(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    loaded = harness_log(report(case("a") + case("a", "<failure/>")))
    assert loaded.verdicts() == {("c::a", 1): "passed", ("c::a", 2): "failed"}


def test_runs_in_files_of_one_folder_are_attempts_of_one_run(
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(FIXTURES / "runs")
    assert {row["run_id"] for row in loaded.attempts} == {"runs"}
    for number in (1, 2, 3):
        for one in EXPECTED[f"runs/run-{number}.xml"]["attempts"]:
            outcome = "passed" if one["passed"] else "failed"
            assert loaded.verdicts()[one["task_id"], number] == outcome
    assert len(loaded.attempts) == 11
    named = harness_log(*(FIXTURES / "runs" / f"run-{number}.xml" for number in (3, 1, 2)))
    assert named.verdicts() == loaded.verdicts()


def test_runs_in_folders_of_their_own_are_attempts_of_one_run(
    report: Callable[..., Path], tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    for number in (10, 9):
        inside = "<failure/>" if number == 9 else ""
        report(case("a", inside), f"ci/attempt-{number}/junit.xml")
    loaded = harness_log(tmp_path)
    assert [(row["run_id"], row["attempt"], row["outcome"]) for row in loaded.attempts] == [
        ("ci", 1, "failed"),
        ("ci", 2, "passed"),
    ]


@pytest.mark.parametrize(
    ("folders", "runs"),
    [
        (("gpt-5-run-1", "gpt-5-run-2", "claude-run-1"), {"gpt-5": 2, "claude": 1}),
        (("run_1_of_2", "run_2_of_2"), {"x": 2}),
        (("test-results-attempt-1", "test-results-attempt-2"), {"x": 2}),
        (("run-1", "run-2", "agent.try3", "rerun-1"), {"x": 2, "agent": 1, "rerun-1": 1}),
    ],
)
def test_folders_of_repeated_runs_are_told_apart_by_their_names(
    folders: tuple[str, ...],
    runs: dict[str, int],
    report: Callable[..., Path],
    tmp_path: Path,
    harness_log: Callable[..., Any],
) -> None:
    for folder in folders:
        report(case("a", classname=folder[:1]), f"x/{folder}/junit.xml")
    loaded = harness_log(tmp_path)
    assert Counter(row["run_id"] for row in loaded.attempts) == runs
    # Each that is named stands for itself.
    one = harness_log(tmp_path / "x" / folders[0])
    assert [row["run_id"] for row in one.attempts] == [folders[0]]
    assert [Path(file.path).parent.name for file in one.report.files] == [folders[0]]


def test_one_of_the_folders_does_not_take_the_place_of_a_run(
    report: Callable[..., Path], tmp_path: Path
) -> None:
    from passk_py.ingest.landing import load

    folders = [tmp_path / "x" / f"gpt-5-run-{number}" for number in (1, 2, 3)]
    for folder in folders:
        report(case("a"), f"x/{folder.name}/junit.xml")
    database = tmp_path / "passk.duckdb"
    assert load(tmp_path, database=database).statuses == {"landed": 1}
    (refused,) = load(folders[:2], database=database).files
    assert refused.status == "failed"
    assert refused.message == (
        f"{tmp_path}/x/gpt-5-run-* landed before as one log with {folders[2]}/junit.xml, which is "
        "missing from the command."
    )
    assert load(folders, database=database).statuses == {"unchanged": 1}
    assert load(tmp_path, database=database).statuses == {"unchanged": 1}


def test_timestamps_come_before_names(
    report: Callable[..., Path], tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    report(case("a"), "x/1.xml", 'name="s" timestamp="2026-01-02T00:00:00"')
    report(case("a", "<failure/>"), "x/2.xml", 'name="s" timestamp="2026-01-01T00:00:00Z"')
    assert harness_log(tmp_path).verdicts() == {("c::a", 1): "failed", ("c::a", 2): "passed"}


@pytest.mark.parametrize(
    ("path", "run"),
    [("ci/nightly.xml", "nightly"), ("ci/junit.xml", "ci"), ("ci/Test-Results.xml.gz", "ci")],
)
def test_a_file_that_is_named_is_a_run_of_its_own(
    path: str, run: str, report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    file = report(case("a"), path)
    if path.endswith(".gz"):
        file.write_bytes(gzip.compress(file.read_bytes()))
    assert [row["run_id"] for row in harness_log(file).attempts] == [run]


def test_the_folder_as_a_whole_lands_each_run_of_a_test_once(
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(FIXTURES)
    keys = {(row["run_id"], row["task_id"], row["attempt"]) for row in loaded.attempts}
    wanted = sum(len(one["attempts"]) for one in EXPECTED.values())
    assert len(keys) == len(loaded.attempts) == wanted


def test_ids_of_several_numbers_are_no_repetitions(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    names = ["t[1-3]", "t[2-3]", "t[1-4]", "t[2-4]", "u[1-2]", "u[2-2]"]
    file = report("".join(map(case, names)), suite='name="pytest"')
    assert harness_log(file).counts() == {
        **{f"c::{name}": (1, 1) for name in names[:4]},
        "c::u": (2, 2),
    }


def test_an_id_that_ends_like_a_repetition_stays(harness_log: Callable[..., Any]) -> None:
    single = {row["task_id"] for row in harness_log(FIXTURES / "single.xml").attempts}
    assert "nightly.test_agent::test_agent[Gr\\xf6\\xdfe-1-4]" in single
    repeated = harness_log(FIXTURES / "repeat.xml").counts()
    assert repeated["test_agent::test_agent[Gr\\xf6\\xdfe-1-4]"] == (4, 3)


@pytest.mark.parametrize(
    ("names", "tasks"),
    [
        (["x[1-2]", "x[2-2]"], ["c::x", "c::x"]),
        (["x[a-1-3]", "x[a-2-3]", "x[a-3-3]"], ["c::x[a]"] * 3),
        # Not all of them, so they are the ids of a parametrized test.
        (["x[a-2-3]", "x[a-3-3]"], ["c::x[a-2-3]", "c::x[a-3-3]"]),
        (["x[1-2]", "y[2-2]"], ["c::x[1-2]", "c::y[2-2]"]),
        (["x[3-2]", "x[4-2]"], ["c::x[3-2]", "c::x[4-2]"]),
        (["x[1-2]", "x[1-3]"], ["c::x[1-2]", "c::x[1-3]"]),
        (["x[0-2]", "x[1-2]"], ["c::x[0-2]", "c::x[1-2]"]),
    ],
)
def test_only_what_pytest_repeat_writes_is_a_repetition(
    names: list[str],
    tasks: list[str],
    report: Callable[..., Path],
    harness_log: Callable[..., Any],
) -> None:
    path = report("".join(case(name) for name in names), suite='name="pytest"')
    assert [row["task_id"] for row in harness_log(path).attempts] == tasks


@pytest.mark.parametrize(
    ("names", "tasks"),
    [
        (["solve attempt 1", "solve attempt 2"], {"c::solve"}),
        (["solve (run #1)", "solve (run #2)"], {"c::solve"}),
        (["solve repetition 1 of 2", "solve repetition 2 of 2"], {"c::solve"}),
        (["repetition 1 of 2", "repetition 2 of 2"], {"c"}),
        (["fails in attempt 2", "passes in attempt 3"], None),
        (["overrun 1", "overrun 2"], None),
        (["solve[1]", "solve[2]"], None),
    ],
)
def test_words_for_a_repetition_are_taken_off_where_there_are_several(
    names: list[str],
    tasks: set[str] | None,
    report: Callable[..., Path],
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(report("".join(case(name) for name in names)))
    assert {row["task_id"] for row in loaded.attempts} == (tasks or {f"c::{n}" for n in names})


def test_repetitions_say_how_many_there_should_be(harness_log: Callable[..., Any]) -> None:
    expected = harness_log(FIXTURES / "repeat.xml").expected
    found = {row["task_id"]: row["expected_attempts"] for row in expected}
    assert found.pop("test_agent.TestMore::test_strict") == 2
    assert set(found.values()) == {4}
    assert len(found) == 9
    assert harness_log(FIXTURES / "single.xml").expected == []


def test_repetitions_of_several_files_are_expected_together(
    report: Callable[..., Path], tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    both = case("x[1-2]") + case("x[2-2]")
    report(both, "r/1.xml", 'name="pytest"')
    report(both + case("once"), "r/2.xml", 'name="pytest"')
    loaded = harness_log(tmp_path)
    assert loaded.counts() == {"c::x": (4, 4), "c::once": (1, 1)}
    assert [(row["task_id"], row["expected_attempts"]) for row in loaded.expected] == [("c::x", 4)]


def test_a_file_that_is_cut_off_lands_up_to_there(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    path = report(case("a") + case("b", "<failure/>") + case("größe 長い", "<failure>why"))
    text = path.read_text("utf-8")
    path.write_text(text[: text.index("why") + 2], "utf-8")
    loaded = harness_log(path)
    assert loaded.verdicts() == {("c::a", 1): "passed", ("c::b", 1): "failed"}
    assert [(row["reason_code"], row["raw"]) for row in loaded.rejected] == [
        ("truncated", "größe 長い")
    ]


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


def test_tries_of_pytest_that_are_cut_off_are_still_one_attempt(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    path = report(case("a") + case("a", "<failure/>") + "<oops", suite='name="pytest"')
    loaded = harness_log(path)
    assert loaded.verdicts() == {("c::a", 1): "failed"}
    assert [row["reason_code"] for row in loaded.rejected] == ["malformed_line"]


def test_xml_that_is_broken_within_is_rejected_from_there(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    loaded = harness_log(report(case("a") + "</oops>" + case("b")))
    assert loaded.verdicts() == {("c::a", 1): "passed"}
    (row,) = loaded.rejected
    assert row["reason_code"] == "malformed_line"
    assert "mismatched tag" in row["reason"]


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE testsuites [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE testsuites SYSTEM "file:///etc/hostname">',
        '<!DOCTYPE testsuites [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
    ],
)
def test_dtds_and_entities_are_refused(
    doctype: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "log.xml"
    inside = "<testsuites><testsuite><testcase name='a' classname='b'/></testsuite></testsuites>"
    path.write_text(f"<?xml version='1.0'?>{doctype}{inside}")
    loaded = harness_log(path)
    assert loaded.attempts == []
    assert [row["reason"] for row in loaded.rejected] == [
        "The document has a DTD or entities, which are not read."
    ]


def test_depth_and_tags_are_bounded(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    deep = harness_log(report(case("a") + "<x>" * 200 + "</x>" * 200, "deep.xml"))
    assert "nested deeper" in deep.rejected[0]["reason"]
    long = harness_log(report(case("a") + case("b", more="y" * (12 << 20)), "long.xml"))
    assert [row["reason_code"] for row in long.rejected] == ["field_too_large"]
    assert long.verdicts() == {("c::a", 1): "passed"}


def test_the_output_of_tests_is_not_held(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    out = "<system-out>" + "x" * (20 << 20) + "</system-out>"
    why = "<failure>" + "y\n" * (2 << 20) + "</failure>"
    loaded = harness_log(report(case("a", out) + case("b", why + out)))
    assert loaded.verdicts() == {("c::a", 1): "passed", ("c::b", 1): "failed"}


@pytest.mark.parametrize(
    ("cases", "reasons"),
    [
        (case("", time="1"), ["missing_field"]),
        ('<testcase classname="c"/>', ["missing_field"]),
        (case("a", time="NaN"), ["not_finite"]),
        (case("a", time="-1"), ["out_of_range"]),
        (case("a", time="soon"), ["wrong_type"]),
        (case("a", time=""), []),
        (case("a", time="1,204.5"), []),
    ],
)
def test_a_test_with_a_wrong_value_is_rejected_with_a_reason(
    cases: str, reasons: list[str], report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    loaded = harness_log(report(case("good") + cases))
    assert [row["reason_code"] for row in loaded.rejected] == reasons
    assert loaded.report.rows_read == 2


def test_a_time_that_is_not_iso_is_as_good_as_none(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    (row,) = harness_log(report(case("a"), suite='timestamp="21.11.2026 9 Uhr"')).attempts
    assert row["started_at"] is None


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


def test_of_an_attribute_that_is_there_twice_nothing_is_guessed(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    twice = '<testcase name="b" name="c" classname="c"/>'
    loaded = harness_log(report(case("a") + twice))
    assert loaded.verdicts() == {("c::a", 1): "passed"}
    assert "duplicate attribute" in loaded.rejected[0]["reason"]


def test_reports_in_a_namespace_or_without_a_frame_are_read(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "log.xml"
    path.write_text(
        '<testsuite xmlns="urn:x" name="s"><testcase classname="c" name="a"/></testsuite>'
    )
    assert harness_log(path).verdicts() == {("c::a", 1): "passed"}


@pytest.mark.parametrize("text", ["<testsuites/>", "<testsuite name='s'></testsuite>"])
def test_a_report_without_tests_is_refused(
    text: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "log.xml"
    path.write_text(text)
    (file,) = harness_log(path).report.files
    assert (file.status, file.rows_read) == ("failed", 0)
    assert "holds no rows" in file.message


@pytest.mark.parametrize("root", ["html", "testng-results", "failsafe-summary"])
def test_other_xml_is_left_alone(
    root: str, report: Callable[..., Path], tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    report(case("a"))
    (tmp_path / "other.xml").write_text(f"<{root}><testcase/></{root}>")
    loaded = harness_log(tmp_path)
    assert len(loaded.attempts) == 1
    assert [file.reason for file in loaded.report.skipped] == [f"XML with the root <{root}>"]


NAMES = FIXTURES.parent / "junit_names"
TESTLOGS = FIXTURES.parent / "bazel" / "bazel-testlogs"


@pytest.mark.parametrize("named", ["folder", "files", "glob"])
def test_files_of_two_models_are_two_runs_and_it_is_said(
    named: str, harness_log: Callable[..., Any]
) -> None:
    folder = NAMES / "models"
    paths = {
        "folder": [folder],
        "files": [folder / "gpt-5.xml", folder / "claude.xml"],
        "glob": [folder / "*.xml"],
    }[named]
    loaded = harness_log(*paths)
    found = {(row["run_id"], row["task_id"]): row["outcome"] for row in loaded.attempts}
    assert {row["attempt"] for row in loaded.attempts} == {1}
    assert found["gpt-5", "suite::test_agent[add]"] == "passed"
    assert found["claude", "suite::test_agent[add]"] == "failed"
    assert len(found) == len(loaded.attempts) == 8
    (file,) = loaded.report.files
    assert file.message.startswith(
        "Its files hold the same tests under 2 names, so each name is a run of its own: claude, "
        "gpt-5. If they are attempts of one run, name it with --run-id."
    )
    assert file.is_doubtful


def test_files_of_two_models_are_one_run_where_it_is_named(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(NAMES / "models", run_id="both")
    assert loaded.counts()["suite::test_agent[add]"] == (2, 1)
    assert {row["run_id"] for row in loaded.attempts} == {"both"}


@pytest.mark.parametrize(
    ("files", "runs"),
    [
        # The same tests under names of their own.
        (["gpt-4.xml", "gpt-5.xml"], {"gpt-4": 1, "gpt-5": 1}),
        (["o1.xml", "o3.xml"], {"o1": 1, "o3": 1}),
        (["a-run-1.xml", "a-run-2.xml", "b-run-1.xml"], {"a": 2, "b": 1}),
        (["junit.xml", "agent.xml"], {"junit": 1, "agent": 1}),
        # Repeated runs.
        (["run-1.xml", "run-2.xml"], {"x": 2}),
        (["1.xml", "2.xml", "3.xml"], {"x": 3}),
        (["junit-1.xml", "junit-2.xml"], {"x": 2}),
        (["results.xml", "results_2.xml"], {"x": 2}),
        (["report-2026-11-20T10-00-00.xml", "report-2026-11-21T10-00-00.xml"], {"x": 2}),
        (["agent1.xml", "agent2.xml"], {"x": 2}),
    ],
)
def test_which_files_of_a_folder_are_attempts_of_one_run(
    files: list[str],
    runs: dict[str, int],
    report: Callable[..., Path],
    tmp_path: Path,
    harness_log: Callable[..., Any],
) -> None:
    for file in files:
        report(case("a"), f"x/{file}")
    loaded = harness_log(tmp_path)
    assert Counter(row["run_id"] for row in loaded.attempts) == runs
    said = loaded.report.files[0].message
    assert ("each name is a run" in said) == (len(runs) > 1)
    # What could as well be two agents is said.
    assert ("loaded as attempts of one run" in said) == (files[0] == "agent1.xml")


def test_files_of_different_tests_are_one_run(
    report: Callable[..., Path], tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    for name in ("unit", "integration", "TEST-a.B", "TEST-a.C"):
        report(case(name), f"x/{name}.xml")
    loaded = harness_log(tmp_path)
    assert [(row["run_id"], row["attempt"]) for row in loaded.attempts] == [("x", 1)] * 4
    assert loaded.report.files[0].message == ""


def test_ids_that_are_no_whole_repetition_are_tasks_and_it_is_said(
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(NAMES / "whole.xml")
    assert loaded.counts() == {
        "suite::test_agent[add]": (1, 1),
        "suite::test_agent[sort]": (1, 1),
        "suite::test_pairs[1-3]": (1, 1),
        "suite::test_pairs[2-3]": (1, 0),
        # All of 1 to 2 are there, as after `pytest --count 2`.
        "suite::test_whole": (2, 1),
    }
    assert [row for row in loaded.expected if row["expected_attempts"] > 2] == []
    (file,) = loaded.report.files
    assert (file.missing, file.message) == (
        0,
        "Names that end like repetitions of pytest-repeat, of which not all are there, are tasks of "
        "their own: suite::test_pairs[1-3], suite::test_pairs[2-3].",
    )


def test_tests_of_one_name_are_said_with_their_names(
    report: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    names = "".join(case(name) * 2 for name in "pqrstuv") + case("alone")
    (file,) = harness_log(report(names)).report.files
    assert file.message == (
        "A name that is there several times in a file is one task, and each time is an attempt of "
        "it: c::p, c::q, c::r, c::s, c::t, ... (7 in all). If these are different tests, give them "
        "names of their own."
    )
    assert file.is_doubtful
    # Repetitions, and the tries of pytest-rerunfailures, are none of these.
    assert "several times" not in harness_log(FIXTURES / "repeat.xml").report.files[0].message
    assert "several times" not in harness_log(FIXTURES / "reruns.xml").report.files[0].message


@pytest.mark.parametrize(
    ("path", "tests", "tagged"),
    # As pytest printed: two tests were tried again in each of two repetitions. In Surefire's report
    # flaky has two tries, and flakyTwice, broken, lost and solve{String}[2] have three.
    [("reruns.xml", 4, 4), (SUREFIRE, 5, 14)],
)
def test_tries_that_stop_at_the_first_pass_are_said_and_tagged(
    path: str, tests: int, tagged: int, harness_log: Callable[..., Any]
) -> None:
    loaded = harness_log(FIXTURES / path)
    said = loaded.report.files[0].message
    assert f"Tests were tried again because they failed, {tests} of them" in said
    assert sum("reruns" in (row["tags"] or {}) for row in loaded.attempts) == tagged


@pytest.mark.parametrize("link", [False, True])
def test_bazels_testlogs_are_one_run(
    link: bool, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    folder = TESTLOGS
    if link:
        # So Bazel leaves it in the workspace.
        folder = tmp_path / "bazel-testlogs"
        folder.symlink_to(TESTLOGS)
    loaded = harness_log(folder)
    assert {row["run_id"] for row in loaded.attempts} == {"bazel-testlogs"}
    assert {task: outcomes_of(loaded, task) for task in loaded.counts()} == {
        "pkg/plain_test": ["passed"],
        "pkg/deep/broken_test": ["failed"],
        "agent/repeated_test": ["passed", "failed", "passed"],
        "agent/sharded_test::agent_test::test_a": ["passed"],
        "agent/sharded_test::agent_test::test_b": ["failed"],
        "agent/sharded_test::agent_test::test_c": ["passed"],
        "agent/both_test_shard_1/2": ["passed", "passed"],
        "agent/both_test_shard_2/2": ["failed", "passed"],
        "agent/flaky_test": ["failed", "failed", "passed"],
    }
    tags = [row["tags"] for row in loaded.attempts if row["task_id"] == "agent/flaky_test"]
    assert tags == [{"reruns": "2"}] * 3
    (file,) = loaded.report.files
    assert file.message.startswith("Tests were tried again because they failed, 1 of them")


def outcomes_of(loaded: Any, task: str) -> list[str]:
    return [row["outcome"] for row in loaded.attempts if row["task_id"] == task]


@pytest.mark.parametrize(
    "named", ["out", "bazel-testlogs/agent", "bazel-testlogs/agent/repeated_test"]
)
def test_a_part_of_bazels_testlogs_has_the_same_tasks(
    named: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    # A copy under another name, as of an artifact, has only the logs to tell that it is Bazel's.
    root = tmp_path / named.partition("/")[0]
    shutil.copytree(TESTLOGS, root)
    loaded = harness_log(tmp_path / named)
    assert {row["run_id"] for row in loaded.attempts} == {Path(named).name}
    assert outcomes_of(loaded, "agent/repeated_test") == ["passed", "failed", "passed"]
