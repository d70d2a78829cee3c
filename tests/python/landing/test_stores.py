"""Logs in the stores of clouds, from local servers of their protocols, which CONTRIBUTING.md names."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import duckdb
import pytest

from passk_py.ingest.landing import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

pytestmark = pytest.mark.long

KEY: Final = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"
LOG: Final = "".join(
    json.dumps({"run_id": "r", "task_id": "t", "attempt": n, "passed": n % 2 > 0}) + "\n"
    for n in range(1, 5)
).encode()
FILES: Final = {"runs/a.jsonl": LOG, "runs/b.jsonl": LOG.replace(b'"r"', b'"s"')}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def fill(store: Any) -> None:
    for name, content in FILES.items():
        store.pipe_file(f"logs/{name}", content)


@contextmanager
def s3(monkeypatch: pytest.MonkeyPatch, _folder: Path) -> Iterator[str]:
    library = pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(port=0)
    server.start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://{}:{}".format(*server.get_host_and_port()))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    try:
        store = library.S3FileSystem()
        store.mkdir("logs")
        fill(store)
        yield "s3://logs"
    finally:
        server.stop()


@contextmanager
def gs(monkeypatch: pytest.MonkeyPatch, _folder: Path) -> Iterator[str]:
    library = pytest.importorskip("gcsfs")
    emulator = pytest.importorskip("gcp_storage_emulator.server")
    port = free_port()
    server = emulator.create_server("127.0.0.1", port, in_memory=True, default_bucket="logs")
    server.start()
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{port}")
    # The library asks by gRPC, which this server does not speak, which kind of bucket it is.
    monkeypatch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    try:
        fill(library.GCSFileSystem())
        yield "gs://logs"
    finally:
        server.stop()


@contextmanager
def az(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[str]:
    library = pytest.importorskip("adlfs")
    program = shutil.which("azurite-blob")
    if program is None:
        pytest.skip("azurite is not installed: npm install azurite")
    port = free_port()
    monkeypatch.setenv("AZURITE_ACCOUNTS", f"account:{KEY}")
    process = subprocess.Popen(
        [
            program,
            "--silent",
            "--skipApiVersionCheck",
            "--location",
            folder,
            "--blobPort",
            str(port),
        ],
        stdout=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}/account"
    parts = f"AccountName=account;AccountKey={KEY};BlobEndpoint={address};"
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", f"DefaultEndpointsProtocol=http;{parts}")
    try:
        for _ in range(200):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        store = library.AzureBlobFileSystem(
            connection_string=f"DefaultEndpointsProtocol=http;{parts}"
        )
        store.mkdir("logs")
        fill(store)
        yield "az://logs"
    finally:
        process.terminate()
        process.wait()


class Hub(BaseHTTPRequestHandler):
    """The requests of Hugging Face's hub that a dataset of files needs."""

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        of_repository, of_files = "/api/datasets/me/logs", "/datasets/me/logs/resolve/main/"
        if path.startswith(f"{of_repository}/tree/main"):
            folder = path.removeprefix(f"{of_repository}/tree/main").strip("/")
            self.tell(self.entries(folder), "EntryNotFound")
        elif path == of_repository or path.startswith(f"{of_repository}/revision/"):
            self.tell({"id": "me/logs", "sha": "2" * 40, "siblings": [], "tags": []})
        elif path.startswith(of_files):
            self.tell(FILES.get(path.removeprefix(of_files)), "EntryNotFound")
        else:
            self.tell(None, "RepoNotFound")

    def do_HEAD(self) -> None:
        self.do_GET()

    def entries(self, folder: str) -> list[dict[str, Any]]:
        """List a folder."""
        if not folder:
            return [{"type": "directory", "path": "runs", "oid": "1" * 40}]
        return [
            {"type": "file", "path": name, "size": len(content), "oid": "0" * 40}
            for name, content in FILES.items()
            if name.startswith(f"{folder}/")
        ]

    def tell(self, found: object, error: str = "") -> None:
        """Send what was found, or the hub's name of what was not."""
        body = found if isinstance(found, bytes) else json.dumps(found).encode()
        self.send_response(200 if found else 404)
        for name, value in {
            "Content-Length": len(body), "ETag": '"3"', "X-Repo-Commit": "2" * 40,
            **({} if found else {"X-Error-Code": error}),
        }.items():  # fmt: skip
            self.send_header(name, str(value))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def hf(monkeypatch: pytest.MonkeyPatch, _folder: Path) -> Iterator[str]:
    pytest.importorskip("huggingface_hub")
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        Thread(target=partial(server.serve_forever, poll_interval=0.01), daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        # The library takes the address of the hub from the environment when it is imported.
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
        files = f"{address}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", files)
        monkeypatch.setenv("HF_TOKEN", KEY)
        yield "hf://datasets/me/logs"
        server.shutdown()


@pytest.mark.parametrize("server", [s3, gs, az, hf], ids=lambda server: server.__name__)
def test_files_folders_and_patterns_of_a_store(
    server: Callable[[pytest.MonkeyPatch, Path], AbstractContextManager[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    database = tmp_path / "passk.duckdb"
    with server(monkeypatch, tmp_path) as store:
        assert load(f"{store}/runs/", database=database).statuses == {"landed": 2}
        assert load(f"{store}/runs/*.jsonl", database=database).statuses == {"unchanged": 2}
        assert load(f"{store}/runs/a.jsonl", database=database).statuses == {"unchanged": 1}
        (none,) = load(f"{store}/none.jsonl", database=database).files
        assert none.message == f"{store}/none.jsonl does not exist."
        (nothing,) = load(f"{store}/x*.jsonl", database=database).files
        assert nothing.message == f"Nothing matches {store}/x*.jsonl."
    with duckdb.connect(str(database), read_only=True) as connection:
        assert connection.execute(
            "select source_file, count(*) from landing.attempts group by all order by 1"
        ).fetchall() == [(f"{store}/runs/a.jsonl", 4), (f"{store}/runs/b.jsonl", 4)]
    assert KEY.encode() not in database.read_bytes()
