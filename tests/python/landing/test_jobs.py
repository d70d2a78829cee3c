"""Several logs at a time: the same rows as one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from passk_py.common.errors import PasskError
from passk_py.ingest.landing import load
from passk_py.ingest.landing.jobs import Connections, Jobs

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Landing


def write_logs(landing: Landing, count: int) -> Path:
    for n in range(count):
        rows: list[Any] = [
            {"run_id": f"r{n % 3}", "task_id": f"t{n}", "attempt": k, "passed": k % 2 == 0}
            for k in range(n % 7)
        ]
        landing.lines(*rows, "{broken" if n % 5 == 0 else "", name=f"logs/{n:03d}.jsonl")
    return landing.folder / "logs"


@pytest.mark.long
@pytest.mark.parametrize("jobs", [2, 5])
def test_several_jobs_land_what_one_does(jobs: int, landing: Landing, tmp_path: Path) -> None:
    folder = write_logs(landing, 20)
    one = load(folder, database=tmp_path / "one.duckdb")
    several = load(folder, database=tmp_path / "several.duckdb", jobs=jobs)
    assert several == one
    assert one.rows_landed > 30
    assert one.rows_rejected > 3

    def rows(name: str, sql: str) -> Any:
        with duckdb.connect(str(tmp_path / name)) as connection:
            return connection.execute(sql).fetchall()

    for sql in (
        "select * exclude (loaded_at) from landing.attempts order by all",
        "select * exclude (loaded_at) from landing.rejected order by all",
        "select * exclude (loaded_at) from landing.files order by all",
    ):
        assert rows("several.duckdb", sql) == rows("one.duckdb", sql)
    # Each batch has a time of its own, which increments rely on.
    times = "select count(*), count(distinct loaded_at) from landing.files"
    ((files, distinct),) = rows("several.duckdb", times)
    assert files == distinct
    assert load(folder, database=tmp_path / "several.duckdb", jobs=jobs).statuses.keys() <= {
        "unchanged",
        "failed",
    }


def test_no_jobs_at_all_make_no_sense(landing: Landing, row: dict[str, Any]) -> None:
    with pytest.raises(PasskError, match="--jobs is 0"):
        landing.load(landing.lines(row), jobs=0)


@pytest.mark.long
def test_an_exception_ends_what_is_running_and_lets_nothing_else_begin() -> None:
    begun = []
    with duckdb.connect() as connection:
        connections = Connections(connection)

        def work() -> None:
            begun.append(1)
            connections.mine.execute("select count(*) from range(100000000000)").fetchall()

        def interrupted() -> None:
            with Jobs[None](2, connections) as jobs:
                for _ in range(4):
                    jobs.run(work)
                while len(begun) < 2:
                    pass
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
    assert len(begun) == 2
