"""Harbor: how many attempts a job expects, and which files are its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .harbor_trials import BROKEN, FIXTURES, GRID, MODELS, SEVERAL, trial

if TYPE_CHECKING:
    from collections.abc import Callable


def test_an_interrupted_job_expects_what_it_was_to_make(harness_log: Callable[..., Any]) -> None:
    loaded = harness_log(FIXTURES / BROKEN)
    assert {row["task_id"]: row["expected_attempts"] for row in loaded.expected} == {
        "hello-world": 3,
        "count-words": 3,
    }
    assert loaded.counts() == {"hello-world": (1, 1), "count-words": (1, 0)}
    (empty,) = (file for file in loaded.report.skipped if file.path.endswith("result.json"))
    assert empty.reason == "the empty result of a trial of Harbor that did not end"


def test_a_job_that_says_no_number_makes_one_attempt(harness_log: Callable[..., Any]) -> None:
    assert "n_attempts" not in json.loads((FIXTURES / SEVERAL / "config.json").read_text())
    expected = harness_log(FIXTURES / SEVERAL).expected
    assert {row["expected_attempts"] for row in expected} == {1}


def test_the_lock_names_tasks_that_were_never_tried(
    job: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    tasks = [{"task": {"name": name, "source": "bench"}} for name in ("copy", "never", "never")]
    folder = job(
        trial(1, source="bench"), config={"n_attempts": 2}, lock={"trials": [*tasks, "odd"]}
    )
    expected = harness_log(folder).expected
    assert [
        (row["run_id"], row["suite"], row["task_id"], row["expected_attempts"]) for row in expected
    ] == [("job", "bench", "copy", 2), ("job", "bench", "never", 2)]


def test_a_lock_with_other_names_than_the_trials_names_no_tasks(
    job: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    folder = job(trial(1), lock={"trials": [{"task": {"name": "org/copy"}}]})
    assert [row["task_id"] for row in harness_log(folder).expected] == ["copy"]


def test_agents_that_differ_in_their_options_only_are_one_run(
    job: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    info = {"name": "a", "version": "1", "model_info": {"name": "m", "provider": "p"}}
    agents = [{"name": "a", "model_name": "p/m", "kwargs": {"effort": e}} for e in ("low", "high")]
    folder = job(
        *(trial(number, agent_info=info) for number in range(4)),
        config={"n_attempts": 2, "agents": [*agents, {"name": "b", "model_name": "p/m"}]},
    )
    loaded = harness_log(folder)
    assert [row["attempt"] for row in loaded.attempts] == [1, 2, 3, 4]
    assert [row["expected_attempts"] for row in loaded.expected] == [4]


@pytest.mark.parametrize("config", [{"n_attempts": "3"}, {"n_attempts": True}, {"n_attempts": 0}])
def test_a_number_of_attempts_that_is_none_expects_nothing(
    config: dict[str, Any], job: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    loaded = harness_log(job(trial(1), config=config))
    assert len(loaded.attempts) == 1
    assert loaded.expected == []


def test_a_number_of_attempts_beyond_any_integer_expects_nothing(
    job: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    loaded = harness_log(job(trial(1), config={"n_attempts": 10**30}))
    assert (len(loaded.attempts), loaded.expected) == (1, [])


def test_a_trial_that_is_named_alone_is_attempt_1_of_its_job(
    harness_log: Callable[..., Any],
) -> None:
    path = FIXTURES / GRID / "fix-permissions__ghL8Dqr" / "result.json"
    loaded = harness_log(path)
    (row,) = loaded.attempts
    assert (row["run_id"], row["task_id"], row["attempt"]) == (
        "2026-03-02__09-00-00",
        "fix-permissions",
        1,
    )
    assert row["source_file"] == str(path)
    assert [one["expected_attempts"] for one in loaded.expected] == [4]


def test_totals_and_configurations_that_are_named_are_refused_with_a_way_out(
    harness_log: Callable[..., Any],
) -> None:
    loaded = harness_log(
        FIXTURES / GRID / "result.json",
        FIXTURES / GRID / "fix-permissions__ghL8Dqr" / "config.json",
        FIXTURES / BROKEN / "hello-world__nyXDhwG" / "result.json",
    )
    assert [file.status for file in loaded.report.files] == ["failed"] * 3
    assert {file.hint for file in loaded.report.files} == {"Name the folder of the job."}


def test_an_empty_file_of_something_else_is_still_a_failure(
    tmp_path: Path, job: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    folder = job(trial(1))
    (folder / "other").mkdir()
    (folder / "other" / "result.json").write_bytes(b"")
    statuses = [file.status for file in harness_log(folder).report.files]
    assert sorted(statuses) == ["failed", "landed"]
    assert tmp_path in folder.parents


def test_what_a_verifier_wrote_is_no_log_of_its_own(
    job: Callable[..., Path], harness_log: Callable[..., Any]
) -> None:
    folder = job(trial(1)) / "copy__0" / "verifier"
    folder.mkdir()
    (folder / "junit.xml").write_text(
        "<testsuites><testsuite><testcase name='a'/></testsuite></testsuites>"
    )
    (folder / "reward.json").write_bytes(b"")
    (folder / "agent.log").write_text('{"step": 1}\n{"step": 2}\n')
    loaded = harness_log(folder.parent.parent)
    assert [(file.format, file.status) for file in loaded.report.files] == [("harbor", "landed")]
    assert {Path(file.path).name for file in loaded.report.skipped} == {"junit.xml", "reward.json"}
    assert loaded.report.passed_over == ()
    # The user wants to see the named file.
    assert [row["source_format"] for row in harness_log(folder / "junit.xml").attempts] == ["junit"]


def test_a_changed_trial_takes_the_place_of_its_job(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    import duckdb

    from passk_py.ingest.landing import load

    folder = shutil.copytree(FIXTURES / MODELS, tmp_path / "copied")
    database = tmp_path / "again.duckdb"
    load(folder, database=database)
    path = next(folder.glob("*__5sjXpYD")) / "result.json"
    path.write_text(path.read_text("utf-8").replace("0.75", "1.0").replace("0.5", "1.0"), "utf-8")
    report = load(folder, database=database)
    assert report.statuses == {"replaced": 1}
    with duckdb.connect(str(database)) as connection:
        found = connection.execute(
            "select count(*), count(*) filter (outcome = 'passed') from landing.attempts"
        ).fetchone()
    assert found == (4, 2)
    assert len(harness_log(folder).attempts) == 4
