"""Waiting for a server that the tests start."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Final

import pytest

from ..ports import free_port

DCT: Final = os.environ.get("PASSK_DCT") or shutil.which("dct")
NEEDS_DCT: Final = pytest.mark.skipif(
    DCT is None, reason="the boards need dct (dbt-charts), which is not installed"
)
PASSK: Final = str(Path(sys.executable).with_name("passk"))


class Boards:
    """Each `passk boards` that was started, until all are stopped."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []

    def serve(self, *words: object) -> str:
        """Start one, and give its address once it answers."""
        port = free_port()
        log = self.folder / f"{port}.txt"
        with log.open("wb") as output:
            server = subprocess.Popen(
                [PASSK, "boards", "--port", str(port), *map(str, words)],
                cwd=self.folder,
                env={**os.environ, "PASSK_DCT": str(DCT)},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self.started.append(server)
        address = f"http://localhost:{port}"
        wait_for(address, server, log)
        return address

    def stop(self) -> None:
        for server in self.started:
            server.terminate()
        for server in self.started:
            server.wait(30)


def wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until an address answers, with whatever code."""
    for _ in range(480):
        try:
            urllib.request.urlopen(address, timeout=60).close()  # noqa: S310 - its own address
        except urllib.error.HTTPError:
            return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            assert server.poll() is None, log.read_text()
            time.sleep(0.5)
        else:
            return
    raise AssertionError(log.read_text())
