"""The program of dbt charts: which one it is, and running it."""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from passk_py.common.errors import PasskError
from passk_py.common.programs import program_named_by
from passk_py.reports.boards.board_project import PASSWORD_VARIABLE, SOURCE
from passk_py.warehouse.project import project_dir

if TYPE_CHECKING:
    from types import TracebackType

_VARIABLE: Final = "PASSK_DCT"
INSTALL: Final = (
    "python3 -m venv .venv-boards && .venv-boards/bin/pip install "
    "'dbt-charts[postgresql]==0.10.0' 'dbt-core<1.12' && export PASSK_DCT=$PWD/.venv-boards/bin/dct"
)
_PATIENCE: Final = 120
"""Seconds that dct has to start in."""

_LINES: Final = 8
"""How much of what dct said an error repeats."""


def find_dct() -> str:
    """Find dct: that of ``PASSK_DCT``, beside Python, on the path, or of the checkout."""
    hint = "Name the program dct of dbt charts, or unset it to search for one."
    if named := program_named_by(_VARIABLE, hint):
        return named
    checkout = project_dir() / ".venv-boards" / "bin"
    for path in (str(Path(sys.executable).parent), None, str(checkout)):
        if found := shutil.which("dct", path=path):
            return found
    raise PasskError(
        "The boards need dct, the program of dbt charts, which is not installed.",
        hint=f"Install it in an environment of its own: {INSTALL}",
    )


class Dct:
    """A dct that serves a project to this machine alone, until it is left."""

    def __init__(self, program: str, folder: Path, port: int, password: str) -> None:
        self.port = port
        self._program, self._folder = program, folder
        self._log = folder / "dct.log"
        self._environment = {**os.environ, "DO_NOT_TRACK": "1", PASSWORD_VARIABLE: password}
        self._process: subprocess.Popen[bytes] | None = None

    def check(self, table: str) -> None:
        """Read a table, as the boards will; raise an error if that fails."""
        done = subprocess.run(  # noqa: S603 - the program that the user installed
            [self._program, "query", SOURCE, f"select count(*) as n from {table}"],
            cwd=self._folder, env=self._environment, stdin=subprocess.DEVNULL, capture_output=True,
            encoding="utf-8", errors="replace", check=False,
        )  # fmt: skip
        if done.returncode:
            said = " ".join(done.stderr.split())
            hint = "Give the schema of the tables with --schema, and build them first with dbt."
            if "WAREHOUSE-CONNECTION" in said:
                hint = "Compare --uri with what psql takes."
            elif "dbt-postgres" in said or "psycopg2" in said:
                hint = f"Install dct with its Postgres driver: {INSTALL}"
            raise PasskError(f"dct can't read {table}: {said[-1000:]}", hint=hint)

    def __enter__(self) -> Self:
        words = [
            self._program, "serve", "--project-dir", str(self._folder),
            "--host", "127.0.0.1", "--port", str(self.port), "--no-cache",
        ]  # fmt: skip
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - as above
                words, cwd=self._folder, env=self._environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        try:
            self._wait()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def require_running(self) -> None:
        """Raise an error if dct has ended."""
        if self._process is not None and self._process.poll() is not None:
            raise self._ended(f"dct ended with exit code {self._process.returncode}")

    def _wait(self) -> None:
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            self.require_running()
            # By no proxy, whatever the environment says of one.
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            try:
                connection.request("GET", "/health")
                connection.getresponse()
            except (OSError, http.client.HTTPException):
                time.sleep(0.2)
            else:
                return
            finally:
                connection.close()
        raise self._ended(f"dct did not answer within {_PATIENCE} seconds")

    def _stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ended(self, what: str) -> PasskError:
        said = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return PasskError(f"{what}. It said: {' '.join(said[-_LINES:]) or 'nothing'}")


def any_port() -> int:
    """Give a port of this machine that nobody listens on."""
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: Any = listener.getsockname()[1]
    return int(port)
