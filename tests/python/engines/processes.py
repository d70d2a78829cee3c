"""Servers for tests, as processes of this machine that end with them."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..ports import HOST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Processes:
    """Programs with a folder of their own, for as long as they are not stopped."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="passk-servers-"))
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self, name: str, words: Sequence[str], environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start one under a name of its own; what it says goes to a file."""
        assert name not in self._running
        with self._said(name).open("wb") as said:
            process = subprocess.Popen(
                words, cwd=self.folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                stdout=said, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        self._running[name] = process
        return process

    def wait_for(self, name: str, port: int, seconds: int = 120) -> None:
        """Wait until one listens on a port. Where it does not, end them all, and raise what it said."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._running[name].poll() is None:
            with socket.socket() as tried:
                if tried.connect_ex((HOST, port)) == 0:
                    return
            time.sleep(0.2)
        said = self._said(name).read_text(errors="replace")
        self.stop()
        raise RuntimeError(said[-6000:])

    def _said(self, name: str) -> Path:
        return self.folder / f"{name}.txt"

    @staticmethod
    def kill(process: subprocess.Popen[bytes]) -> None:
        """End one and what it started, at once."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def stop(self) -> None:
        """End them all, the last first, and remove the folder."""
        for process in reversed(self._running.values()):
            self.kill(process)
        shutil.rmtree(self.folder, ignore_errors=True)
