"""``passk build`` with nothing new: dbt is not started, and anything new is built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from passk_py.warehouse import building
from passk_py.warehouse.building import build, in_process
from passk_py.warehouse.catalog import PUBLIC_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Said

    Passk = Callable[..., Said]

LATE = (
    "insert into landing.attempts by name select * replace ('late' as task_id, "
    "loaded_at + interval 1 day as loaded_at) from landing.attempts limit 1"
)
UNCHANGED = "Nothing is new since the last build: the tables stay as they are."


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The arguments of each start of dbt; none builds anything, as if it was killed at once."""
    found: list[list[str]] = []

    def stop(arguments: list[str], *_: object, **__: object) -> None:
        found.append(arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(in_process, "run", stop)
    return found


def starts_dbt(database: Path, **options: object) -> bool:
    """Whether a build starts dbt; it stops there."""
    try:
        report = build(database, **options)  # type: ignore[arg-type]
    except KeyboardInterrupt:
        return True
    assert report.is_unchanged
    assert (report.models, report.tests, report.failed, report.exit_code) == (0, 0, (), 0)
    return False


def test_a_second_build_starts_no_dbt_and_says_so(
    passk: Passk, letters: Path, starts: list[list[str]]
) -> None:
    said = passk("build")
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines() == [UNCHANGED, "  next  passk show"]
    assert passk("build", "--json").json["is_unchanged"] is True
    assert starts == []


@pytest.mark.parametrize(
    "options",
    [
        {"full_refresh": True},
        {"select": ["passk_runs"]},
        {"variables": {"passk_deployment_k": 2}},
    ],
)
@pytest.mark.usefixtures("starts")
def test_a_build_that_is_told_to_do_something_does_it(
    letters: Path, options: dict[str, object]
) -> None:
    assert not starts_dbt(letters)
    assert starts_dbt(letters, **options)
    # It was stopped, so nobody knows what it left.
    assert starts_dbt(letters)


@pytest.mark.parametrize(
    "statement",
    [
        # Changes of the log, by loads and removals.
        LATE,
        "delete from landing.attempts where task_id = 'shaky'",
        "insert into landing.removed_tasks select run_id, suite, task_id, now()::timestamp from landing.attempts limit 1",
        "insert into landing.rejected by name select 'r' as run_id, 'x' as reason_code, 'x' as reason, 'f' as source_file, "
        "now()::timestamp as loaded_at",
        # Changes of the tables, by hand.
        "drop view passk_runs",
        "delete from main_passk_internal.int_passk__suite_metrics where run_id = 'old'",
        "update main_passk_internal.int_passk__task_scans set built_with = 'another'",
        "drop table main_passk_internal.passk_last_whole_build",
        # The note of an older version.
        "alter table main_passk_internal.passk_last_whole_build drop column landed; "
        "update main_passk_internal.passk_last_whole_build set made_from = '{}'",
    ],
)
@pytest.mark.usefixtures("starts")
def test_anything_new_starts_dbt(letters: Path, statement: str) -> None:
    with duckdb.connect(str(letters)) as connection:
        connection.execute(statement)
    assert starts_dbt(letters)


@pytest.mark.parametrize(
    ("statements", "makes_views"),
    [
        ([], False),
        (["drop view passk_plans"], True),
        (["create or replace view passk_plans as select 1 as claim"], True),
        (["drop view main_passk_internal.int_passk__settings"], True),
        (["drop table main_passk_internal.int_passk__task_scans"], True),
        (["update main_passk_internal.int_passk__task_scans set built_with = 'another'"], True),
        (["drop table main_passk_internal.passk_last_whole_build"], True),
    ],
)
def test_after_a_change_of_the_log_alone_views_are_left(
    letters: Path, starts: list[list[str]], statements: list[str], makes_views: bool
) -> None:
    with duckdb.connect(str(letters)) as connection:
        for statement in (LATE, *statements):
            connection.execute(statement)
    assert starts_dbt(letters)
    assert ("--select" not in starts[0]) == makes_views


@pytest.mark.parametrize("options", [{"full_refresh": True}, {"variables": {"passk_ks": [1, 3]}}])
def test_what_changes_views_makes_them(
    letters: Path, starts: list[list[str]], options: dict[str, object]
) -> None:
    assert starts_dbt(letters, **options)
    assert "--select" not in starts[0]


def test_views_are_made_for_another_name_of_the_file(
    letters: Path, starts: list[list[str]]
) -> None:
    """They hold the name of the database, by which some versions of DuckDB look for its tables."""
    assert starts_dbt(letters.rename("renamed.duckdb"))
    assert "--select" not in starts[0]


@pytest.mark.long
def test_with_the_views_left_the_tables_are_those_of_a_full_refresh(
    passk: Passk, letters: Path, make_log: Callable[..., Path]
) -> None:
    first = passk("build", "--full-refresh", "--json").json
    assert passk("load", make_log("more.jsonl", [("newest", "steady", "PPPF")])).code == 0
    later = passk("build", "--json").json
    assert later["models"] < first["models"] / 1.5
    assert later["tests"] == first["tests"]
    found = {table.name: shown(passk, table.name) for table in PUBLIC_TABLES}
    assert "newest" in found["passk_task_metrics"]["run_id"]
    assert passk("build", "--full-refresh", "--json").json["models"] == first["models"]
    for table, rows in found.items():
        # Threads add up the tasks of a suite in any order.
        assert_frame_equal(shown(passk, table), rows, rel_tol=1e-12, abs_tol=1e-15)


def shown(passk: Passk, table: str) -> pl.DataFrame:
    return pl.read_csv(passk("show", table, "--csv").out.encode(), infer_schema_length=None)


@pytest.mark.usefixtures("starts")
def test_another_version_of_the_code_starts_dbt(
    letters: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "digest_of_code", lambda: "other models")
    assert starts_dbt(letters)


@pytest.mark.long
def test_a_build_of_a_part_is_no_whole_build(
    passk: Passk, letters: Path, models_only: tuple[str, str], make_log: Callable[..., Path]
) -> None:
    assert passk("load", make_log("more.jsonl", [("newest", "steady", "PPPP")])).code == 0
    assert passk("build", *models_only).code == 0
    said = passk("build")
    assert "tests passed" in said.out
    assert passk("build").out.splitlines()[0] == UNCHANGED


@pytest.mark.long
def test_warnings_are_said_again_and_failures_are_judged_again(passk: Passk, letters: Path) -> None:
    gate = (
        "{name: all, type: threshold, metric: pass_hat_k, k: 2, min: 0.99, run: all, severity: %s}"
    )
    advisory = ("build", "--vars", f"{{passk_gates: [{gate % 'warn'}]}}")
    first, second = passk(*advisory), passk(*advisory)
    assert second.out.splitlines()[0] == UNCHANGED
    assert first.code == second.code == 0
    assert "passk_gates_warn" in first.err
    assert second.err == first.err
    failing = ("build", "--vars", f"{{passk_gates: [{gate % 'error'}]}}")
    for _ in range(2):
        said = passk(*failing)
        assert said.code == 1
        assert "passk_gates_hold" in said.err


@pytest.mark.long
def test_a_build_without_tests_is_tested_by_the_next(passk: Passk, letters: Path) -> None:
    untested = passk("build", "--full-refresh", "--no-tests", "--json").json
    assert untested["tests"] == 0
    assert untested["models"] > 40
    assert passk("build", "--no-tests").out.splitlines()[0] == UNCHANGED
    # Those of the public tables.
    assert passk("build", "--json").json["tests"] > 30
    # A build without tests need not build the tables that only tests read.
    for options in ((), ("--no-tests",)):
        assert passk("build", *options).out.splitlines()[0] == UNCHANGED


@pytest.mark.long
def test_gates_stop_no_build_without_tests(passk: Passk, letters: Path) -> None:
    gate = "{passk_gates: [{name: all, type: threshold, metric: pass_hat_k, k: 2, min: 0.99, run: all}]}"
    assert passk("build", "--vars", gate).code == 1
    said = passk("build", "--no-tests", "--vars", gate)
    assert (said.code, said.err) == (0, "")
    assert passk("gate").code == 1
