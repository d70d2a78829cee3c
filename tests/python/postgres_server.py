"""A Postgres for tests: one of its own, where the programs are installed, or one that a URL names."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from .ports import HOST, free_port

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO


def postgres_programs() -> Path | None:
    """Give the folder of initdb, pg_ctl and psql of the newest Postgres that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    return Path(initdb).resolve().parent if initdb else None


@dataclass(frozen=True, slots=True)
class Postgres:
    """A database of a server that answers."""

    psql: str
    host: str
    port: int
    user: str
    password: str
    database: str

    @classmethod
    def at(cls, url: str) -> Postgres:
        """Name a database by its URL: postgresql://user:password@host:port/database."""
        parts = urlsplit(url)
        return cls(
            shutil.which("psql") or str((postgres_programs() or Path()) / "psql"),
            parts.hostname or "localhost",
            parts.port or 5432,
            unquote(parts.username or ""),
            unquote(parts.password or ""),
            parts.path.lstrip("/"),
        )

    def environment(self, schema: str) -> dict[str, str]:
        """Give the variables that the targets of profiles.yml read."""
        return {
            "PASSK_POSTGRES_HOST": self.host,
            "PASSK_POSTGRES_PORT": str(self.port),
            "PASSK_POSTGRES_USER": self.user,
            "PASSK_POSTGRES_PASSWORD": self.password,
            "PASSK_POSTGRES_DATABASE": self.database,
            "PASSK_POSTGRES_SCHEMA": schema,
        }

    def ask(
        self,
        *statements: str,
        rows: IO[bytes] | None = None,
        output: Path | None = None,
    ) -> str:
        """Run statements, one after the other, and give what psql prints."""
        words = [self.psql, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        words += ["-h", self.host, "-p", str(self.port), "-U", self.user, "-d", self.database]
        for statement in statements:
            words += ["-c", statement]
        done = subprocess.run(
            [*words, *(["-o", str(output)] if output else [])],
            stdin=rows or subprocess.DEVNULL,
            env={**os.environ, "PGPASSWORD": self.password, "PGOPTIONS": "-c client_min_messages=warning"},
            capture_output=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr.decode(errors="replace"))
        return done.stdout.decode().strip()


class Server:
    """A Postgres with a folder of its own, on a free port, for as long as it is not stopped."""

    def __init__(self, programs: Path) -> None:
        # Not one of pytest's, which keeps other users out of its folders.
        folder = Path(tempfile.mkdtemp(prefix="passk-postgres-"))
        folder.chmod(0o777)
        self._programs, self._folder = programs, folder
        # Postgres does not run for root.
        self._as_user = (
            ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            if os.getuid() == 0
            else []
        )
        owner = "postgres" if self._as_user else pwd.getpwuid(os.getuid()).pw_name
        port = free_port()
        self.database = Postgres(str(programs / "psql"), HOST, port, owner, "", "postgres")
        data = str(folder / "data")
        self._call(["initdb", "-D", data, "-U", owner, "-A", "trust", "-E", "UTF8"])
        options = f"-p {port} -k {folder} -c listen_addresses={HOST} -c fsync=off"
        self._call(
            ["pg_ctl", "-D", data, "-o", options, "-l", str(folder / "log.txt"), "-w", "start"]
        )

    def stop(self) -> None:
        """End it, and remove its folder."""
        self._call(["pg_ctl", "-D", str(self._folder / "data"), "-m", "immediate", "stop"])
        shutil.rmtree(self._folder, ignore_errors=True)

    def _call(self, words: Sequence[str]) -> None:
        # Not into a pipe: the server would hold it open.
        with (self._folder / "calls.txt").open("wb") as said:
            done = subprocess.run(
                [*self._as_user, str(self._programs / words[0]), *words[1:]],
                cwd=self._folder, stdout=said, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
        if done.returncode:
            raise RuntimeError((self._folder / "calls.txt").read_text(errors="replace"))
