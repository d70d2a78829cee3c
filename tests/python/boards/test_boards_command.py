"""`passk boards`: what it starts, what it leaves behind, and what it says where it can't start."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import duckdb
import pytest
import yaml
from click.testing import CliRunner

from passk_py.cli import cli
from passk_py.warehouse.catalog import PUBLIC_TABLES

from ..built_wheel import build_wheel
from ..engines.parity import copy_table
from ..ports import free_port
from ..postgres_server import Server, postgres_programs
from .board_page import Board
from .serving import DCT, NEEDS_DCT, PASSK, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..postgres_server import Postgres

pytestmark = pytest.mark.timeout(900)


def boards(folder: Path, *words: object, dct: str | None = DCT) -> tuple[int, str]:
    """Call `passk boards` in this process, where it can't start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = CliRunner().invoke(
            cli, ["boards", *map(str, words)], env={"PASSK_DCT": dct}, catch_exceptions=False
        )
    assert done.stdout == ""
    return done.exit_code, done.stderr


@pytest.fixture
def a_program(tmp_path: Path) -> str:
    """Stand in for a dct that is never started."""
    program = tmp_path / "programs" / "dct"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 7\n")
    program.chmod(0o755)
    return str(program)


def test_a_dct_that_can_not_be_started_is_named(tmp_path: Path) -> None:
    code, said = boards(tmp_path, dct="/no/such/dct")
    assert code == 2
    assert "PASSK_DCT names /no/such/dct, which can't be started as a program." in said


def test_without_dct_the_line_that_installs_it_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from passk_py.common.errors import PasskError
    from passk_py.reports.boards import dct_program

    monkeypatch.delenv("PASSK_DCT", raising=False)
    monkeypatch.setattr(dct_program.shutil, "which", lambda *_words, **_names: None)
    with pytest.raises(PasskError, match="need dct") as found:
        dct_program.find_dct()
    assert "pip install 'dbt-charts[postgresql]==0.10.0' 'dbt-core<1.12'" in str(found.value)


def test_the_printed_version_is_the_locked_one() -> None:
    from passk_py.reports.boards.dct_program import INSTALL

    locked = Path(__file__).resolve().parents[3] / "requirements" / "boards.txt"
    assert "dbt-charts==0.10.0" in locked.read_text()
    assert "==0.10.0" in INSTALL


def test_a_database_that_is_not_there_is_named(tmp_path: Path, a_program: str) -> None:
    code, said = boards(tmp_path, "--database", "nope.duckdb", dct=a_program)
    assert code == 2
    assert "There is no database nope.duckdb." in said
    assert list(tmp_path.iterdir()) == [tmp_path / "programs"]


def test_tables_that_are_not_built_are_named(tmp_path: Path, a_program: str) -> None:
    duckdb.connect(str(tmp_path / "empty.duckdb")).close()
    code, said = boards(tmp_path, "--database", "empty.duckdb", dct=a_program)
    assert code == 2
    assert "empty.duckdb has no table passk_runs: nothing has been built in it." in said


def test_a_port_that_is_taken_is_named(tmp_path: Path, demo: Path, a_program: str) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, said = boards(tmp_path, "--database", demo, "--port", port, dct=a_program)
    assert code == 2
    assert f"Nothing can be served at localhost, port {port}" in said
    assert "give another one with --port." in said


