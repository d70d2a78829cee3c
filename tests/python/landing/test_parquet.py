"""Attempts as Parquet in a folder: the same rows as in a database, and nothing half done."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from passk_py.errors import PasskError
from passk_py.landing import forget

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Landing

NAMES = ["007", "2026-11-20", "a/b", "x*y[1]?", "it's", "a=b", " sp ", "..", "%2F", "{a}", "ü" * 20]


def rows_of(run: str, *attempts: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {"run_id": run, "suite": "s", "task_id": "t", "attempt": n, "passed": True, **more}
        for n in attempts
    ]


@pytest.fixture
def lake(landing: Landing) -> Path:
    """Where the attempts of the database lie, which is still to be made."""
    return landing.folder / "it's a [l]ake"


def files_in(lake: Path) -> list[str]:
    return sorted(str(path.relative_to(lake).parent) for path in lake.rglob("*.parquet"))


def test_the_rows_are_those_of_a_database(landing: Landing, lake: Path) -> None:
    rows = [
        {
            "run_id": run, "suite": suite, "task_id": "t", "attempt": 1, "passed": True, "score": 0.1,
            "tags": {"level": "1"}, "started_at": "2026-01-02T03:04:05.678Z", "seed": 7,
        }
        for run in NAMES for suite in NAMES
    ]  # fmt: skip
    file = landing.lines(*rows, "broken")
    other = replace(landing, folder=landing.folder / "other")
    other.folder.mkdir()

    report = landing.load(file, parquet=lake)
    other.load(file)

    everything = "select * exclude loaded_at from landing.{} order by all"
    for table in ("attempts", "rejected", "files"):
        found = landing.query(everything.format(table))
        assert found == other.query(everything.format(table))
        assert len(found) == {"attempts": len(NAMES) ** 2, "rejected": 1, "files": 1}[table]
    assert (report.parquet, report.rows_landed) == (lake, len(NAMES) ** 2)
    types = "select column_name, column_type from (describe landing.attempts)"
    assert landing.query(types) == other.query(types)


def test_files_lie_by_suite_and_run_and_say_all_themselves(landing: Landing, lake: Path) -> None:
    landing.load(landing.lines(*rows_of("a", 1, 2), *rows_of("b", 1)), parquet=lake)
    assert files_in(lake) == ["suite=s/run_id=a", "suite=s/run_id=b"]
    (path,) = (lake / "suite=s" / "run_id=a").iterdir()
    alone = "select run_id, suite, task_id, attempt, outcome from read_parquet(?, hive_partitioning = false)"
    with duckdb.connect() as connection:
        assert connection.execute(alone, [str(path)]).fetchall() == [
            ("a", "s", "t", 1, "passed"), ("a", "s", "t", 2, "passed")
        ]  # fmt: skip


def test_a_database_remembers_its_folder(landing: Landing, lake: Path) -> None:
    landing.load(landing.lines(*rows_of("a", 1), name="a.jsonl"), parquet=lake)
    report = landing.load(landing.lines(*rows_of("b", 1), name="b.jsonl"))
    assert report.parquet == lake
    assert landing.attempts("run_id") == ["a", "b"]
    assert files_in(lake) == ["suite=s/run_id=a", "suite=s/run_id=b"]


def test_a_changed_file_replaces_its_own_rows(landing: Landing, lake: Path) -> None:
    kept = landing.lines(*rows_of("a", 1), name="kept.jsonl")
    file = landing.lines(*rows_of("a", 2, 3), *rows_of("gone", 1))
    landing.load(kept, file, parquet=lake)
    assert landing.load_one(file).status == "unchanged"
    landing.lines(*rows_of("a", 2), *rows_of("new", 1))

    assert landing.load_one(file).status == "replaced"

    assert sorted(landing.attempts("run_id, attempt")) == [("a", 1), ("a", 2), ("new", 1)]
    assert landing.query("select run_id from landing.removed_tasks order by 1") == [
        ("a",),
        ("gone",),
    ]
    assert files_in(lake) == ["suite=s/run_id=a", "suite=s/run_id=a", "suite=s/run_id=new"]
    assert not (lake / "suite=s" / "run_id=gone").exists()


def test_forgetting(landing: Landing, lake: Path) -> None:
    first = landing.lines(*rows_of("a", 1), *rows_of("b", 1, 2), name="1.jsonl")
    second = landing.lines(*rows_of("b", 3), "broken", name="2.jsonl")
    landing.load(first, second, parquet=lake)

    report = forget(landing.database, run_id="b")

    assert (report.rows, report.rejected, report.files, report.tasks) == (3, 0, 2, 1)
    assert landing.attempts("run_id") == ["a"]
    assert files_in(lake) == ["suite=s/run_id=a"]
    sizes = "select rows_read, rows_landed, rows_rejected from landing.files order by source_file"
    assert landing.query(sizes) == [(1, 1, 0), (1, 0, 1)]
    assert forget(landing.database, source_file=first).rows == 1
    assert landing.attempts() == []
    assert files_in(lake) == []
    assert landing.load_one(first).rows_landed == 3
    assert sorted(landing.attempts("run_id")) == ["a", "b", "b"]


def test_what_fails_leaves_the_files_as_they_were(landing: Landing, lake: Path) -> None:
    file = landing.lines(*rows_of("a", 1, 2))
    landing.load(file, parquet=lake)
    before = landing.attempts(), files_in(lake)
    landing.lines(*rows_of("a", 1), *rows_of("b", 0))
    assert landing.load_one(file, strict=True).status == "failed"
    assert (landing.attempts(), files_in(lake)) == before


def test_a_name_that_no_folder_can_have(landing: Landing, lake: Path) -> None:
    file = landing.lines(*rows_of("a", 1))
    landing.load(file, parquet=lake)
    before = landing.attempts(), files_in(lake)
    landing.lines(*rows_of("b", 1), *rows_of("ü" * 60, 1))
    report = landing.load_one(file)
    assert (report.status, report.message) == (
        "failed",
        "A suite or a run has a name that is too long for a folder, which takes 255 bytes. A letter "
        "outside of ASCII needs six or more of them.",
    )
    assert landing.attempts() == before[0]
    landing.lines(*rows_of("a", 1))
    landing.load(file)
    assert (landing.attempts(), files_in(lake)) == before


def test_what_a_killed_load_left_is_swept(landing: Landing, lake: Path) -> None:
    file = landing.lines(*rows_of("a", 1))
    landing.load(file, parquet=lake)
    (path,) = (lake / "suite=s" / "run_id=a").iterdir()
    left = path.with_name(path.name[:-12] + "0000.parquet")
    left.write_bytes(path.read_bytes())
    others = [path.with_name(name) for name in ("attempts_other_1.parquet", "notes.txt")]
    for other in others:
        other.write_text("not of this database")
    assert landing.attempts("attempt") == [1]
    landing.load(file)
    assert set(path.parent.iterdir()) == {path, *others}


def in_the_database(landing: Landing, lake: Path) -> None:
    del lake
    landing.load(landing.lines(*rows_of("a", 1, 2)))


def elsewhere(landing: Landing, lake: Path) -> None:
    landing.load(landing.lines(*rows_of("a", 1)), parquet=lake.with_name("elsewhere"))


def a_file(landing: Landing, lake: Path) -> None:
    del landing
    lake.write_text("")


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (
            in_the_database,
            "This database holds its attempts itself (2), so no others can go to {lake}.",
        ),
        (elsewhere, "The attempts of this database are Parquet in {there}, not in {lake}."),
        (a_file, "{lake} is a file."),
    ],
)
def test_what_is_refused(
    landing: Landing, lake: Path, state: Callable[[Landing, Path], None], said: str
) -> None:
    state(landing, lake)
    exists = landing.database.exists()
    with pytest.raises(PasskError) as caught:
        landing.load(landing.lines(*rows_of("b", 1), name="b.jsonl"), parquet=lake)
    there = lake.with_name("elsewhere")
    assert str(caught.value).splitlines()[0] == said.format(lake=lake, there=there)
    assert landing.database.exists() == exists


def test_several_at_a_time(landing: Landing, lake: Path) -> None:
    files = [landing.lines(*rows_of(f"r{n}", 1, 2), name=f"{n}.jsonl") for n in range(12)]
    landing.load(*files, parquet=lake, jobs=4)
    assert landing.query("select count(*), count(distinct loaded_at) from landing.attempts") == [
        (24, 12)
    ]
    assert len(files_in(lake)) == 12


def test_a_run_in_another_file_is_told(landing: Landing, lake: Path) -> None:
    trials = [[{"task_id": 1, "trial": n, "reward": 1.0, "info": {}, "traj": []}] for n in (0, 1)]
    first = landing.write("a/nightly.json", json.dumps(trials[0]))
    second = landing.write("b/nightly.json", json.dumps(trials[1]))
    landing.load(first, parquet=lake)
    assert f"so is a run in {first}" in landing.load_one(second).message


def test_nothing_landed(landing: Landing, lake: Path) -> None:
    report = landing.load(landing.write("log.jsonl", json.dumps([])), parquet=lake)
    assert report.files[0].status == "failed"
    assert not landing.database.exists()
