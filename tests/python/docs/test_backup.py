"""The commands of the page on backups make a copy that can be restored."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import duckdb
import pytest

from ..programs import environment
from .blocks import blocks

if TYPE_CHECKING:
    from pathlib import Path

PASSK = f'passk() {{ {sys.executable} -m passk_py "$@"; }}; set -e\n'
ROWS = "select count(*) from landing.attempts"
DIES = """
import os, duckdb
connection = duckdb.connect("passk.duckdb")
connection.execute("set checkpoint_threshold = '1TB'")
connection.execute("insert into landing.attempts select * replace (9 as attempt) from landing.attempts")
os._exit(9)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a database whose last rows are in its log only, as after a crash."""
    rows = [
        f'{{"run_id": "r", "task_id": "t{task}", "attempt": 1, "outcome": "passed"}}\n'
        for task in range(20)
    ]
    (tmp_path / "log.jsonl").write_text("".join(rows), encoding="utf-8")
    for command in (
        [sys.executable, "-m", "passk_py", "load", "log.jsonl"],
        [sys.executable, "-c", DIES],
    ):
        subprocess.run(command, cwd=tmp_path, check=False, capture_output=True)
    assert (tmp_path / "passk.duckdb.wal").exists()
    return tmp_path


@pytest.mark.long
def test_a_backup_is_restored(folder: Path) -> None:
    back_up, restore = blocks("shell", "docs/backup.md")

    def run(text: str) -> None:
        done = subprocess.run(
            ["bash", "-c", PASSK + text],
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    run(back_up.text)
    with duckdb.connect(str(folder / "passk.duckdb")) as connection:
        connection.execute("delete from landing.attempts")
        assert connection.execute(ROWS).fetchall() == [(0,)]
    run(restore.text.replace("passk build", "passk build --no-tests"))
    with duckdb.connect(str(folder / "passk.duckdb"), read_only=True) as connection:
        assert connection.execute(ROWS).fetchall() == [(40,)]
        assert connection.execute("select attempts from passk_runs").fetchall() == [(40,)]