@pytest.mark.parametrize("board", ["/overview/", "/dark/phone/run", "/compare"])
@pytest.mark.parametrize(
    ("value", "shown"), [("abc", "abc"), ("-1", "-1"), ("1.5", "1.5"), ("%C2%B2", "²"), ("9" * 10, "9" * 10)]
)  # fmt: skip
def test_a_filter_that_is_no_number_is_named(board: str, value: str, shown: str) -> None:
    from passk_py.reports.boards.board_server import BoardServer

    with BoardServer("127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1])
        connection.request("GET", f"{board}?run=r&k={value}")
        answer = connection.getresponse()
        said = answer.read().decode()
        connection.close()
        server.shutdown()
    assert answer.status == 400
    assert said == f"k is '{shown}' in this address, but must be a whole number, as in k=4."


def test_the_filters_that_are_numbers_are_known() -> None:
    from passk_py.reports.boards.board_server import _NUMBERS

    charts = Path(__file__).resolve().parents[3] / "charts"
    found = {
        name
        for board in charts.rglob("*.yml")
        for name, told in (yaml.safe_load(board.read_text()).get("variables") or {}).items()
        if told.get("data_type") == "number"
    }
    assert found == set(_NUMBERS)


@NEEDS_DCT
@pytest.mark.parametrize("k", ["", "2", "77"])
def test_a_number_gets_a_board(demo: Path, serve_boards: Callable[..., str], k: str) -> None:
    with urllib.request.urlopen(f"{serve_boards('--database', demo)}/overview/?k={k}") as answer:  # noqa: S310 - its own address
        assert answer.status == 200


def test_a_dct_that_ends_is_reported(tmp_path: Path, demo: Path, a_program: str) -> None:
    code, said = boards(tmp_path, "--database", demo, "--port", free_port(), dct=a_program)
    assert code == 2
    assert "dct ended with exit code 7" in said


@pytest.mark.parametrize(
    "uri",
    [
        "mysql://me@host/db",
        "postgresql://host/db",
        "postgresql://me:secret@host",
        "postgresql://me:a/secret@host:5432/db",
        "nonsense",
    ],
)
def test_an_address_that_is_no_postgres_is_refused(
    tmp_path: Path, a_program: str, uri: str
) -> None:
    code, said = boards(tmp_path, "--uri", uri, dct=a_program)
    assert code == 2
    assert "is not the address of a Postgres." in said
    assert "secret" not in said


def test_one_place_of_the_tables_is_given(tmp_path: Path, a_program: str) -> None:
    words = ("--uri", "postgresql://me@host/db", "--database", "x.duckdb")
    assert boards(tmp_path, *words, dct=a_program) == (
        2, "Error: Give --database or --uri, not both.\n",
    )  # fmt: skip


@NEEDS_DCT
def test_only_boards_are_shown_and_only_by_the_name_of_this_machine(
    demo: Path, serve_boards: Callable[..., str]
) -> None:
    address = urlsplit(serve_boards("--database", demo))
    codes = {}
    for path, host in (
        ("/", address.netloc),
        ("/docs", address.netloc),
        ("/openapi.json", address.netloc),
        ("/inspect/model/?model=passk_attempts", address.netloc),
        ("/", "evil.example"),
    ):
        connection = http.client.HTTPConnection(address.netloc)
        connection.request("GET", path, headers={"Host": host})
        codes[path, host] = connection.getresponse().status
        connection.close()
    assert list(codes.values()) == [200, 404, 404, 404, 404]


@NEEDS_DCT
def test_the_wheel_serves_boards(tmp_path: Path, demo: Path) -> None:
    site, work = tmp_path / "site", tmp_path / "work"
    work.mkdir()
    zipfile.ZipFile(build_wheel(tmp_path)).extractall(site)
    environment = {**os.environ, "PASSK_DCT": str(DCT), "PYTHONPATH": str(site)}
    where = [sys.executable, "-c", "import passk_py; print(passk_py.__file__)"]
    found = subprocess.run(where, cwd=work, env=environment, capture_output=True, check=True)
    assert Path(found.stdout.decode().strip()).is_relative_to(site)
    port = free_port()
    log = tmp_path / "log.txt"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "passk_py", "boards", "--database", str(demo), "--port", str(port)],
            cwd=work, env=environment, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    address = f"http://localhost:{port}"
    try:
        wait_for(address, server, log)
        with urllib.request.urlopen(f"{address}/overview/") as answer:  # noqa: S310 - its own address
            assert answer.status == 200
    finally:
        server.terminate()
        server.wait(30)


@NEEDS_DCT
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_server_leaves_nothing(tmp_path: Path, demo: Path, stop: signal.Signals) -> None:
    work, temporary = tmp_path / "work", tmp_path / "temporary"
    work.mkdir()
    temporary.mkdir()
    port = free_port()
    log = tmp_path / "log.txt"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [PASSK, "boards", "--database", str(demo), "--port", str(port), "--json"],
            cwd=work,
            env={**os.environ, "PASSK_DCT": str(DCT), "TMPDIR": str(temporary)},
            stdout=output,
            stderr=subprocess.DEVNULL,
        )
    wait_for(f"http://localhost:{port}", server, log)
    (folder,) = temporary.glob("passk-boards-*")
    inner = int((folder / "dct.log").read_text().split("http://127.0.0.1:")[1].split()[0])
    assert json.loads(log.read_text().splitlines()[0])["address"] == f"http://localhost:{port}/"
    server.send_signal(stop)
    assert server.wait(60) == 130
    assert not list(temporary.glob("passk-boards-*"))
    assert not list(work.iterdir())
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{inner}/health", timeout=5)


@pytest.fixture(scope="module")
def postgres(drawn: Path) -> Iterator[Postgres]:
    """The tables of the other boards in a Postgres, in a schema whose name has to be quoted."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("no Postgres: see scripts/install_programs")
    server = Server(programs)
    try:
        server.database.ask('create schema "of evals"')
        with duckdb.connect(str(drawn), read_only=True) as connection:
            for table in PUBLIC_TABLES:
                to = f'"of evals".{table.name}'
                copy_table(connection, table.name, server.database, to, drawn.parent, maps="text")
        yield server.database
    finally:
        server.stop()


@NEEDS_DCT
def test_boards_on_postgres_show_what_those_on_duckdb_show(
    browser: Any, board: Board, serve_boards: Callable[..., str], postgres: Postgres
) -> None:
    uri = f"postgresql://{postgres.user}@{postgres.host}:{postgres.port}/{postgres.database}"
    address = serve_boards("--uri", uri, "--schema", "of evals")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)
    there = Board(page, address)
    for path in (
        "/overview?suite=puzzles&k=2",
        "/overview?suite=older&k=4",
        "/run?suite=puzzles&run=walker-2026-03",
        "/run?suite=older&k=4",
        "/details?suite=older&k=4",
        "/details?suite=puzzles&run=walker-2026-03",
        "/grader?suite=older&k=4",
        "/grader?suite=puzzles",
        "/run?suite=puzzles&run=nope",
        "/compare?suite=puzzles",
        "/task?suite=puzzles&task=sat-15",
        "/gates?suite=puzzles",
    ):
        rows, marks = there.open(path).rows, there.marks
        board.open(path)
        assert rows == board.rows
        assert sorted(marks) == sorted(board.marks)
    page.close()


@NEEDS_DCT
def test_a_schema_without_the_tables_is_named(tmp_path: Path, postgres: Postgres) -> None:
    uri = f"postgresql://{postgres.user}@{postgres.host}:{postgres.port}/{postgres.database}"
    code, said = boards(tmp_path, "--uri", uri, "--port", free_port())
    assert code == 2
    assert "dct can't read passk_runs" in said
    assert "--schema" in said
