"""Running dbt v2, which is a program that writes what happens as lines of JSON."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from passk_py.building.reports import BuildReport, NodeReport, could_not_run, sentence
from passk_py.errors import PasskError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["run"]

_STARTED: Final = "LogStartLine"
_FINISHED: Final = ("LogModelResult", "LogTestResult", "LogSeedResult")
_PATIENCE: Final = 10
"""Seconds that dbt has to stop in."""


class _Events:
    """What dbt has said so far."""

    def __init__(self, progress: Callable[[str, int, int], None] | None) -> None:
        self.progress = progress
        self.started = 0
        self.seconds = 0.0
        self.nodes: list[tuple[str, str, str, str]] = []
        self.errors: dict[str | None, str] = {}
        self.said: dict[str | None, list[str]] = {}
        self.other: list[str] = []

    def take(self, line: str) -> None:
        """Take a line of its output."""
        try:
            event = json.loads(line)
            info, data = event["info"], event.get("data") or {}
            name, message, node = info["name"], info.get("msg", ""), data.get("node_info") or {}
        except (ValueError, KeyError, TypeError, AttributeError):
            if line.strip():
                self.other.append(line.rstrip())
            return
        key, node_name = node.get("unique_id"), node.get("node_name", "")
        if info.get("level") == "error":
            self.errors.setdefault(key, message)
        if name == "JinjaLogInfo":
            self.said.setdefault(key, []).append(message)
        elif name == _STARTED:
            self.started += 1
            if self.progress is not None:
                self.progress(node_name, self.started, 0)
        elif name in _FINISHED and key is not None:
            status = data.get("status", "error")
            said = f"Got {_results(data)}, configured to {status} if != 0"
            self.nodes.append((key, node_name, status, said))
        elif name == "CommandCompleted":
            self.seconds = float(data.get("elapsed") or 0)

    def report(self) -> BuildReport:
        """Sum up."""
        counts = {"model": 0, "test": 0, "skipped": 0}
        failed: list[NodeReport] = []
        warned: list[NodeReport] = []
        for key, name, status, said in self.nodes:
            kind = key.partition(".")[0]
            if status in ("success", "pass"):
                counts["test" if "test" in kind else "model"] += kind != "seed"
            elif status in ("fail", "warn"):
                message = "\n".join(self.said.get(key, [said]))
                (warned if status == "warn" else failed).append(
                    NodeReport(name, kind, status, message)
                )
            elif status == "error":
                failed.append(NodeReport(name, kind, status, sentence(self.errors.get(key, ""))))
            else:
                counts["skipped"] += 1
        return BuildReport(
            counts["model"],
            counts["test"],
            counts["skipped"],
            tuple(failed),
            tuple(warned),
            self.seconds,
        )


def run(
    program: Path,
    version: str,
    arguments: list[str],
    progress: Callable[[str, int, int], None] | None,
    database: Path,
    log: Path,
) -> BuildReport:
    """Run a command of dbt.

    Parameters
    ----------
    program, version
        Which dbt.
    arguments
        The command and its options.
    progress
        Is told the name of the node that starts and its number; 0 stands for how many there are,
        which dbt v2 does not say.
    database
        The DuckDB file.
    log
        Where dbt writes its log.

    Raises
    ------
    PasskError
        If dbt stopped for another reason than a node that failed.
    """
    events = _Events(progress)
    with (
        tempfile.TemporaryFile() as errors,
        _stoppable(),
        subprocess.Popen(  # noqa: S603 - what the user names, or has on the path
            [str(program), *arguments, "--log-format", "json", "--log-format-file", "text"],
            env={**os.environ, "PASSK_DATABASE": str(database)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        try:
            for line in process.stdout or ():
                events.take(line)
            process.wait()
        except BaseException:
            _stop(process)
            raise
        errors.seek(0)
        for line in errors.read().decode("utf-8", "replace").splitlines():
            events.take(line)
    report = events.report()
    if process.returncode and not report.failed:
        said = _worst(events) or f"it ended with the exit code {process.returncode}"
        if "Failed to load `duckdb` driver" in said:
            raise PasskError(
                f"dbt {version} has no driver for DuckDB.",
                hint="The variable ADBC_DRIVER_PATH of the environment names the folder of it: "
                "DuckDB's library and a duckdb.toml. Unset PASSK_DBT to build with dbt 1.",
            )
        raise could_not_run(said, database, log)
    return report


@contextmanager
def _stoppable() -> Iterator[None]:
    """Take a request to end, which would leave the program running, as Ctrl-C."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _stop(process: subprocess.Popen[str]) -> None:
    """Ask the program to end, and end it if it does not; what it still says is read and left."""
    process.terminate()
    try:
        process.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        pass
    finally:
        process.kill()


def _worst(events: _Events) -> str:
    """Choose, of all that went wrong, what passk itself says; else the first."""
    said = [sentence(message) for message in events.errors.values()] or events.other or [""]
    return next((one for one in said if one.startswith("passk: ")), said[0])


def _results(data: dict[str, Any]) -> str:
    found = data.get("num_failures", 0)
    return f"{found} result" + ("" if found == 1 else "s")
