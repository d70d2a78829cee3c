"""The file's values count, errors are told, and failed loads leave nothing behind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pytest

from passk_py.common.errors import PasskError
from passk_py.ingest.landing import identification, loading

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Landing


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "json"])
def test_a_folder_named_like_a_column_is_only_a_name(
    landing: Landing, kind: str, odd: bool
) -> None:
    """Engines take such folders for columns; in the careful way, which an odd row forces, too."""
    rows = [
        {"run_id": "mine", "task_id": "t", "attempt": 1, "passed": True, "suite": None},
        {
            "run_id": "mine",
            "task_id": "t",
            "attempt": 0 if odd else 2,
            "passed": True,
            "suite": None,
        },
    ]
    path = landing.folder / "run_id=other" / "model=big" / "attempt=9" / f"log.{kind}"
    path.parent.mkdir(parents=True)
    frame = pl.DataFrame(rows, schema_overrides={"suite": pl.String})
    if kind == "parquet":
        frame.write_parquet(path)
    elif kind == "csv":
        frame.write_csv(path)
    elif kind == "json":
        path.write_text(json.dumps(rows))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = landing.load_one(path)
    assert (report.rows_landed, report.rows_rejected) == ((1, 1) if odd else (2, 0))
    assert set(landing.attempts("run_id, model")) == {("mine", None)}
    assert landing.attempts("attempt") == ([1] if odd else [1, 2])


@pytest.mark.parametrize("score", ["1_0", "0_1.5", "1e1_0"])
def test_an_underscore_is_no_digit(landing: Landing, row: dict[str, Any], score: str) -> None:
    landing.load_one(landing.lines(row | {"score": score}, row | {"attempt": 2}))
    assert landing.rejected("source_line, reason_code") == [(1, "wrong_type")]


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("log.jsonl", b"", "empty"),
        ("log.parquet", b"PAR1", "Parquet"),
        ("log.jsonl.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff", "damaged"),
        ("log.csv", "run_id,task_id".encode("utf-16"), "UTF-16"),
    ],
)
def test_a_damaged_file_in_a_folder_is_a_failure(
    landing: Landing, row: dict[str, Any], name: str, content: bytes, what: str
) -> None:
    """It may be a run's whole log; only what is something else is left alone."""
    landing.lines(row, name="logs/good.jsonl")
    landing.write("logs/settings.json", '{"some": "settings"}')
    damaged = landing.write(f"logs/damaged/{name}", content)
    report = landing.load(landing.folder / "logs")
    failed = [file for file in report.files if file.status == "failed"]
    assert [file.path for file in failed] == [str(damaged)]
    assert what in failed[0].message
    assert [file.path for file in report.skipped] == [str(landing.folder / "logs/settings.json")]
    assert report.exit_code == 2
    assert len(landing.attempts()) == 1


