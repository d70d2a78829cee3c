"""Incremental tables make the runs that changed, and leave the others as they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from passk_py.ingest.landing import forget, load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from conftest import Project

BY_RUN: Final = (
    "int_passk__copy_checks",
    "int_passk__duplicate_attempts",
    "int_passk__count_checks",
    "int_passk__long_tasks",
    "int_passk__family_checks",
    "int_passk__loss_checks",
    "int_passk__order_checks",
    "int_passk__slow_orders",
    "int_passk__suite_pass_checks",
    "int_passk__suite_families",
    "int_passk__suite_windows",
    "int_passk__tasks_by_count",
    "int_passk__window_checks",
    "int_passk__read_tasks",
    "int_passk__runs",
    "int_passk__session_checks",
    "int_passk__streaks",
    "int_passk__suite_metrics",
    "int_passk__task_scans",
    "int_passk__unmasked_tasks",
)
BY_PAIR: Final = ("int_passk__comparisons", "int_passk__pair_sums", "int_passk__pair_states")


def versions(project: Project) -> dict[tuple[str, str], set[str]]:
    """Give of which states of the log the tables hold the rows of each run, or pair of runs."""
    found: dict[tuple[str, str], set[str]] = {}
    for table in (*BY_RUN, *BY_PAIR):
        run = "run_id" if table in BY_RUN else "baseline_run_id || ' ' || candidate_run_id"
        rows = project.query(f"select distinct {run}, log_version from {project.relation(table)}")
        for name, version in rows:
            found.setdefault((table, name), set()).add(version)
    return found


def remade(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> set[str]:
    """Give the runs, and pairs of runs, of which a build made rows."""
    return {name for (table, name), held in after.items() if before.get((table, name)) != held}


def arrive(
    project: Project, task: str, attempt: int, outcome: str, day: int, run: str = "run"
) -> None:
    project.execute(
        f"insert into landing.attempts by name select '{run}' as run_id, 'suite' as suite,"
        f" '{task}' as task_id, {attempt} as attempt, '{outcome}' as outcome,"
        f" timestamp '2027-01-{day:02}' as loaded_at"
    )


def remove(project: Project, condition: str, day: int) -> None:
    project.execute(
        "insert into landing.removed_tasks by name select distinct run_id, suite, task_id,"
        f" timestamp '2027-01-{day:02}' as removed_at from landing.attempts where {condition}",
        f"delete from landing.attempts where {condition}",
    )


def everything(project: Project) -> dict[str, list[Any]]:
    """Give all that people query, and what it comes from, in an order of its own."""
    found = {}
    for table in (*BY_RUN, *BY_PAIR):
        rows = project.query(f"select * exclude (log_version) from {project.relation(table)}")
        found[table] = sorted(map(repr, rows))
    for name in ("tasks", "runs", "task_metrics", "suite_metrics"):
        found[name] = sorted(map(repr, project.query(f"select * from passk_{name}")))
    return found


@pytest.fixture
def built(project: Project, attempts: Callable[..., list[Any]]) -> Project:
    project.land([*attempts("run", "task", "PFP"), *attempts("other", "task", "PPF")])
    project.run()
    assert remade({}, versions(project)) == {"run", "other", "other run"}
    return project


@pytest.mark.long
def test_a_build_with_nothing_new_leaves_all_rows(built: Project) -> None:
    before = versions(built), everything(built)
    built.run()
    assert (versions(built), everything(built)) == before


@pytest.mark.long
def test_only_runs_with_new_attempts_are_made_again(built: Project) -> None:
    # Nothing tells of this change, so only a look at the rows of the other run would show it.
    built.execute("update landing.attempts set outcome = 'failed'")
    arrive(built, "task", 4, "passed", day=1)
    before = versions(built)
    built.run()
    assert remade(before, versions(built)) == {"run", "other run"}
    assert built.query("select run_id, n, c from passk_tasks order by 1") == [
        ("other", 3, 2),
        ("run", 4, 1),
    ]


@pytest.mark.long
def test_a_run_that_lost_attempts_is_made_again(built: Project) -> None:
    remove(built, "run_id = 'run' and attempt = 1", day=1)
    arrive(built, "task", 4, "passed", day=1)
    before = versions(built)
    built.run()
    assert remade(before, versions(built)) == {"run", "other run"}
    assert built.query("select n, c, first_fail_rank from passk_tasks where run_id = 'run'") == [
        (3, 2, 1)
    ]


@pytest.mark.long
def test_a_late_copy_takes_its_task_to_the_slow_road_and_back(built: Project) -> None:
    slow = {
        f"int_passk__{name}"
        for name in ("long_tasks", "unmasked_tasks", "streaks", "duplicate_attempts")
    }
    arrive(built, "task", 2, "passed", day=1)
    built.run()
    assert {table for table, run in versions(built) if run == "run"} >= slow
    # Attempt 2 is told twice, with two verdicts: none is kept.
    counts = "select n, c from passk_tasks where run_id = 'run'"
    assert built.query(counts) == [(2, 2)]
    assert built.query("select count(*) from passk_rejected_attempts") == [(2,)]
    remove(built, "loaded_at = timestamp '2027-01-01'", day=2)
    built.run()
    assert built.query(counts) == [(3, 2)]
    assert built.query("select count(*) from passk_rejected_attempts") == [(0,)]
    assert not {table for table, _ in versions(built)} & slow


@pytest.mark.long
def test_unchanged_runs_of_the_slow_road_are_not_settled_again(built: Project) -> None:
    arrive(built, "large", 1000, "passed", day=1)
    built.run()
    before = versions(built)
    built.execute("update landing.attempts set outcome = 'failed' where task_id = 'large'")
    arrive(built, "large", 1000, "passed", day=2, run="other")
    built.run()
    assert "run" not in remade(before, versions(built))
    assert built.query("select run_id, c from passk_tasks where task_id = 'large' order by 1") == [
        ("other", 1),
        ("run", 1),
    ]


@pytest.mark.long
def test_a_table_of_another_version_is_made_anew(built: Project) -> None:
    unmasked, runs = map(built.relation, ("int_passk__unmasked_tasks", "int_passk__runs"))
    before = everything(built)
    built.execute(
        f"alter table {unmasked} drop column log_rows",
        f"alter table {runs} add column of_old integer",
    )
    built.run()
    assert everything(built) == before


@pytest.mark.long
def test_a_full_refresh_makes_all_rows_anew(built: Project) -> None:
    before, rows = versions(built), everything(built)
    built.run(full_refresh=True)
    assert remade(before, versions(built)) == {"run", "other", "other run"}
    assert everything(built) == rows


@pytest.mark.long
def test_another_grid_makes_all_rows_anew(built: Project) -> None:
    built.run({"passk_ks": [1, 7], "passk_deployment_k": 7})
    for table in ("states", "state_uncertainty", "suite_metrics", "comparisons"):
        found = built.query(
            f"select distinct k from {built.relation(f'int_passk__{table}')} order by 1"
        )
        assert found == [(1,), (7,)], table


@pytest.mark.long
def test_another_level_makes_narrower_limits_of_the_same_estimates(built: Project) -> None:
    estimates = "select pass_hat_k from passk_task_metrics order by all"
    widths = (
        "select pass_hat_k_upper - pass_hat_k_lower from passk_task_metrics where k = 1 order by 1"
    )
    estimated, wide = built.query(estimates), built.query(widths)
    built.run({"passk_confidence": 0.9})
    assert built.query(estimates) == estimated
    assert all(new < old for (new,), (old,) in zip(built.query(widths), wide, strict=True))


@pytest.mark.long
def test_functions_of_the_database_are_made_when_they_are_asked_for(built: Project) -> None:
    found = "select count(*) from duckdb_functions() where function_name = 'pass_hat_k'"
    built.execute("drop function pass_hat_k")
    built.run({"passk_create_sql_functions": False})
    assert built.query(found) == [(0,)]
    built.run()
    assert built.query("select pass_hat_k(4, 4, 2) = 1") == [(True,)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({1: "P", 2: "P", 3: "P"}, {5: "F", 6: "F", 7: "F"}, id="other numbers"),
        pytest.param({1: "P", 2: "P"}, {1: "P", 2: "P", 3: "F"}, id="a log that grew"),
        pytest.param({1: "P", 2: "P"}, {1: "F", 2: "P"}, id="a verdict corrected"),
        pytest.param({1: "P", 2: "P"}, {1: "P"}, id="an attempt taken out"),
        pytest.param({1: "P", 200: "P"}, {1: "F", 300: "P"}, id="large numbers"),
        pytest.param({1: "P", 2: "F"}, {}, id="a task taken out"),
    ],
)
def test_a_file_that_is_loaded_again_gives_what_a_full_refresh_gives(
    project: Project, tmp_path: Path, first: dict[int, str], second: dict[int, str]
) -> None:
    def write(name: str, task: str, outcomes: dict[int, str]) -> None:
        rows = [
            {"run_id": "r", "task_id": task, "attempt": attempt, "passed": outcome == "P"}
            for attempt, outcome in outcomes.items()
        ] + [{"run_id": "r", "task_id": "stays", "attempt": 1, "passed": True}]
        (tmp_path / name).write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
        assert load(tmp_path / name, database=project.database).rows_rejected == 0

    write("log.jsonl", "t", first)
    project.run()
    write("log.jsonl", "t", second)
    project.run()
    refreshed = project.copy(tmp_path / "refreshed")
    refreshed.run(full_refresh=True)
    assert everything(project) == everything(refreshed)
    before = versions(project)
    project.run()
    assert versions(project) == before


@pytest.mark.long
@pytest.mark.parametrize(
    "named",
    [
        ["int_passk__task_scans", "int_passk__runs", "int_passk__suite_metrics"],
        [
            "int_passk__log_runs",
            "int_passk__task_scans",
            "int_passk__runs",
            "int_passk__suite_metrics",
        ],
        ["int_passk__log_runs", "int_passk__runs", "int_passk__suite_metrics", "int_passk__pairs"],
        ["int_passk__log_runs", "int_passk__task_scans", "int_passk__unmasked_tasks"],
        ["int_passk__log_runs", "int_passk__task_scans", "int_passk__long_tasks"],
    ],
    ids=" ".join,
)
def test_a_table_that_a_build_left_out_catches_up(
    project: Project, tmp_path: Path, attempts: Callable[..., list[Any]], named: list[str]
) -> None:
    project.land([*attempts("run", "t", "PPP"), *attempts("run", "u", "FF")])
    project.run()
    arrive(project, "t", 130, "passed", day=1)
    arrive(project, "u", 3, "passed", day=1)
    # A build by the names of models, without all that they need.
    project.run(select=named)
    project.run()
    refreshed = project.copy(tmp_path / "refreshed")
    refreshed.run(full_refresh=True)
    assert everything(project) == everything(refreshed)


@pytest.mark.long
def test_a_forgotten_run_goes(project: Project, tmp_path: Path) -> None:
    rows = [{"run_id": run, "task_id": "t", "attempt": 1, "passed": True} for run in "ab"]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    load(tmp_path / "log.jsonl", database=project.database)
    project.run()
    forget(project.database, run_id="b")
    project.run()
    assert project.query("select run_id from passk_runs") == [("a",)]
    assert project.query("select distinct run_id from passk_suite_metrics") == [("a",)]


NAMES: Final = ("007", "7", "1e3", "2026-01-01", "true", "null", "it's", "a */ b", " spaced ", "ä")


@pytest.mark.long
@pytest.mark.parametrize(
    "alone",
    [
        pytest.param(("007", "null", "it's"), id="a number, a word of SQL and a quote"),
        pytest.param(NAMES, id="every name", marks=pytest.mark.long),
    ],
)
def test_names_that_look_like_something_else_are_found_again(
    project: Project, tmp_path: Path, alone: Sequence[str]
) -> None:
    log = tmp_path / "log.jsonl"
    tables = ["+passk_runs", "+passk_suite_metrics", "+passk_tasks"]

    def write(attempts: int) -> None:
        rows = [
            {"run_id": run, "suite": run, "task_id": run, "attempt": attempt, "passed": False}
            for run in NAMES
            for attempt in range(1, attempts + 1)
        ]
        log.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
        load(log, database=project.database)

    write(1)
    project.run(select=tables)
    # All of them at once, and some or each alone.
    write(2)
    project.run(select=tables)
    assert project.query("select distinct n from passk_runs") == [(2,)]
    for day, run in enumerate(alone, 1):
        quoted = run.replace("'", "''")
        project.execute(
            f"insert into landing.attempts by name select '{quoted}' as run_id, '{quoted}' as suite,"
            f" '{quoted}' as task_id, 3 as attempt, 'passed' as outcome,"
            f" timestamp '2027-01-{day:02}' as loaded_at"
        )
        project.run(select=tables)
    for table in ("passk_runs", "passk_suite_metrics where k = 1", "passk_tasks"):
        found = project.query(f"select run_id, n, c from {table}")
        assert sorted(found) == sorted(
            (run, 3, 1) if run in alone else (run, 2, 0) for run in NAMES
        )
