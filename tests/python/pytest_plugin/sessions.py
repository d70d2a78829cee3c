"""Sessions of pytest with the plugin, each in a process and a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[3]
PLUGIN: Final = "passk_py.pytest_plugin.hooks"


@dataclass(frozen=True)
class Ended:
    """A session that ended."""

    code: int
    out: str
    folder: Path

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The attempts of its log, which is the newest."""
        logs = sorted(self.folder.glob(".pytest_cache/d/passk/*.jsonl"))
        newest = max(logs, key=lambda log: log.stat().st_mtime_ns)
        return [json.loads(line) for line in newest.read_text("utf-8").splitlines()]

    def outcomes(self, task: str) -> list[tuple[str, str | None]]:
        """What became of the attempts of a test, in their order."""
        rows = sorted(
            (row for row in self.rows if row["task_id"] == task), key=lambda row: row["attempt"]
        )
        return [(row["outcome"], row.get("outcome_reason")) for row in rows]


def run_session(folder: Path, *words: str, plugins: tuple[str, ...] = ()) -> Ended:
    """Run pytest in a folder: only these plugins, whatever else is installed."""
    # Nothing of the session that runs this test.
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "COV_"))
    }
    environment |= {
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "COLUMNS": "100",
    }
    named = [word for plugin in (PLUGIN, *plugins) for word in ("-p", plugin)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *named, "--tb=no", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return Ended(done.returncode, done.stdout + done.stderr, folder)
