"""Waiting for a server that the tests start."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


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
