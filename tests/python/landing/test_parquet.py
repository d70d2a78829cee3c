"""Attempts as Parquet in a folder: the same rows as in a database, and nothing half done."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from passk_py.common.errors import PasskError
from passk_py.ingest.landing import forget
from passk_py.ingest.landing.jobs import Connections

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
def kept(landing: Landing) -> Path:
    """Where the attempts of the database lie, which is still to be made."""
    return landing.folder / "it's k[e]pt"


def files_in(kept: Path) -> list[str]:
    return sorted(str(path.relative_to(kept).parent) for path in kept.rglob("*.parquet"))


def test_a_folder_of_a_version_without_transcripts(landing: Landing, kept: Path) -> None:
    landing.load(landing.lines(*rows_of("a", 1), name="a.jsonl"), parquet=kept)
    landing.load(landing.lines(*rows_of("z", 1), name="z.jsonl"))
    with duckdb.connect(str(landing.database)) as connection:
        for (path,) in connection.execute("select path from landing.parquet_files").fetchall():
            rows = f"select * exclude (transcript) from read_parquet('{quoted(path)}')"
            connection.execute(f"create or replace temp table kept as {rows}")
            connection.execute(f"copy kept to '{quoted(path)}' (format parquet)")
        connection.execute("alter table landing.parquet_files drop column has_transcript")
        listed = ", ".join(f"'{quoted(path)}'" for path in kept.rglob("*.parquet"))
        connection.execute(
            f"create or replace view landing.attempts as from read_parquet([{listed}], "
            "hive_partitioning = false)"
        )
    landing.load(landing.lines(*rows_of("m", 1, 2, transcript="/t"), name="m.jsonl"))
    assert sorted(landing.attempts("run_id, attempt, transcript, source_format")) == [
        ("a", 1, None, "jsonl"), ("m", 1, "/t", "jsonl"), ("m", 2, "/t", "jsonl"), ("z", 1, None, "jsonl"),
    ]  # fmt: skip
    # The log of an older file is replaced, and a run removed.
    landing.load(landing.lines(*rows_of("z", 1, transcript="/u"), name="z.jsonl"))
    assert forget(landing.database, run_id="a").rows == 1
    assert sorted(landing.attempts("run_id, attempt, transcript")) == [
        ("m", 1, "/t"), ("m", 2, "/t"), ("z", 1, "/u"),
    ]  # fmt: skip


def quoted(path: Path | str) -> str:
    return str(path).replace("'", "''")


def test_the_rows_are_those_of_a_database(landing: Landing, kept: Path) -> None:
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

    report = landing.load(file, parquet=kept)
    other.load(file)

    everything = "select * exclude loaded_at from landing.{} order by all"
    for table in ("attempts", "rejected", "files"):
        found = landing.query(everything.format(table))
        assert found == other.query(everything.format(table))
        assert len(found) == {"attempts": len(NAMES) ** 2, "rejected": 1, "files": 1}[table]
    assert (report.parquet, report.rows_landed) == (kept, len(NAMES) ** 2)
    types = "select column_name, column_type from (describe landing.attempts)"
    assert landing.query(types) == other.query(types)


def test_files_lie_by_suite_and_run_and_say_all_themselves(landing: Landing, kept: Path) -> None:
    landing.load(landing.lines(*rows_of("a", 1, 2), *rows_of("b", 1)), parquet=kept)
    assert files_in(kept) == ["suite=s/run_id=a", "suite=s/run_id=b"]
    (path,) = (kept / "suite=s" / "run_id=a").iterdir()
    alone = "select run_id, suite, task_id, attempt, outcome from read_parquet(?, hive_partitioning = false)"
    with duckdb.connect() as connection:
        assert connection.execute(alone, [str(path)]).fetchall() == [
            ("a", "s", "t", 1, "passed"), ("a", "s", "t", 2, "passed")
        ]  # fmt: skip


def test_a_database_remembers_its_folder(landing: Landing, kept: Path) -> None:
    landing.load(landing.lines(*rows_of("a", 1), name="a.jsonl"), parquet=kept)
    report = landing.load(landing.lines(*rows_of("b", 1), name="b.jsonl"))
    assert report.parquet == kept
    assert landing.attempts("run_id") == ["a", "b"]
    assert files_in(kept) == ["suite=s/run_id=a", "suite=s/run_id=b"]


def test_a_changed_file_replaces_its_own_rows(landing: Landing, kept: Path) -> None:
    other = landing.lines(*rows_of("a", 1), name="other.jsonl")
    file = landing.lines(*rows_of("a", 2, 3), *rows_of("gone", 1))
    landing.load(other, file, parquet=kept)
    assert landing.load_one(file).status == "unchanged"
    landing.lines(*rows_of("a", 2), *rows_of("new", 1))

    assert landing.load_one(file).status == "replaced"

    assert sorted(landing.attempts("run_id, attempt")) == [("a", 1), ("a", 2), ("new", 1)]
    assert landing.query("select run_id from landing.removed_tasks order by 1") == [
        ("a",),
        ("gone",),
    ]
    assert files_in(kept) == ["suite=s/run_id=a", "suite=s/run_id=a", "suite=s/run_id=new"]
    assert not (kept / "suite=s" / "run_id=gone").exists()


def test_forgetting(landing: Landing, kept: Path) -> None:
    first = landing.lines(*rows_of("a", 1), *rows_of("b", 1, 2), name="1.jsonl")
    second = landing.lines(*rows_of("b", 3), "broken", name="2.jsonl")
    landing.load(first, second, parquet=kept)

    report = forget(landing.database, run_id="b")

    assert (report.rows, report.rejected, report.files, report.tasks) == (3, 0, 2, 1)
    assert landing.attempts("run_id") == ["a"]
    assert files_in(kept) == ["suite=s/run_id=a"]
    sizes = "select rows_read, rows_landed, rows_rejected from landing.files order by source_file"
    assert landing.query(sizes) == [(1, 1, 0), (1, 0, 1)]
    assert forget(landing.database, source_file=first).rows == 1
    assert landing.attempts() == []
    assert files_in(kept) == []
    assert landing.load_one(first).rows_landed == 3
    assert sorted(landing.attempts("run_id")) == ["a", "b", "b"]


def test_what_fails_leaves_the_files_as_they_were(landing: Landing, kept: Path) -> None:
    file = landing.lines(*rows_of("a", 1, 2))
    landing.load(file, parquet=kept)
    before = landing.attempts(), files_in(kept)
    landing.lines(*rows_of("a", 1), *rows_of("b", 0))
    assert landing.load_one(file, strict=True).status == "failed"
    assert (landing.attempts(), files_in(kept)) == before
    # A first load too, of which not even the database stays.
    other, there = replace(landing, folder=landing.folder / "other"), landing.folder / "there"
    other.folder.mkdir()
    assert other.load_one(file, parquet=there, strict=True).status == "failed"
    assert not other.database.exists()
    assert files_in(there) == []


def test_a_name_that_no_folder_can_have(landing: Landing, kept: Path) -> None:
    file = landing.lines(*rows_of("a", 1))
    landing.load(file, parquet=kept)
    before = landing.attempts(), files_in(kept)
    landing.lines(*rows_of("b", 1), *rows_of("ü" * 60, 1))
    report = landing.load_one(file)
    assert (report.status, report.message) == (
        "failed",
        "A suite or a run has a name that is too long for a folder, which takes 255 bytes: a letter "
        "or a digit is one of them, a space three, a letter like ü six.",
    )
    assert (landing.attempts(), files_in(kept)) == before


def test_what_a_killed_load_left_is_swept(landing: Landing, kept: Path) -> None:
    file = landing.lines(*rows_of("a", 1))
    landing.load(file, parquet=kept)
    (path,) = (kept / "suite=s" / "run_id=a").iterdir()
    left = path.with_name(path.name[:-12] + "0000.parquet")
    left.write_bytes(path.read_bytes())
    others = [path.with_name(name) for name in ("attempts_0_1.parquet", "notes.txt")]
    for other in others:
        other.write_text("not of this database")
    assert landing.attempts("attempt") == [1]
    landing.load(file)
    assert set(path.parent.iterdir()) == {path, *others}


def in_the_database(landing: Landing, kept: Path) -> None:
    del kept
    landing.load(landing.lines(*rows_of("a", 1, 2)))


def elsewhere(landing: Landing, kept: Path) -> None:
    landing.load(landing.lines(*rows_of("a", 1)), parquet=kept.with_name("elsewhere"))


def a_file(landing: Landing, kept: Path) -> None:
    del landing
    kept.write_text("")


def of_another(landing: Landing, kept: Path) -> None:
    landing.load(landing.lines(*rows_of("a", 1)), parquet=kept)
    landing.database.unlink()


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (
            in_the_database,
            "This database already has attempts in its own tables (2), so new ones can't go to {kept}.",
        ),
        (
            elsewhere,
            "The attempts of this database are stored as Parquet in {there}, not in {kept}.",
        ),
        (a_file, "{kept} is a file."),
        (of_another, "{kept} holds attempts of another database: {file}."),
    ],
)
def test_what_is_refused(
    landing: Landing, kept: Path, state: Callable[[Landing, Path], None], said: str
) -> None:
    state(landing, kept)
    exists = landing.database.exists()
    with pytest.raises(PasskError) as caught:
        landing.load(landing.lines(*rows_of("b", 1), name="b.jsonl"), parquet=kept)
    there = kept.with_name("elsewhere")
    file = next((str(path.relative_to(kept)) for path in kept.rglob("*.parquet")), "")
    first, *hint = str(caught.value).splitlines()
    assert first == said.format(kept=kept, there=there, file=file)
    assert hint
    assert landing.database.exists() == exists


def test_several_at_a_time(landing: Landing, kept: Path) -> None:
    files = [landing.lines(*rows_of(f"r{n}", 1, 2), name=f"{n}.jsonl") for n in range(12)]
    landing.load(*files, parquet=kept, jobs=4)
    assert landing.query("select count(*), count(distinct loaded_at) from landing.attempts") == [
        (24, 12)
    ]
    assert len(files_in(kept)) == 12


def test_a_run_in_another_file_is_told(landing: Landing, kept: Path) -> None:
    trials = [[{"task_id": 1, "trial": n, "reward": 1.0, "info": {}, "traj": []}] for n in (0, 1)]
    first = landing.write("a/nightly.json", json.dumps(trials[0]))
    second = landing.write("b/nightly.json", json.dumps(trials[1]))
    landing.load(first, parquet=kept)
    assert f"so is a run in {first}" in landing.load_one(second).message


@pytest.mark.parametrize("folder", ["../kept", "link", "~/kept", "ends with a slash/", "ü"])
def test_a_folder_that_is_named_in_another_way(
    landing: Landing, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = landing.folder / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(landing.folder))
    (here / "link").symlink_to(landing.folder)
    first = landing.lines(*rows_of("a", 1, 2), name="1.jsonl")
    second = landing.lines(*rows_of("b", 1), name="2.jsonl")
    landed = landing.load(first, parquet=folder)
    if folder == "ü" and int(duckdb.__version__.split(".")[0]) < 2:
        # Older versions of DuckDB write to another folder, which is not taken for this one.
        assert landed.files[0].status == "failed"
        assert f"where it is told to write to {here / folder}." in landed.files[0].message
        return
    landing.load(first, second)
    landing.load(second, parquet=folder)
    assert landing.attempts("run_id, attempt") == [("a", 1), ("a", 2), ("b", 1)]
    assert forget(landing.database, run_id="a").rows == 2
    assert landing.load_one(first).status == "landed"
    assert sorted(landing.attempts("run_id, attempt")) == [("a", 1), ("a", 2), ("b", 1)]


def test_a_store_is_no_folder(landing: Landing) -> None:
    file = landing.lines(*rows_of("a", 1))
    with pytest.raises(
        PasskError, match="s3://evals/attempts, but must be a folder of this machine"
    ):
        landing.load(file, parquet="s3://evals/attempts")
    assert not landing.database.exists()


def test_a_database_does_not_load_its_own_files(landing: Landing) -> None:
    landing.lines(*rows_of("a", 1, 2))
    kept = landing.folder / "kept"
    for _ in range(3):
        report = landing.load(landing.folder, parquet=kept)
        assert [file.path for file in report.files] == [str(landing.folder / "log.jsonl")]
    assert len(landing.attempts()) == 2
    (path,) = kept.rglob("*.parquet")
    named = landing.load_one(path)
    assert (named.status, named.message) == (
        "failed",
        f"{path} is a Parquet file of this database's own attempts.",
    )


def test_a_copy_is_read_and_not_written(landing: Landing, kept: Path) -> None:
    first = landing.lines(*rows_of("a", 1), name="1.jsonl")
    landing.load(first, parquet=kept)
    copy = replace(landing, folder=landing.folder / "copy")
    copy.folder.mkdir()
    copy.database.write_bytes(landing.database.read_bytes())
    assert copy.attempts() == landing.attempts()
    for change in (lambda: copy.load(first), lambda: forget(copy.database, run_id="a")):
        with pytest.raises(PasskError, match=f"is a copy of {landing.database}"):
            change()
    # One that was moved is no copy.
    landing.database.unlink()
    assert copy.load_one(landing.lines(*rows_of("b", 1), name="2.jsonl")).status == "landed"
    assert sorted(copy.attempts("run_id")) == ["a", "b"]


@pytest.mark.parametrize("gone", ["folder", "file"])
def test_missing_files_are_told(landing: Landing, kept: Path, gone: str) -> None:
    file = landing.lines(*rows_of("a", 1), *rows_of("b", 1))
    landing.load(file, parquet=kept)
    listed = sorted(kept.rglob("*.parquet"))
    away = kept if gone == "folder" else listed[0]
    moved = away.rename(landing.folder / "away")
    count = 2 if gone == "folder" else 1
    said = f"{count} of the Parquet files .* the first is {re.escape(str(listed[0]))}"
    for change in (lambda: landing.load(file), lambda: forget(landing.database, run_id="a")):
        with pytest.raises(PasskError, match=said):
            change()
    moved.rename(away)
    assert landing.load_one(file).status == "unchanged"


class Interrupted:
    """A connection on which the commit of a log is done, and then interrupted, once."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, left: list[type[BaseException]]
    ) -> None:
        self._connection, self._left = connection, left

    def execute(self, statement: str, *values: Any) -> Any:
        done = self._connection.execute(statement, *values)
        if statement == "commit" and self._left:
            raise self._left.pop()
        return done

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def test_an_interrupt_after_the_commit_leaves_what_was_committed(
    landing: Landing, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = landing.lines(*rows_of("a", 1, 2))
    landing.load(file, parquet=kept)
    landing.lines(*rows_of("a", 1), *rows_of("b", 1))
    left: list[type[BaseException]] = [KeyboardInterrupt]
    monkeypatch.setattr(Connections, "mine", property(lambda self: Interrupted(self._first, left)))
    with pytest.raises(KeyboardInterrupt):
        landing.load(file)
    monkeypatch.undo()
    assert sorted(landing.attempts("run_id")) == ["a", "b"]
    assert files_in(kept) == ["suite=s/run_id=a", "suite=s/run_id=b"]
    assert landing.load_one(file).status == "unchanged"


def test_nothing_landed(landing: Landing, kept: Path) -> None:
    report = landing.load(landing.write("log.jsonl", json.dumps([])), parquet=kept)
    assert report.files[0].status == "failed"
    assert not landing.database.exists()
