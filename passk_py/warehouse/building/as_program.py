"""Running dbt v2, which is a program that writes what happens as lines of JSON."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from itertools import starmap
from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.warehouse.building.build_report import NodeReport, could_not_run, report_of, sentence

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from passk_py.warehouse.building.build_report import BuildReport

_STARTED: Final = "LogStartLine"
_FINISHED: Final = ("LogModelResult", "LogTestResult", "LogSeedResult")
_PATIENCE: Final = 10
"""Seconds that dbt has to stop in."""


class _Events:
    """The messages of dbt so far."""

    def __init__(self, progress: Callable[[str, int, int], None] | None) -> None:
        self.progress = progress
        self.started = 0
        self.seconds = 0.0
        self.nodes: list[tuple[str, str, str, int]] = []
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
            ended = (data.get("status", "error"), data.get("num_failures", 0))
            self.nodes.append((key, node_name, *ended))
        elif name == "CommandCompleted":
            self.seconds = float(data.get("elapsed") or 0)

    def report(self) -> BuildReport:
        """Sum up."""
        return report_of(starmap(self._node, self.nodes), self.seconds)

    def _node(self, key: str, name: str, status: str, failures: int) -> NodeReport:
        """Tell how a node ended, a test in its own words where it has some."""
        message = sentence(self.errors.get(key, ""))
        if status in ("fail", "warn"):
            results = f"{failures} result" + ("" if failures == 1 else "s")
            message = "\n".join(
                self.said.get(key, [f"Got {results}, configured to {status} if != 0"])
            )
        return NodeReport(name, key.partition(".")[0], status, message)


def run(
    program: Path,
    version: str,
    arguments: list[str],
    progress: Callable[[str, int, int], None] | None,
    database: Path,
    folder: Path,
) -> BuildReport:
    """Run a command of dbt v2; ``progress`` is told 0 nodes, because it does not say how many."""
    events = _Events(progress)
    with (
        tempfile.TemporaryFile() as errors,
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
        raise could_not_run(said, database, folder / "logs" / "dbt.log")
    return report


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
