"""Servers that the tests start."""

from __future__ import annotations

import socket
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


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
