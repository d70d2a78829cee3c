"""JUnit XML: which files and repetitions are attempts of one run."""

from __future__ import annotations

import gzip
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .junit_cases import EXPECTED, FIXTURES, SUREFIRE, case

if TYPE_CHECKING:
    from collections.abc import Callable


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
    # A log that could as well be of two agents gets a remark.
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
