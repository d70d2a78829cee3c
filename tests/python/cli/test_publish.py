"""``passk publish``: a copy for dashboards that holds what the tables hold."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import polars as pl
import pytest

from passk_py.common.errors import PasskError
from passk_py.warehouse.catalog import PUBLIC_TABLES
from passk_py.warehouse.descriptions import described_tables
from passk_py.warehouse.publishing import publish
from passk_py.warehouse.settings import read_settings
from passk_py.warehouse.tables import open_tables, read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conftest import Said

    Passk = Callable[..., Said]

NAMES = [table.name for table in PUBLIC_TABLES]


@pytest.fixture(scope="module")
def bi(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of everything, that the tests only read."""
    folder = tmp_path_factory.mktemp("published") / "bi"
    publish(folder, database=built, with_raw=True)
    return folder


def query(folder: Path, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect(str(folder / "passk.duckdb"), read_only=True) as connection:
        return connection.execute(sql).fetchall()


@pytest.mark.parametrize("table", NAMES)
def test_copies_hold_the_rows_types_and_order_of_the_tables(
    table: str, bi: Path, built: Path
) -> None:
    expected = read_table(table, database=built)
    in_order = read_table(table, database=bi / "passk.duckdb")
    as_stored = query(bi, f"select rowid, * from {table} order by rowid")
    parquet = pl.read_parquet(bi / "parquet" / f"{table}.parquet")
    assert in_order.schema == parquet.schema == expected.schema
    assert in_order.rows() == parquet.rows() == expected.rows()
    key = next(one.key for one in PUBLIC_TABLES if one.name == table)
    places = [1 + expected.columns.index(column) for column in key]
    keys = [tuple(row[place] for place in places) for row in as_stored]
    assert keys == expected.select(key).rows()
    with duckdb.connect(str(built), read_only=True) as connection:
        types = connection.execute(f"describe select * from {table}").fetchall()
    assert [row[:2] for row in query(bi, f"describe {table}")] == [row[:2] for row in types]


def test_copy_holds_tables_and_nothing_else(bi: Path) -> None:
    tables = query(bi, "select schema_name, table_name from duckdb_tables()")
    assert sorted(tables) == sorted(("main", name) for name in [*NAMES, "passk_published"])
    assert query(bi, "select view_name from duckdb_views() where not internal") == []
    assert sorted(path.stem for path in (bi / "parquet").iterdir()) == sorted(
        [*NAMES, "passk_published"]
    )
    assert sorted(path.name for path in bi.iterdir()) == [
        ".passk.duckdb.head",
        "parquet",
        "parquet-versions",
        "passk.duckdb",
    ]


@pytest.mark.long
def test_copy_says_how_fresh_it_is(passk: Passk, letters: Path) -> None:
    before = datetime.now(UTC).replace(tzinfo=None)
    said = passk("publish", "-o", "bi", "--json")
    after = datetime.now(UTC).replace(tzinfo=None)
    assert (said.code, said.err) == (0, "")
    newest = read_table("passk_runs")["loaded_at"].max()
    (row,) = query(Path("bi"), "from passk_published")
    copy_id, published_at, version, database, newest_loaded_at, runs, pending, _vars = row
    assert isinstance(published_at, datetime)
    assert before <= published_at <= after
    assert f"passk {version}\n" == passk("--version").out
    # The name alone: where the database is on the machine is nobody's business who sees the copy.
    assert (database, newest_loaded_at, runs, pending) == ("passk.duckdb", newest, 2, 0)
    assert pl.read_parquet("bi/parquet/passk_published.parquet").rows() == [row]
    assert said.json == {
        "database": "passk.duckdb",
        "copy_id": copy_id,
        "published_at": published_at.isoformat(),
        "newest_loaded_at": newest_loaded_at.isoformat(),  # type: ignore[attr-defined]
        "runs": 2,
        "landed_since_build": 0,
        "stale": None,
        "duckdb": "bi/passk.duckdb",
        "parquet": "bi/parquet",
        "tables": [{"table": name, "rows": read_table(name).height} for name in NAMES],
    }


HELD = "sk-prompt-and-key"


@pytest.fixture
def with_refused_rows(passk: Passk, letters: Path, tmp_path: Path) -> Path:
    """A database that refused a row which holds a key, and a copy of an attempt."""
    log = tmp_path / "private folder" / "log.jsonl"
    log.parent.mkdir()
    log.write_text(
        '{"run_id": "old", "suite": "letters", "task_id": "extra", "attempt": 1, "passed": true}\n'
        f'{{"run_id": "old", "task_id": "extra", "prompt": "{HELD}\n',
        encoding="utf-8",
    )
    assert passk("load", log).code == 0
    assert passk("build", "--select", "resource_type:model").code == 0
    return letters


def everything(frames: Iterable[pl.DataFrame]) -> str:
    return "\n".join(str(row) for frame in frames for row in frame.rows())


@pytest.mark.long
def test_a_copy_and_files_hold_no_refused_row_and_no_folder_unless_asked_to(
    passk: Passk, with_refused_rows: Path
) -> None:
    refused = "select raw, source_file, source_line, reason_code from passk_rejected_attempts"
    assert passk("publish", "-o", "bi").code == 0
    assert query(Path("bi"), refused) == [(None, "log.jsonl", 2, "malformed_line")]
    copied = [read_table(name, database="bi/passk.duckdb") for name in NAMES]
    files = [pl.read_parquet(f"bi/parquet/{name}.parquet") for name in NAMES]
    assert passk("export", "--all", "-o", "out").code == 0
    exported = [pl.read_parquet(f"out/{name}.parquet") for name in NAMES]
    for frames in (copied, files, exported):
        said = everything(frames)
        assert "log.jsonl" in said
        assert HELD not in said
        assert str(with_refused_rows.parent) not in said
    (comment,) = query(
        Path("bi"),
        "select comment from duckdb_columns() "
        "where table_name = 'passk_rejected_attempts' and column_name = 'raw'",
    )
    assert comment == ("Null: this copy was published without the rows as they were read.",)
    # By its name a table is no more private than among all.
    for kind in ("csv", "json"):
        assert passk("export", "passk_rejected_attempts", "-o", f"r.{kind}").code == 0
        text = Path(f"r.{kind}").read_text("utf-8")
        assert "log.jsonl" in text
        assert HELD not in text
        assert str(with_refused_rows.parent) not in text

    assert passk("publish", "-o", "bi", "--with-raw").code == 0
    ((raw, source_file, *_),) = query(Path("bi"), refused)
    assert HELD in str(raw)
    assert source_file == str(with_refused_rows.parent / "private folder" / "log.jsonl")
    assert passk("export", "passk_rejected_attempts", "-o", "r.csv", "--with-raw").code == 0
    assert HELD in Path("r.csv").read_text("utf-8")


def test_each_parquet_file_names_its_copy(bi: Path) -> None:
    ((copy_id,),) = query(bi, "select copy_id from passk_published")
    found = duckdb.sql(
        f"select decode(value) from parquet_kv_metadata('{bi}/parquet/*.parquet') "
        "where decode(key) = 'passk_copy_id'"
    ).fetchall()
    assert found == [(copy_id,)] * (len(NAMES) + 1)


def test_descriptions_are_comments(bi: Path) -> None:
    described = described_tables()
    tables = dict(query(bi, "select table_name, comment from duckdb_tables()"))
    columns = {
        (table, column): comment
        for table, column, comment in query(
            bi,
            "select table_name, column_name, comment from duckdb_columns() "
            "where database_name = current_database() and not internal",
        )
    }
    assert str(tables.pop("passk_published")).endswith("One row.")
    assert tables == {name: described[name].text for name in NAMES}
    assert all(columns.values())
    of_tables = {place: text for place, text in columns.items() if place[0] != "passk_published"}
    assert of_tables == {
        (name, column): text for name in NAMES for column, text in described[name].columns.items()
    }


def test_comments_of_the_database_come_first(letters: Path, change: Callable[..., None]) -> None:
    change(
        "comment on view passk_runs is 'Our ''runs''.'",
        "comment on column passk_runs.min_n is 'Our least.'",
    )
    publish("bi", database=letters)
    assert query(
        Path("bi"), "select comment from duckdb_tables() where table_name = 'passk_runs'"
    ) == [("Our 'runs'.",)]
    comments = dict(
        query(
            Path("bi"),
            "select column_name, comment from duckdb_columns() where table_name = 'passk_runs'",
        )
    )
    assert comments["min_n"] == "Our least."
    assert comments["max_n"] == described_tables()["passk_runs"].columns["max_n"]


@pytest.mark.long
def test_person_is_told_where_the_copy_is(passk: Passk, letters: Path) -> None:
    said = passk("publish", "-o", "out/bi")
    rows = sum(read_table(name).height for name in NAMES)
    assert (said.code, said.err) == (0, "")
    first, second, third = said.out.splitlines()
    assert first == f"out/bi/passk.duckdb: {len(NAMES)} tables, {rows} rows"
    assert second == f"out/bi/parquet: {len(NAMES)} tables, {rows} rows"
    assert third.startswith("copy 20")
    assert third.endswith(" UTC")
    assert ": 2 runs, the newest attempts loaded " in third


@pytest.mark.long
def test_what_is_not_asked_for_is_not_written(passk: Passk, letters: Path) -> None:
    assert passk("publish", "-o", "d", "--format", "duckdb").code == 0
    assert [path.name for path in Path("d").glob("[!.]*")] == ["passk.duckdb"]
    said = passk(
        "publish", "-o", "p", "--format", "parquet", "--without", "passk_attempts", "--json"
    )
    assert sorted(path.name for path in Path("p").iterdir()) == ["parquet", "parquet-versions"]
    assert said.json["duckdb"] is None
    left = {name for name in NAMES if name != "passk_attempts"}
    assert {table["table"] for table in said.json["tables"]} == left
    assert {path.stem for path in Path("p/parquet").iterdir()} == left | {"passk_published"}


def test_other_format_stays_as_it_is(letters: Path) -> None:
    first = publish("bi")
    second = publish("bi", format="duckdb", without=NAMES[1:])
    assert second.rows.keys() == {"passk_attempts"}
    assert query(Path("bi"), "select copy_id from passk_published") == [(second.copy_id,)]
    assert pl.read_parquet("bi/parquet/passk_published.parquet")["copy_id"].to_list() == [
        first.copy_id
    ]


@pytest.mark.long
def test_table_that_a_var_asks_for_is_copied(letters: Path, change: Callable[..., None]) -> None:
    change(
        "create table passk_suite_bootstrap as select 's' as suite, 'r' as run_id, 'all' as "
        "slice_name, 'all' as slice_value, 'pass_at_k' as metric, 1 as k, 0.5 as estimate"
    )
    assert publish("bi").rows["passk_suite_bootstrap"] == 1
    assert "passk_suite_bootstrap" not in publish("bi", without="passk_suite_bootstrap").rows


def test_tool_that_forgets_to_read_only_can_not_lock_the_copy(bi: Path) -> None:
    assert (bi / "passk.duckdb").stat().st_mode & 0o222 == 0


# ---------------------------------------------------------------------------------------------
# builds and readers


@pytest.mark.long
def test_build_goes_on_while_a_reader_holds_the_copy(
    passk: Passk, letters: Path, make_log: Callable[..., Path], models_only: tuple[str, ...]
) -> None:
    publish("bi")
    holds = (
        "import duckdb, sys\n"
        "connection = duckdb.connect(sys.argv[1], read_only=True)\n"
        "def runs(): print(connection.execute('select count(*) from passk_runs').fetchall()[0][0],"
        " flush=True)\n"
        "runs()\n"
        "sys.stdin.readline()\n"
        "runs()\n"
    )
    reader = subprocess.Popen(
        [sys.executable, "-c", holds, "bi/passk.duckdb"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == "2\n"
    more = make_log("more.jsonl", [("third", "steady", "PPPP")])
    assert passk("load", more).code == 0
    assert passk("build", *models_only).code == 0
    assert passk("publish", "-o", "bi").code == 0
    out, _ = reader.communicate("again\n")
    assert out == "2\n"
    assert query(Path("bi"), "select runs, landed_since_build from passk_published") == [(3, 0)]
    assert query(Path("bi"), "select count(*) from passk_runs") == [(3,)]


def test_a_copy_has_the_vars_of_the_build_but_not_its_input(
    passk: Passk, letters: Path, change: Callable[..., None]
) -> None:
    place = "main_passk_internal.int_passk__settings"
    change(
        f"create temp table told as from {place}",
        f"drop view {place}",
        f"""create table {place} as select * replace (case var_name
            when 'passk_capable_threshold' then '0.55'
            when 'passk_deployment_k' then '2'
            when 'passk_attempts_files' then '"/home/me/secret.csv"'
            else var_value end as var_value) from told""",
    )
    assert passk("publish", "-o", "bi").code == 0
    with open_tables(letters) as built, open_tables(Path("bi/passk.duckdb")) as copy:
        of_build, of_copy = read_settings(built), read_settings(copy)
    assert of_copy.recorded
    assert (of_copy.capable_threshold, of_copy.deployment_k) == (0.55, 2)
    assert of_copy.values == {**of_build.values, "passk_attempts_files": None}
    ((told,),) = query(Path("bi"), "select vars from passk_published")
    assert "secret" not in str(told)
    assert pl.read_parquet("bi/parquet/passk_published.parquet")["vars"].to_list() == [told]
    # Copies of older versions have no such column.
    with duckdb.connect("bi/passk.duckdb") as connection:
        connection.execute("alter table passk_published drop column vars")
    with open_tables(Path("bi/passk.duckdb")) as copy:
        assert not read_settings(copy).recorded


@pytest.mark.long
def test_reports_on_a_copy_are_those_on_the_database(
    passk: Passk, letters: Path, change: Callable[..., None]
) -> None:
    place = "main_passk_internal.int_passk__settings"
    change(
        f"create temp table told as from {place}",
        f"drop view {place}",
        f"""create table {place} as select * replace (case var_name
            when 'passk_capable_threshold' then '0.55' else var_value end as var_value) from told""",
    )
    assert passk("publish", "-o", "bi").code == 0
    own, of_copy = (
        passk("report", "--json", "-o", "report.html", "--database", database)
        for database in (letters, Path("bi/passk.duckdb"))
    )
    assert own.code == of_copy.code == 0, own.err + of_copy.err
    assert own.json["capable_threshold"] == of_copy.json["capable_threshold"] == 0.55


@pytest.mark.long
def test_what_landed_after_the_build_is_said(
    passk: Passk, letters: Path, make_log: Callable[..., Path]
) -> None:
    more = make_log("more.jsonl", [("third", "steady", "PPPP")])
    assert passk("load", more).code == 0
    said = passk("publish", "-o", "bi")
    assert said.code == 0
    assert said.err == (
        "4 attempts have landed since the last build. Only passk_attempts may show this. "
        "Run `passk build`, then publish.\n"
    )
    assert query(Path("bi"), "select runs, landed_since_build from passk_published") == [(2, 4)]
    assert passk("unload", "--run", "old").code == 0
    again = passk("publish", "-o", "bi", "--json")
    assert "have landed and 3 tasks have lost attempts since the last build." in again.err
    assert again.json["stale"] in again.err


@pytest.mark.long
def test_half_a_build_is_not_published(
    passk: Passk, letters: Path, make_log: Callable[..., Path], models_only: tuple[str, ...]
) -> None:
    publish("bi")
    more = make_log("more.jsonl", [("new", "steady", "PPPFP"), ("new", "other", "PF")])
    assert passk("load", more).code == 0
    assert passk("build", "--select", "+int_passk__runs,resource_type:model").code == 0
    said = passk("publish", "-o", "bi")
    assert (said.code, said.out) == (2, "")
    message, hint = said.err.splitlines()
    assert message.startswith(
        "Error: passk.duckdb can't be published. The tables are half built: the last build did not "
        "reach "
    )
    # Attempts of a task came twice, so the rejected duplicates are others too.
    assert "reach passk_attempts, passk_rejected_attempts, " in message
    assert "passk_suite_metrics" in message
    assert hint == "Run `passk build`, then publish."
    assert passk("build", *models_only).code == 0
    assert passk("publish", "-o", "bi").code == 0


@pytest.mark.parametrize(
    ("statement", "table"),
    [
        ("update {}.int_passk__runs set log_version = 'older'", "passk_runs"),
        ("delete from {}.int_passk__suite_metrics where run_id = 'old'", "passk_suite_metrics"),
        ("update {}.int_passk__pair_sums set log_version = 'older'", "passk_comparisons"),
        ("delete from {}.int_passk__pair_sums", "passk_comparisons"),
        ("delete from {}.int_passk__comparisons", "passk_comparisons"),
        ("delete from {}.int_passk__copy_checks where run_id = 'new'", "passk_diagnostics"),
        ("update {}.int_passk__order_checks set log_version = 'older'", "passk_diagnostics"),
    ],
)
def test_table_that_the_build_did_not_come_to_is_named(
    statement: str, table: str, letters: Path, change: Callable[..., None]
) -> None:
    change(statement.format("main_passk_internal"))
    with pytest.raises(PasskError, match=f"the last build did not reach {table}"):
        publish("bi")
    assert not Path("bi").exists()


@pytest.mark.long
def test_tables_of_another_version_are_not_published(
    passk: Passk, letters: Path, change: Callable[..., None]
) -> None:
    change("alter table main_passk_internal.int_passk__runs drop column log_version")
    with pytest.raises(PasskError, match="Another version of passk built the tables"):
        publish("bi")
    said = passk("show")
    assert said.code == 0
    assert said.err.startswith("Another version of passk built the tables. `passk build`")
    assert passk("build").code == 0
    assert passk("show").err == ""


# ---------------------------------------------------------------------------------------------
# refusals


def test_database_that_is_not_there(passk: Passk) -> None:
    said = passk("publish", "-o", "bi")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Error: There is no database passk.duckdb.\n")
    assert not Path("bi").exists()


def test_database_that_was_never_built(passk: Passk, make_log: Callable[..., Path]) -> None:
    assert passk("load", make_log("log.jsonl", [("old", "steady", "PP")])).code == 0
    said = passk("publish", "-o", "bi", "--json")
    assert said.code == 2
    assert said.json["error"] == (
        "passk.duckdb has no table passk_attempts: nothing has been built in it."
    )
    assert "`passk build`" in said.json["hint"]
    assert not Path("bi").exists()


def hold(seconds: float, path: str = "passk.duckdb") -> subprocess.Popen[str]:
    """Hold a database for writing, as a build does."""
    script = (
        "import duckdb, sys, time\n"
        "connection = duckdb.connect(sys.argv[2])\n"
        "print('held', flush=True)\n"
        "time.sleep(float(sys.argv[1]))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(seconds), path], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_database_that_a_build_holds(passk: Passk, letters: Path) -> None:
    holder = hold(600)
    said = passk("publish", "-o", "bi")
    waited = passk("publish", "-o", "bi", "--wait", "0.3")
    holder.kill()
    holder.communicate()
    error = f"The database passk.duckdb is in use by process {holder.pid} "
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"Error: {error}")
    assert waited.code == 2
    assert waited.err.startswith(error)
    assert f"Error: {error}" in waited.err
    assert not Path("bi").exists()


def test_build_is_waited_for(passk: Passk, letters: Path) -> None:
    holder = hold(1)
    said = passk("publish", "-o", "bi", "--wait", "60")
    holder.communicate()
    assert said.code == 0
    assert said.err.startswith("The database passk.duckdb is in use by process ")
    assert " Trying again for " in said.err
    assert said.err.count("\n") == 1
    assert query(Path("bi"), "select count(*) from passk_runs") == [(2,)]


def test_folder_that_can_not_be_made(passk: Passk, letters: Path) -> None:
    Path("taken").write_text("", encoding="utf-8")
    for output in ("taken", "taken/bi"):
        said = passk("publish", "-o", output)
        assert (said.code, said.out) == (2, "")
        first, second = said.err.splitlines()
        assert first.startswith(f"Error: {output} can't be written: ")
        assert second == "Give a folder where you may write with -o."


def test_database_itself_is_not_replaced(passk: Passk, letters: Path) -> None:
    before = letters.read_bytes()
    said = passk("publish", "-o", ".")
    assert said.code == 2
    assert said.err == (
        "Error: passk.duckdb is the database itself: a copy can't take its place.\n"
        "Publish to a folder of its own with -o.\n"
    )
    assert letters.read_bytes() == before


def test_what_passk_did_not_publish_is_not_replaced(passk: Passk, letters: Path) -> None:
    Path("other").mkdir()
    with duckdb.connect("other/passk.duckdb") as connection:
        connection.execute("create table mine as select 1 as one")
    Path("exported/parquet").mkdir(parents=True)
    Path("exported/parquet/passk_runs.parquet").write_bytes(b"mine")
    Path("linked").mkdir()
    Path("linked/parquet").symlink_to("../exported")
    for name in ("other/passk.duckdb", "exported/parquet", "linked/parquet"):
        said = passk("publish", "-o", Path(name).parent)
        assert said.code == 2
        assert said.err == (
            f"Error: {name} already exists, and passk did not publish it.\n"
            "Publish to another folder, or remove it.\n"
        )
    assert Path("exported/parquet/passk_runs.parquet").read_bytes() == b"mine"


@pytest.mark.long
def test_tool_that_holds_the_copy_for_writing_is_no_hindrance(passk: Passk, letters: Path) -> None:
    publish("bi")
    Path("bi/passk.duckdb").chmod(0o644)
    in_this_process = duckdb.connect("bi/passk.duckdb")
    assert passk("publish", "-o", "bi").code == 0
    in_this_process.close()
    Path("bi/passk.duckdb").chmod(0o644)
    holder = hold(600, "bi/passk.duckdb")
    said = passk("publish", "-o", "bi", "--json")
    holder.kill()
    holder.communicate()
    assert said.code == 0
    copy_id = said.json["copy_id"]
    assert query(Path("bi"), "select copy_id from passk_published") == [(copy_id,)]


def test_database_of_another_that_is_being_written_is_not_replaced(
    passk: Passk, letters: Path
) -> None:
    Path("other").mkdir()
    with duckdb.connect("other/passk.duckdb") as connection:
        connection.execute("create table mine as select 1 as one")
    holder = hold(600, "other/passk.duckdb")
    said = passk("publish", "-o", "other")
    holder.kill()
    holder.communicate()
    assert said.code == 2
    assert said.err.startswith(
        "Error: other/passk.duckdb already exists, and passk did not publish it"
    )
    assert [path.name for path in Path("other").iterdir()] == ["passk.duckdb"]


@pytest.mark.parametrize(
    "words",
    [("--without", "passk_run"), ("--format", "csv"), ("--wait", "-1"), ("--wait", "soon")],
)
def test_wrong_options(words: tuple[str, ...], passk: Passk, letters: Path) -> None:
    said = passk("publish", "-o", "bi", *words)
    assert (said.code, said.out) == (2, "")
    assert words[0] in said.err
    assert not Path("bi").exists()


def test_wrong_arguments_in_python(letters: Path) -> None:
    with pytest.raises(PasskError, match="There is no format 'csv'"):
        publish("bi", format="csv")
    with pytest.raises(PasskError, match="There is no public table 'passk_published'"):
        publish("bi", without="passk_published")
    assert not os.path.lexists("bi")
    assert publish("bi", wait=1).published_at < datetime.now(UTC).replace(tzinfo=None) + timedelta(
        seconds=1
    )
