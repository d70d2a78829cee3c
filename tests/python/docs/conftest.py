"""A folder as the pages take for granted: the demo's database, its copy for dashboards, and logs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


def environment(folder: Path) -> dict[str, str]:
    """Give what a shell needs in which `passk` is the one under test."""
    commands = folder / ".commands"
    commands.mkdir(exist_ok=True)
    passk = commands / "passk"
    passk.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m passk_py "$@"\n', "utf-8")
    passk.chmod(0o755)
    root = Path(__file__).resolve().parents[3]
    paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {name: value for name, value in os.environ.items() if not name.startswith("PASSK_")}
    # In a process of its own dbt v2 is several times faster.
    if "PASSK_DBT_2" in os.environ:
        own["PASSK_DBT"] = os.environ["PASSK_DBT_2"]
    return own | {
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(paths),
        "COLUMNS": "100",
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
