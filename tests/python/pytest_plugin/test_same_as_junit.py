"""Attempts and numbers of a session are those of pytest's own JUnit XML of the same session."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from math import comb
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest

import passk_py as pk
from passk_py.cli.log_tables import settings_of_log, tables_of_log

from .sessions import Ended, run_session

if TYPE_CHECKING:
    from pathlib import Path

SUITE: Final = """
import time
import pytest

@pytest.fixture(scope="session")
def agent():
    return object()

@pytest.fixture
def sandbox(passk_attempt):
    if passk_attempt == 3:
        raise RuntimeError("no sandbox")
    yield
    if passk_attempt == 5:
        raise RuntimeError("not tidied up")

def test_sure():
    pass

@pytest.mark.parametrize("task", ["refund", "cancel-2-3"])
def test_flaky(agent, task, passk_seed, record_property):
    record_property("cost_usd", 0.25)
    record_property("domain", "orders")
    assert passk_seed not in {"refund": (12, 15), "cancel-2-3": (11,)}[task]

class TestTools:
    def test_environment(self, sandbox):
        pass
    def test_both(self, sandbox, passk_attempt):
        assert passk_attempt != 5

@pytest.mark.xfail
def test_expected(passk_attempt):
    assert passk_attempt % 2 == 0

@pytest.mark.xfail(strict=True)
def test_strict(passk_attempt):
    assert passk_attempt % 2 == 0

def test_skips(passk_attempt):
    if passk_attempt < 3:
        pytest.skip("not here")

@pytest.mark.timeout(0.2)
def test_slow(passk_attempt):
    time.sleep(2 if passk_attempt == 2 else 0)

def test_parts(passk_attempt, subtests):
    for part in range(3):
        with subtests.test(part=part):
            assert (passk_attempt, part) != (4, 1)
"""
COUNTS: Final = {
    # n, c, excluded, by the rules for errors, skips and expected failures of docs/formats.md
    "test_agent::test_sure": (8, 8, 0),
    "test_agent::test_flaky[refund]": (8, 6, 0),
    "test_agent::test_flaky[cancel-2-3]": (8, 7, 0),
    "test_agent.TestTools::test_environment": (7, 7, 1),
    "test_agent.TestTools::test_both": (7, 6, 1),
    "test_agent::test_expected": (4, 4, 4),
    "test_agent::test_strict": (4, 0, 4),
    "test_agent::test_skips": (6, 6, 2),
    "test_agent::test_slow": (8, 7, 0),
    "test_agent::test_parts": (8, 7, 0),
}
TOLD: Final = "task_id, outcome, outcome_reason, seed, cost_usd, map_entries(tags)::varchar"


@pytest.fixture(scope="module", params=[(), ("-n", "2")], ids=["alone", "xdist"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """Give a session that wrote both logs, and a database that has both."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "pytest.ini").write_text("[pytest]\njunit_family = xunit1\n", encoding="utf-8")
    (folder / "test_agent.py").write_text(SUITE, encoding="utf-8")
    words = ["--passk-repeat", "8", "--passk-seed", "10", "--passk-run-id", "session"]
    plugins = ("pytest_timeout", "xdist.plugin")
    ended = run_session(folder, *words, "--junitxml", "junit.xml", *request.param, plugins=plugins)
    assert ended.code == 1, ended.out
    database = folder / "passk.duckdb"
    log = folder / ".pytest_cache" / "d" / "passk" / "session.jsonl"
    for path, options in ((log, {}), (folder / "junit.xml", {"run_id": "xml", "suite": "pytest"})):
        report = pk.load(path, database=database, **options)
        assert report.statuses == {"landed": 1}
        assert report.rows_rejected == 0
    return ended


def rows(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(duckdb.connect(str(folder / "passk.duckdb"), read_only=True)) as connection:
        return connection.execute(sql).fetchall()


def test_each_test_has_the_counts_that_the_rules_give(both: Ended) -> None:
    found = rows(
        both.folder,
        "select run_id, task_id, count(*) filter (outcome <> 'excluded'), "
        "count(*) filter (outcome = 'passed'), count(*) filter (outcome = 'excluded') "
        "from landing.attempts group by all",
    )
    for run in ("session", "xml"):
        assert {task: tuple(counts) for one, task, *counts in found if one == run} == COUNTS


def test_attempts_are_told_alike(both: Ended) -> None:
    told = {
        run: Counter(
            rows(both.folder, f"select {TOLD} from landing.attempts where run_id = '{run}'")
        )
        for run in ("session", "xml")
    }
    assert told["session"].total() == 80
    assert told["session"] == told["xml"]


def test_attempts_last_as_long(both: Ended) -> None:
    # XML has three decimals. It has an error of a tear-down after a failure as another test, and the
    # time of a subtest twice.
    lasted = rows(
        both.folder,
        "select run_id, task_id, round(sum(duration_s), 2) from landing.attempts "
        "where task_id not like '%both' and task_id not like '%parts' group by all",
    )
    by_run = {run: {task: s for one, task, s in lasted if one == run} for run in ("session", "xml")}
    assert by_run["session"]["test_agent::test_slow"] >= 0.2
    assert by_run["session"] == pytest.approx(by_run["xml"], abs=0.02)


def test_attempts_are_numbered_in_the_order_in_which_they_started(both: Ended) -> None:
    found: dict[str, list[tuple[int, Any]]] = {}
    for task, *numbered in rows(
        both.folder,
        "select task_id, attempt, started_at from landing.attempts where run_id = 'session' "
        "order by task_id, started_at",
    ):
        found.setdefault(task, []).append(tuple(numbered))
    assert found.keys() == COUNTS.keys()
    for attempts in found.values():
        assert [number for number, _ in attempts] == [*range(1, 9)]
        assert None not in [started for _, started in attempts]


def test_every_metric_and_limit_is_the_same(both: Ended, tmp_path: Path) -> None:
    copy = tmp_path / "passk.duckdb"
    copy.write_bytes((both.folder / "passk.duckdb").read_bytes())
    with closing(duckdb.connect(str(copy))) as connection:
        tables = tables_of_log(connection, settings_of_log())
        found = {
            run: tables.records(
                "select * exclude (run_id) from passk_suite_metrics "
                f"where run_id = '{run}' order by k"
            )
            for run in ("session", "xml")
        }
    assert found["session"] == found["xml"]
    at = {row["k"]: row for row in found["session"]}
    for k in (1, 2, 4):
        by_hand = sum(comb(c, k) / comb(n, k) for n, c, _ in COUNTS.values()) / len(COUNTS)
        assert at[k]["pass_hat_k"] == pytest.approx(by_hand, rel=1e-12)
        assert at[k]["pass_hat_k_lower"] < by_hand < at[k]["pass_hat_k_upper"]
    # Two tests have four counted attempts only.
    assert at[8]["pass_hat_k"] is None


def test_the_session_prints_the_numbers(both: Ended) -> None:
    by_hand = sum(comb(c, 4) / comb(n, 4) for n, c, _ in COUNTS.values()) / len(COUNTS)
    assert f"pass^4 = {100 * by_hand:.1f}%" in both.out
    assert "7 of 8  test_agent::test_slow" in both.out
    assert "0 of 4  test_agent::test_strict" in both.out
