"""A folder as the pages take for granted: the demo's database, its copy for dashboards, and logs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from .. import programs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def environment(folder: Path) -> dict[str, str]:
    """Give what a shell needs in which `passk` is the one under test."""
    commands = folder / ".commands"
    commands.mkdir(exist_ok=True)
    passk = commands / "passk"
    passk.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m passk_py "$@"\n', "utf-8")
    passk.chmod(0o755)
    return programs.environment() | {
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of a page."""
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="session")
def run() -> Callable[..., Any]:
    return shell


@pytest.fixture(scope="session")
def demo(published_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, built and published, in a folder that pages may write to."""
    folder = tmp_path_factory.mktemp("docs") / "demo"
    shutil.copytree(published_demo, folder)
    (log,) = folder.glob("*.jsonl")
    shutil.copy(log, folder / "results.jsonl")
    return folder
