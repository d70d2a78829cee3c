"""Logs at an address land whole under that address, or not at all."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import duckdb
import pytest

from passk_py.common.errors import InUseError, PasskError
from passk_py.ingest.landing import forget, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from passk_py.ingest.landing import FileReport

LOG = "".join(
    json.dumps({"run_id": "r", "task_id": "t", "attempt": n, "passed": n % 2 > 0}) + "\n"
    for n in range(1, 5)
).encode()


WRITE = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1])
connection.execute("create table written as select 1 as n")
"""


class Server(BaseHTTPRequestHandler):
    """Answers by the path, after a call by the test."""

    before_answer: Callable[[], object] | None = None

    def do_GET(self) -> None:
        if before := type(self).before_answer:
            before()
        what = self.path.partition("?")[0].rpartition("/")[2]
        if what == "moved.jsonl":
            self.send_response(302)
            self.send_header("Location", "/login.html")
            self.end_headers()
            return
        codes = {"none.jsonl": 404, "private.jsonl": 403, "broken.jsonl": 500}
        body = b"<!DOCTYPE html><p>Log in" if what == "login.html" else LOG
        self.send_response(codes.get(what, 200))
        if what == "chunked.jsonl":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n%s" % (len(body) + 10, body))
            return
        self.send_header("Content-Length", str(len(body) + (10 if what == "cut.jsonl" else 0)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    """The address of a server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        Thread(target=partial(server.serve_forever, poll_interval=0.01), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")


def sources(database: Path) -> list[tuple[str, int]]:
    with duckdb.connect(str(database), read_only=True) as connection:
        return connection.execute(
            "select source_file, count(*) from landing.attempts group by all order by 1"
        ).fetchall()


def only(database: Path, address: str) -> FileReport:
    (file,) = load(address, database=database).files
    return file


def test_a_log_on_the_web_lands_under_its_address(web: str, tmp_path: Path) -> None:
    database = tmp_path / "passk.duckdb"
    signed = f"{web}/logs/a.jsonl?X-Signature=secret"
    assert only(database, signed).status == "landed"
    assert sources(database) == [(f"{web}/logs/a.jsonl", 4)]
    assert b"secret" not in database.read_bytes()
    # Known by its bytes, whatever the signature.
    assert only(database, f"{web}/logs/a.jsonl?X-Signature=other").status == "unchanged"
    assert forget(database, source_file=f"{web}/logs/a.jsonl").rows == 4


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.jsonl", "does not exist."),
        ("private.jsonl", "needs credentials: the server answered 403."),
        ("broken.jsonl", "was not fetched: the server answered 500."),
        ("moved.jsonl", "is a web page of 127.0.0.1, not a log: the server may ask for a login."),
        ("cut.jsonl", f"is not whole: {len(LOG)} of {len(LOG) + 10} bytes came before the connection ended."),
        ("chunked.jsonl", "is not whole: the connection ended too early."),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_told_and_nothing_lands(
    web: str, tmp_path: Path, name: str, message: str
) -> None:
    file = only(tmp_path / "passk.duckdb", f"{web}/{name}?sig=secret")
    assert file.status == "failed"
    assert file.path == f"{web}/{name}"
    assert file.message == f"{web}/{name} {message}"
    assert file.hint
    assert not (tmp_path / "passk.duckdb").exists()


def test_a_file_that_fails_keeps_no_other_from_landing(web: str, tmp_path: Path) -> None:
    database = tmp_path / "passk.duckdb"
    report = load([f"{web}/none.jsonl", f"{web}/a.jsonl"], database=database)
    assert report.statuses == {"failed": 1, "landed": 1}
    assert report.exit_code == 2


@pytest.mark.parametrize(
    "address",
    ["https://[half/a.jsonl", "http://127.0.0.1:port/a.jsonl", "http://127.0.0.1:1/%00.jsonl",
     f"http://{'long' * 20}.invalid/a.jsonl", "s3://[half/a.jsonl"],
)  # fmt: skip
def test_what_is_no_address_keeps_no_other_from_landing(
    web: str, tmp_path: Path, address: str
) -> None:
    database = tmp_path / "passk.duckdb"
    wrong, right = load([f"{address}?sig=secret", f"{web}/a.jsonl"], database=database).files
    assert (wrong.path, wrong.status) == (address, "failed")
    assert wrong.message == f"{address} is no address."
    assert wrong.hint
    assert right.status == "landed"


@pytest.mark.parametrize("names", [("a.jsonl", "a.jsonl/b.jsonl"), ("a.jsonl/b.jsonl", "a.jsonl")])
def test_an_address_below_another_is_told(web: str, tmp_path: Path, names: tuple[str, str]) -> None:
    database = tmp_path / "passk.duckdb"
    first, second = load([f"{web}/{name}" for name in names], database=database).files
    assert first.status == "landed"
    assert second.message == (
        f"{web}/{names[1]} was not fetched: it and another address name a file and a folder by one "
        "name."
    )


@pytest.mark.parametrize("is_new", [True, False])
def test_others_can_write_while_a_server_answers(
    web: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_new: bool
) -> None:
    database = tmp_path / "passk.duckdb"
    if not is_new:
        (tmp_path / "first.jsonl").write_bytes(LOG.replace(b'"r"', b'"first"'))
        load(tmp_path / "first.jsonl", database=database)
    answered = []

    def write() -> None:
        # Another process, because DuckDB locks a database for the others.
        command = [sys.executable, "-c", WRITE, str(database)]
        answered.append(subprocess.run(command, capture_output=True, text=True, check=False).stderr)

    monkeypatch.setattr(Server, "before_answer", staticmethod(write))
    assert only(database, f"{web}/a.jsonl").status == "landed"
    assert answered == [""]
    assert len(sources(database)) == (1 if is_new else 2)
    with duckdb.connect(str(database), read_only=True) as connection:
        assert connection.execute("select n from written").fetchall() == [(1,)]


def test_nothing_is_fetched_for_a_database_that_can_be_none(
    web: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered: list[None] = []
    monkeypatch.setattr(Server, "before_answer", staticmethod(lambda: answered.append(None)))
    (tmp_path / "notes.txt").write_text("These are notes, and no database.")
    with pytest.raises(PasskError, match="is not a DuckDB database"):
        load(f"{web}/a.jsonl", database=tmp_path / "notes.txt")
    with pytest.raises(PasskError, match="is a folder"):
        load(f"{web}/a.jsonl", database=tmp_path)
    assert not answered


def test_nothing_is_fetched_for_a_database_that_is_in_use(
    web: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered: list[None] = []
    monkeypatch.setattr(Server, "before_answer", staticmethod(lambda: answered.append(None)))
    database = tmp_path / "passk.duckdb"
    command = [sys.executable, "-c", f"{WRITE}print(flush=True); input()", str(database)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as held:
        assert held.stdout is not None
        assert held.stdout.readline() == "\n"
        with pytest.raises(InUseError, match=f"is in use by process {held.pid}"):
            load(f"{web}/a.jsonl", database=database)
        held.communicate("\n")
    assert not answered
    assert only(database, f"{web}/a.jsonl").status == "landed"


def test_failures_are_told_in_the_order_of_the_paths(web: str, tmp_path: Path) -> None:
    names = [f"{web}/a.jsonl", f"{web}/none.jsonl", str(tmp_path / "no-file.jsonl")]
    report = load(names, database=tmp_path / "passk.duckdb")
    assert [file.path for file in report.files] == names


def test_servers_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    database = tmp_path / "passk.duckdb"
    closed = only(database, f"http://127.0.0.1:{port}/a.jsonl")
    assert closed.message.endswith("was not fetched: Connection refused.")

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    lost = only(database, "https://logs.example.invalid/a.jsonl")
    assert lost.message.endswith("no server is called logs.example.invalid.")


def test_a_password_in_an_address_is_rejected_and_not_told(tmp_path: Path) -> None:
    file = only(tmp_path / "passk.duckdb", "https://me:secret@example.invalid/a.jsonl")
    assert "secret" not in f"{file.path} {file.message} {file.hint}"
    assert "~/.netrc" in file.hint
    assert only(tmp_path / "passk.duckdb", "https://example.invalid/").message.endswith("no file.")


def test_files_globs_and_folders_of_a_store(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    for name in ("runs/run-2.jsonl", "runs/run-10.jsonl", "runs/notes.bin", "other.jsonl"):
        store.pipe_file(f"/{name}", LOG.replace(b'"r"', f'"{name}"'.encode()))
    try:
        database = tmp_path / "passk.duckdb"
        assert only(database, "memory://runs/run-2.jsonl").status == "landed"
        report = load("memory://runs", database=database)
        assert sorted(file.path for file in report.files) == [
            "memory://runs/run-10.jsonl",
            "memory://runs/run-2.jsonl",
        ]
        assert report.statuses == {"landed": 1, "unchanged": 1}
        assert load("memory://*.jsonl", database=database).statuses == {"landed": 1}
        assert len(sources(database)) == 3
        missing = only(database, "memory://runs/none.jsonl")
        assert missing.message == "memory://runs/none.jsonl does not exist."
        assert only(database, "memory://runs/x*.jsonl").message.startswith("Nothing matches")
    finally:
        store.store.clear()


def test_a_store_without_its_library_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    file = only(tmp_path / "passk.duckdb", "s3://bucket/a.jsonl")
    assert "passk-py[remote]" in file.hint
