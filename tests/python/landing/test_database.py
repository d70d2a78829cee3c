"""The database: made when missing, checked when there, words for each way in which it fails."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from passk_py.common.errors import PasskError
from passk_py.ingest.landing import ensure_landing, forget, load
from passk_py.ingest.landing.database import open_database

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Landing


def refusal(landing: Landing, row: dict[str, Any], database: Path) -> PasskError:
    with pytest.raises(PasskError) as error:
        load(landing.lines(row), database=database)
    return error.value


def test_a_connection_to_a_database_in_memory(landing: Landing, row: dict[str, Any]) -> None:
    file = landing.lines(row)
    with duckdb.connect() as connection:
        assert load(file, database=connection).rows_landed == 1
        assert connection.execute("select task_id from landing.attempts").fetchall() == [("t",)]
        assert load(file, database=connection).statuses == {"unchanged": 1}
    assert sorted(path.name for path in landing.folder.iterdir()) == [file.name]


def test_the_memory_that_the_environment_allows(
    landing: Landing, row: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSK_MEMORY_LIMIT", "512MiB")
    with open_database(landing.database) as connection:
        limit = "select current_setting('memory_limit')"
        assert connection.execute(limit).fetchone() == ("512.0 MiB",)
    for said in ("plenty", "1KB"):
        monkeypatch.setenv("PASSK_MEMORY_LIMIT", said)
        error = refusal(landing, row, landing.folder / "new.duckdb")
        assert error.message == (
            f"PASSK_MEMORY_LIMIT is '{said}', which is no size that DuckDB can work with."
        )
        assert error.hint == "Write a number and a unit, such as PASSK_MEMORY_LIMIT=2GB."
        assert not (landing.folder / "new.duckdb").exists()


def test_in_use_by_another_process(landing: Landing, row: dict[str, Any]) -> None:
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); input()",
            str(landing.database),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        error = refusal(landing, row, landing.database)
    finally:
        holder.communicate("\n")
    assert re.fullmatch(
        rf"The database {re.escape(str(landing.database))} is in use by process {holder.pid} "
        r"\(python[\d.]*\)\.",
        error.message,
    )
    assert error.hint == "Close it there, or wait until it is done."
    assert landing.load_one(landing.lines(row)).status == "landed"


def test_a_folder(landing: Landing, row: dict[str, Any]) -> None:
    error = refusal(landing, row, landing.folder)
    assert str(error) == (
        f"The database {landing.folder} is a folder.\nGive the path of a file with --database."
    )


def test_a_file_that_is_no_database(landing: Landing, row: dict[str, Any]) -> None:
    file = landing.write("attempts.csv", "run_id,task_id\n")
    error = refusal(landing, row, file)
    assert str(error) == (
        f"{file} is not a DuckDB database.\n"
        "Give the path of a database, or of a file that does not exist yet, with --database."
    )


def test_a_folder_that_is_missing(landing: Landing, row: dict[str, Any]) -> None:
    database = landing.folder / "no" / "passk.duckdb"
    error = refusal(landing, row, database)
    assert error.message.startswith(f"The database {database} can't be opened: ")
    assert error.hint == "Check that its folder exists and that you may write there."


def test_a_table_of_another_shape(landing: Landing, row: dict[str, Any]) -> None:
    with duckdb.connect(str(landing.database)) as connection:
        connection.execute("create schema landing; create table landing.attempts (run_id integer)")
    error = refusal(landing, row, landing.database)
    assert str(error) == (
        "The table landing.attempts of this database has other columns than passk writes.\n"
        "Another version of passk, or another program, made it: load into a new database."
    )


def test_a_table_of_a_version_without_transcripts(landing: Landing, row: dict[str, Any]) -> None:
    old = landing.lines(row | {"run_id": "old", "transcript": "/x"}, name="old.jsonl")
    landing.load_one(old)
    with duckdb.connect(str(landing.database)) as connection:
        connection.execute("alter table landing.attempts drop column transcript")
    assert landing.load_one(old).status == "unchanged"
    landing.load_one(landing.lines(row | {"run_id": "new", "transcript": "/y"}))
    assert sorted(landing.attempts("run_id, task_id, outcome, transcript, source_format")) == [
        ("new", "t", "passed", "/y", "jsonl"),
        ("old", "t", "passed", None, "jsonl"),
    ]
    with duckdb.connect(str(landing.database)) as connection:
        connection.execute("alter table landing.attempts drop column transcript")
    assert forget(landing.database, run_id="old").rows == 1
    assert landing.attempts("run_id, transcript") == [("new", None)]


def test_tables_are_made_once(landing: Landing) -> None:
    with duckdb.connect(str(landing.database)) as connection:
        ensure_landing(connection)
        ensure_landing(connection)
        found = connection.execute(
            "select table_name from duckdb_tables() where schema_name = 'landing' order by 1"
        ).fetchall()
    assert found == [
        ("attempts",),
        ("expected_attempts",),
        ("files",),
        ("parts",),
        ("rejected",),
        ("removed_tasks",),
    ]


@pytest.mark.parametrize(
    "change",
    ["run_id = ''", "task_id = null", "attempt = 0", "outcome = 'maybe'", "suite = null"],
)
def test_the_table_checks_what_others_write(
    landing: Landing, row: dict[str, Any], change: str
) -> None:
    landing.load(landing.lines(row))
    with pytest.raises(duckdb.ConstraintException):
        landing.query(f"update landing.attempts set {change}")


def test_other_programs_can_read_the_file(landing: Landing, row: dict[str, Any]) -> None:
    landing.load(landing.lines(row))
    ((tags,),) = landing.query("select tags from duckdb_databases() where database_name = 'passk'")
    # Written by DuckDB 2.0 or not, versions from 1.4 on open it.
    assert str(tags).replace("+", "") in (
        "{'storage_version': 'v1.4.0'}",
        "{'storage_version': 'v1.0.0'}",
    )


def test_tables_are_made_within_a_transaction_of_the_caller(landing: Landing) -> None:
    with duckdb.connect(str(landing.database)) as connection:
        connection.execute("begin transaction")
        ensure_landing(connection)
        connection.execute("rollback")
        ensure_landing(connection)
        assert connection.execute("from landing.attempts").fetchall() == []


def test_another_connection_of_the_process_keeps_its_settings(
    landing: Landing, row: dict[str, Any]
) -> None:
    landing.load(landing.lines(row))
    threshold = "select current_setting('checkpoint_threshold')"
    with duckdb.connect(str(landing.database)) as connection:
        before = connection.execute(threshold).fetchall()
        landing.load(landing.write("more.jsonl", json.dumps(row | {"attempt": 7})))
        assert connection.execute(threshold).fetchall() == before
        rows = connection.execute("select count(*) from landing.attempts").fetchall()
    assert rows == [(2,)]


def test_a_log_alone_is_written_once_and_several_to_the_write_ahead_log_first(
    landing: Landing, row: dict[str, Any]
) -> None:
    wal = landing.database.with_name(f"{landing.database.name}.wal")
    with duckdb.connect(str(landing.database)) as connection:
        load(landing.lines(row), database=connection)
        assert not wal.exists()
        more = [landing.write(f"{n}.jsonl", json.dumps(row | {"attempt": n})) for n in (7, 8)]
        load(more, database=connection)
        assert wal.stat().st_size > 0


def test_an_existing_database_keeps_its_tables(landing: Landing, row: dict[str, Any]) -> None:
    with duckdb.connect(str(landing.database)) as connection:
        connection.execute("create table mine as select 1 as x")
    landing.load(landing.lines(row))
    assert landing.query("select x from mine") == [(1,)]
