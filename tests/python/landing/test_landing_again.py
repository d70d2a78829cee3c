"""Loading again: the same changes nothing, what changed replaces its own rows, unloading."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.common.errors import PasskError
from passk_py.ingest.landing import forget

if TYPE_CHECKING:
    from conftest import Landing


def rows_of(run: str, task: str, attempts: range) -> list[dict[str, Any]]:
    return [{"run_id": run, "task_id": task, "attempt": n, "passed": True} for n in attempts]


def everything(landing: Landing) -> list[Any]:
    tables = ("attempts", "rejected", "files", "removed_tasks")
    return [landing.query(f"select * from landing.{table} order by all") for table in tables]


def test_the_same_file_changes_nothing(landing: Landing) -> None:
    file = landing.lines(*rows_of("r", "t", range(3)))
    first = landing.load_one(file)
    before = everything(landing)

    second = landing.load_one(file)

    assert (first.status, second.status) == ("landed", "unchanged")
    assert (second.rows_read, second.rows_landed, second.rows_rejected) == (3, 2, 1)
    assert second.reasons == first.reasons == {"out_of_range": 1}
    assert everything(landing) == before


def test_touching_a_file_changes_nothing(landing: Landing) -> None:
    file = landing.lines(*rows_of("r", "t", range(1, 3)))
    landing.load_one(file)
    file.touch()
    assert landing.load_one(file).status == "unchanged"


@pytest.mark.parametrize("option", [{"agent": "a"}, {"tags": {"k": "v"}}, {"score_threshold": 0.5}])
def test_other_options_land_it_again(landing: Landing, option: dict[str, Any]) -> None:
    file = landing.lines(*rows_of("r", "t", range(1, 3)))
    landing.load_one(file)
    assert landing.load_one(file, **option).status == "replaced"
    assert landing.load_one(file, **option).status == "unchanged"
    assert landing.query("select count(*) from landing.attempts") == [(2,)]
    # As many rows came as went, but those that a build knows of are gone.
    assert landing.query("select run_id, task_id from landing.removed_tasks") == [("r", "t")]


def test_a_new_reader_lands_it_again(landing: Landing, monkeypatch: pytest.MonkeyPatch) -> None:
    file = landing.lines(*rows_of("r", "t", range(1, 3)))
    landing.load_one(file)
    monkeypatch.setattr("passk_py.ingest.formats.canonical.CanonicalJsonl.reader_version", 99)
    assert landing.load_one(file).status == "replaced"


def test_a_changed_file_replaces_its_own_rows(landing: Landing) -> None:
    kept = landing.lines(*rows_of("r", "other", range(1, 3)), name="kept.jsonl")
    file = landing.lines(
        *rows_of("r", "gone", range(1, 3)),
        *rows_of("r", "less", range(1, 4)),
        *rows_of("r", "same", range(1, 3)),
        *rows_of("r", "more", range(1, 2)),
        *rows_of("r", "bad", range(1)),
    )
    landing.load(kept, file)
    (first,) = landing.query("select max(loaded_at) from landing.attempts")[0]

    landing.lines(
        *rows_of("r", "less", range(1, 2)),
        *rows_of("r", "same", range(1, 3)),
        *rows_of("r", "more", range(1, 5)),
    )
    report = landing.load_one(file)

    assert (report.status, report.rows_landed, report.rows_rejected) == ("replaced", 7, 0)
    assert landing.query(
        "select task_id, count(*) from landing.attempts group by all order by 1"
    ) == [("less", 1), ("more", 4), ("other", 2), ("same", 2)]
    assert landing.rejected() == []
    ((second,),) = landing.query(
        "select distinct loaded_at from landing.attempts where source_file = ?", str(file)
    )
    assert second > first
    assert landing.query("select * from landing.removed_tasks order by task_id") == [
        ("r", "default", "gone", second),
        ("r", "default", "less", second),
        ("r", "default", "more", second),
        ("r", "default", "same", second),
    ]
    assert landing.query("select rows_read, rows_landed from landing.files order by 1") == [
        (2, 2),
        (7, 7),
    ]


def test_a_changed_file_that_fails_keeps_its_old_rows(landing: Landing) -> None:
    file = landing.lines(*rows_of("r", "t", range(1, 3)))
    landing.load_one(file)
    before = everything(landing)
    landing.write("log.jsonl", "")
    assert landing.load_one(file).status == "failed"
    landing.lines(*rows_of("r", "t", range(3)))
    assert landing.load_one(file, strict=True).status == "failed"
    assert everything(landing) == before


def test_batches_have_times_of_their_own(landing: Landing, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime(2020, 1, 1, tzinfo=tz)

    files = [
        landing.lines(*rows_of(f"r{n}", "t", range(1, 3)), name=f"{n}.jsonl") for n in range(3)
    ]
    landing.load(files[0])
    monkeypatch.setattr("passk_py.ingest.landing.schema.datetime", Stopped)
    landing.load(files[1])
    forget(landing.database, run_id="r1")
    landing.load(files[2])
    first, third = landing.query("select distinct loaded_at from landing.attempts order by 1")
    ((removed,),) = landing.query("select removed_at from landing.removed_tasks")
    tick = timedelta(microseconds=1)
    assert first[0] > datetime.now(UTC).replace(tzinfo=None) - timedelta(minutes=1)
    assert (removed, third[0]) == (first[0] + 2 * tick, first[0] + 3 * tick)


def test_forgetting_a_run(landing: Landing) -> None:
    both = landing.lines(
        *rows_of("a", "t", range(3)), *rows_of("b", "t", range(2)), name="both.jsonl"
    )
    alone = landing.lines(*rows_of("a", "u", range(1, 3)), name="alone.jsonl")
    landing.load(both, alone)

    report = forget(landing.database, run_id="a")

    assert (report.rows, report.rejected, report.files, report.tasks) == (4, 1, 2, 2)
    assert landing.attempts("run_id, attempt") == [("b", 1)]
    assert landing.rejected("run_id") == ["b"]
    assert landing.query("select run_id, task_id from landing.removed_tasks order by 2") == [
        ("a", "t"),
        ("a", "u"),
    ]
    assert landing.query(
        "select source_file, rows_read, rows_landed, rows_rejected from landing.files"
    ) == [(str(both), 2, 1, 1)]
    again = landing.load(both, alone)
    assert [file.status for file in again.files] == ["replaced", "landed"]
    assert landing.query("select run_id, count(*) from landing.attempts group by 1 order by 1") == [
        ("a", 4),
        ("b", 1),
    ]


def test_forgetting_a_file(landing: Landing) -> None:
    file = landing.lines(*rows_of("a", "t", range(3)))
    landing.load(file)
    file.unlink()
    report = forget(landing.database, source_file=file)
    assert (report.rows, report.rejected, report.files, report.tasks) == (2, 1, 1, 1)
    assert [len(rows) for rows in everything(landing)] == [0, 0, 0, 1]
    nothing = forget(landing.database, source_file=file)
    assert (nothing.rows, nothing.rejected, nothing.files, nothing.tasks) == (0, 0, 0, 0)


@pytest.mark.parametrize("what", [{}, {"run_id": "r", "source_file": "f"}])
def test_forgetting_needs_one_of_run_and_file(landing: Landing, what: dict[str, str]) -> None:
    with pytest.raises(PasskError) as error:
        forget(landing.database, **what)
    assert str(error.value) == (
        "Either run_id or source_file must be given, and not both.\n"
        "run_id removes a run, source_file the rows of one file."
    )


def test_progress(landing: Landing) -> None:
    told: list[tuple[str, int, int, int]] = []

    def progress(file: str, bytes_done: int, bytes_total: int, rows: int) -> None:
        told.append((file, bytes_done, bytes_total, rows))

    file = landing.lines(*rows_of("a", "t", range(1, 3)))
    broken = landing.lines(*rows_of("a", "t", range(3)), name="broken.jsonl")
    landing.load(file, broken, progress=progress)
    for path, rows in ((file, 2), (broken, 3)):
        size = path.stat().st_size
        of_file = [call for call in told if call[0] == str(path)]
        assert of_file[-1] == (str(path), size, size, rows)
        assert all(0 <= done <= total == size for _, done, total, _ in of_file)
