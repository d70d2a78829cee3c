"""Fixtures of the suites of the command line: calls in this process, and databases to call on.

Tests are imported one by one, so helpers come to them as fixtures.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from click.testing import CliRunner

from passk_py.cli import cli

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOG = [
    # Two versions of one agent over three tasks: better at pass@1, worse at pass^2.
    *(("old", "steady", "PPPP"), ("old", "never", "FFFF"), ("old", "shaky", "PFFF")),
    *(("new", "steady", "PPPF"), ("new", "never", "FPFP"), ("new", "shaky", "FPPX")),
]
"""Run, task and outcomes; an agent of its own has tried fewer tasks, and too seldom."""

VERDICTS = {"P": "passed", "F": "failed", "X": "excluded"}


@dataclass(frozen=True)
class Said:
    """The output of a call, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object that stdout must hold."""
        values = json.loads(self.out)
        assert isinstance(values, dict)
        return values


def call(*words: object) -> Said:
    """Call a command in this process."""
    done = CliRunner().invoke(cli, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Said(done.exit_code, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def passk() -> Callable[..., Said]:
    """Calls a command in this process."""
    return call


def rows_of(log: list[tuple[str, str, str]], **more: Any) -> list[dict[str, Any]]:
    """Give the rows of a log that is written in letters."""
    return [
        {
            "run_id": run,
            "suite": "letters",
            "task_id": task,
            "attempt": attempt,
            "outcome": VERDICTS[letter],
            "agent": "bot",
            "agent_version": run,
            "started_at": f"2026-01-0{1 if run == 'old' else 2}T00:00:0{attempt}Z",
            "tags": {"kind": task[0]},
            **more,
        }
        for run, task, letters in log
        for attempt, letter in enumerate(letters, 1)
    ]


def write_log(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write a log as JSON lines."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def make_log(tmp_path: Path) -> Callable[..., Path]:
    """Writes a log in letters: run, task, outcomes."""

    def make(name: str, log: list[tuple[str, str, str]], **more: Any) -> Path:
        return write_log(tmp_path / name, rows_of(log, **more))

    return make


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PASSK_DATABASE", "PASSK_VARS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)


@dataclass(frozen=True)
class Demo:
    """The demo, run once."""

    folder: Path
    database: Path


@pytest.fixture(scope="session")
def demo(published_demo: Path) -> Demo:
    """The folder of the demo, to be read only."""
    return Demo(published_demo, published_demo / "passk.duckdb")


@pytest.fixture(scope="session")
def build_log(
    make_once: Callable[[str, Callable[[Path], None]], Path],
) -> Callable[[str, list[tuple[str, str, str]]], Path]:
    """Loads and builds a log in letters, for fixtures that many tests share."""

    def build(name: str, log: list[tuple[str, str, str]]) -> Path:
        def fill(folder: Path) -> None:
            path = write_log(folder / "letters.jsonl", rows_of(log))
            database = folder / "passk.duckdb"
            assert call("load", path, "--database", database).code == 0
            said = call("build", "--database", database)
            assert said.code == 0, said.err

        return make_once(name, fill) / "passk.duckdb"

    return build


@pytest.fixture
def copy_built(tmp_path: Path) -> Callable[[Path], Path]:
    """Copies a built database, as ``passk.duckdb`` in the working directory."""

    def copy(built: Path) -> Path:
        shutil.copyfile(built, tmp_path / "passk.duckdb")
        # Without what dbt has compiled: the cache of the user has the project as it is parsed.
        ignored = shutil.ignore_patterns("target")
        shutil.copytree(built.parent / ".passk", tmp_path / ".passk", ignore=ignored)
        return tmp_path / "passk.duckdb"

    return copy


@pytest.fixture(scope="session")
def built(build_log: Callable[..., Path]) -> Path:
    """A database of the log in letters, loaded and built."""
    return build_log("built", LOG)


@pytest.fixture
def letters(built: Path, copy_built: Callable[[Path], Path]) -> Path:
    """A copy of it, as ``passk.duckdb`` in the working directory."""
    return copy_built(built)


@pytest.fixture
def models_only(monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Options of a build without tests, which are most of the time of a small build."""
    monkeypatch.setenv("DBT_INDIRECT_SELECTION", "empty")
    return ("--select", "resource_type:model")


@pytest.fixture
def change(letters: Path) -> Callable[..., None]:
    """Runs statements on the copy."""

    def run(*statements: str) -> None:
        with duckdb.connect(str(letters)) as connection:
            for statement in statements:
                connection.execute(statement)

    return run