def test_a_folder_that_can_not_be_read_is_named(
    landing: Landing, row: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    landing.lines(row, name="logs/good.jsonl")
    secret = landing.folder / "logs" / "secret"
    secret.mkdir()
    scan = os.scandir

    def closed(path: Any) -> Any:
        if str(path) == str(secret):
            raise PermissionError(13, "Permission denied", str(secret))
        return scan(path)

    # As root, who runs many a test, may read every folder.
    monkeypatch.setattr(os, "scandir", closed)
    report = landing.load(landing.folder / "logs")
    assert [(file.path, file.message) for file in report.files if file.status == "failed"] == [
        (str(secret), f"The folder {secret} can't be read: Permission denied.")
    ]
    assert len(landing.attempts()) == 1


def test_a_name_that_is_too_long_does_not_keep_the_others_from_landing(
    landing: Landing, row: dict[str, Any]
) -> None:
    report = landing.load(landing.folder / ("x" * 300 + ".jsonl"), landing.lines(row))
    assert [file.status for file in report.files] == ["failed", "landed"]
    assert "File name too long" in report.files[0].message


def test_a_failure_that_nobody_thought_of_does_not_keep_the_others_from_landing(
    landing: Landing, row: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    take = identification.take_sample

    def odd(path: Any, connection: Any) -> Any:
        if path.name == "odd.jsonl":
            raise ValueError("no idea")
        return take(path, connection)

    monkeypatch.setattr(identification, "take_sample", odd)
    report = landing.load(landing.lines(row, name="odd.jsonl"), landing.lines(row))
    assert [file.status for file in report.files] == ["failed", "landed"]
    assert report.files[0].message.endswith("because passk failed: ValueError: no idea")


@pytest.mark.parametrize(
    "error",
    [duckdb.InterruptException("INTERRUPT Error: Interrupted!"), RuntimeError("Query interrupted")],
)
def test_an_interrupt_is_no_mistake_of_the_file(
    landing: Landing, row: dict[str, Any], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def stopped(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(loading, "write", stopped)
    with pytest.raises(KeyboardInterrupt):
        landing.load(landing.lines(row, name="a.jsonl"), landing.lines(row, name="b.jsonl"))
    assert not landing.database.exists()


@pytest.mark.parametrize(
    "make",
    [
        lambda landing: landing.folder / "nowhere.jsonl",
        lambda landing: landing.write("settings.json", '{"some": "settings"}'),
        lambda landing: landing.write("empty.jsonl", ""),
    ],
)
def test_a_load_of_which_nothing_lands_makes_no_database(
    landing: Landing, make: Callable[[Landing], Any]
) -> None:
    assert landing.load_one(make(landing)).status == "failed"
    assert not landing.database.exists()


def test_a_database_that_was_there_stays(landing: Landing, row: dict[str, Any]) -> None:
    with duckdb.connect(str(landing.database)) as connection:
        connection.execute("create table mine as select 1 as one")
    assert landing.load_one(landing.write("empty.jsonl", "")).status == "failed"
    assert landing.query("from mine") == [(1,)]
    landing.load_one(landing.lines(row))
    assert landing.load_one(landing.folder / "nowhere.jsonl").status == "failed"
    assert len(landing.attempts()) == 1


def test_strict_is_not_content_with_rows_that_were_rejected_before(
    landing: Landing, row: dict[str, Any]
) -> None:
    file = landing.lines(row, row | {"attempt": 0})
    assert landing.load_one(file).status == "landed"
    report = landing.load(file, strict=True)
    assert report.exit_code == 1
    assert report.files[0].message == (
        f"{file} landed before without 1 of its 2 rows, which are rejected."
    )
    assert landing.load_one(file).status == "unchanged"


def test_a_table_without_rows_holds_no_rows_in_every_format(landing: Landing) -> None:
    """A run that wrote none has failed; what it wrote before stays."""
    columns = {"run_id": "r", "task_id": "t", "attempt": 1, "passed": True}
    path = landing.folder / "log.parquet"
    pl.DataFrame([columns]).write_parquet(path)
    assert landing.load_one(path).status == "landed"
    pl.DataFrame([columns]).clear().write_parquet(path)
    report = landing.load_one(path)
    assert (report.status, report.message) == ("failed", f"{path} holds no rows.")
    assert len(landing.attempts()) == 1


@pytest.mark.parametrize("option", [{"run_id": "b\udcff"}, {"tags": {"k": "b\udcff"}}])
def test_what_is_no_text_is_no_option(landing: Landing, option: dict[str, Any]) -> None:
    with pytest.raises(PasskError, match=r"which is not a name|can't be stored"):
        landing.load(landing.folder, **option)


def test_the_same_bytes_under_another_name_are_noted(landing: Landing, row: dict[str, Any]) -> None:
    """A log that was moved would count beside itself when it changes."""
    first = landing.lines(row, name="old name.jsonl")
    assert landing.load_one(first).message == ""
    second = landing.load_one(landing.lines(row, name="new.jsonl"))
    assert second.status == "landed"
    assert second.message.startswith(f"The same bytes landed before as {first}.")
    assert f"passk unload --source-file '{first}'" in second.message
