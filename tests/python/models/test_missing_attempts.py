"""Attempts that a harness was to make and its log does not hold, from the loader to the tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.ingest.landing import forget, load

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Project


def write(folder: Path, name: str, trials: int, **tasks: int) -> Path:
    """Write a log of tau2-bench in which each task has so many simulations."""
    path = folder / name
    ids = [{"id": task} for task in tasks]
    rows = [
        {"task_id": task, "trial": n, "termination_reason": "user_stop", "reward_info": {"reward": 1}}
        for task, count in tasks.items()
        for n in range(count)
    ]  # fmt: skip
    info = {"num_trials": trials}
    document = {"timestamp": "t", "info": info, "tasks": ids, "simulations": rows}
    path.write_text(json.dumps(document), "utf-8")
    return path


def missing(project: Project) -> list[tuple[Any, ...]]:
    return project.query(
        "select run_id, task_id, expected_attempts, attempts, missing_attempts "
        "from passk_missing_attempts order by all"
    )


def runs(project: Project) -> list[tuple[Any, ...]]:
    return project.query(
        "select run_id, expected_attempts, missing_attempts from passk_runs order by all"
    )


def both(project: Project) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The tables of an incremental build, which a full refresh has to give too."""
    project.run()
    found = missing(project), runs(project)
    project.run(full_refresh=True)
    assert (missing(project), runs(project)) == found
    return found


@pytest.mark.long
def test_missing_attempts_follow_the_files(project: Project, tmp_path: Path) -> None:
    first = write(tmp_path, "a.json", 4, whole=4, short=3, untried=0)
    load(first, database=project.database)
    assert both(project) == (
        [("a", "short", 4, 3, 1), ("a", "untried", 4, 0, 4)],
        [("a", 12, 5)],
    )
    # Attempts that landed since the last build are in no table: neither they nor their number.
    load(write(tmp_path, "b.json", 2, one=1), database=project.database)
    assert missing(project) == [("a", "short", 4, 3, 1), ("a", "untried", 4, 0, 4)]
    assert both(project) == (
        [("a", "short", 4, 3, 1), ("a", "untried", 4, 0, 4), ("b", "one", 2, 1, 1)],
        [("a", 12, 5), ("b", 2, 1)],
    )
    # A file that was written on, and one that is forgotten.
    write(tmp_path, "a.json", 3, whole=3, short=3)
    load(first, database=project.database)
    forget(project.database, run_id="b")
    assert both(project) == ([], [("a", 6, 0)])
    forget(project.database, source_file=first)
    load(write(tmp_path, "c.json", 1, one=1), database=project.database)
    assert both(project) == ([], [("c", 1, 0)])


@pytest.mark.long
def test_more_attempts_than_were_planned_are_none_too_few(project: Project, tmp_path: Path) -> None:
    load(write(tmp_path, "a.json", 2, one=3), database=project.database)
    assert both(project) == ([], [("a", 2, 0)])


@pytest.mark.long
def test_a_landing_schema_of_another_program_says_nothing_of_it(
    project: Project, attempts: Any
) -> None:
    project.land(attempts("run", "task", "PFP"))
    project.execute("drop table if exists landing.expected_attempts")
    assert both(project) == ([], [("run", None, None)])


def canonical(folder: Path, name: str, *rows: dict[str, Any]) -> Path:
    path = folder / name
    path.write_text("".join(json.dumps({"passed": True, **row}) + "\n" for row in rows), "utf-8")
    return path


def tries(task: str, count: int, **more: Any) -> list[dict[str, Any]]:
    numbers = range(1, count + 1)
    return [{"run_id": "r", "task_id": task, "attempt": number, **more} for number in numbers]


@pytest.mark.long
def test_a_plain_log_gets_its_number_from_the_command_line(
    project: Project, tmp_path: Path
) -> None:
    """A gate on missing attempts has something to judge then."""
    log = canonical(tmp_path, "log.jsonl", *tries("short", 3), *tries("whole", 4))
    gates = {
        "passk_gates": [
            {"name": "all of them", "type": "coverage", "metric": "missing_attempts", "max": 0}
        ]
    }
    load(log, database=project.database)
    project.run(gates)
    assert project.query("select result from passk_gates") == [("inconclusive",)]
    load(log, database=project.database, expected_attempts=4)
    assert both(project) == ([("r", "short", 4, 3, 1)], [("r", 8, 1)])
    project.run(gates)
    assert project.query("select result from passk_gates") == [("fail",)]
    load(canonical(tmp_path, "log.jsonl", *tries("short", 4), *tries("whole", 4)),
         database=project.database, expected_attempts=4)  # fmt: skip
    project.run(gates)
    assert project.query("select result from passk_gates") == [("pass",)]


@pytest.mark.long
def test_a_plain_log_may_say_it_of_each_task(project: Project, tmp_path: Path) -> None:
    rows = [
        *tries("a", 2, expected_attempts=5),
        *tries("b", 2, expected_attempts=2),
        *tries("c", 2),
    ]
    log = canonical(tmp_path, "log.jsonl", *rows)
    load(log, database=project.database)
    assert both(project) == ([("r", "a", 5, 2, 3)], [("r", 7, 3)])
    # The log's number for a task comes before the command line's for all.
    load(log, database=project.database, expected_attempts=3)
    assert both(project) == ([("r", "a", 5, 2, 3), ("r", "c", 3, 2, 1)], [("r", 10, 4)])
