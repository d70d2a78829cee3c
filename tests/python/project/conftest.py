"""What the suites of the dbt project share: the demo that `dbt build` alone makes, with its docs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def dbt_demo(make_once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """The demo's seed built and documented by dbt without a warning: ``demo.duckdb``, ``target``."""

    def fill(folder: Path) -> None:
        for command in (
            ["build", "--exclude", "resource_type:unit_test"],
            # The build has compiled all of it.
            ["docs", "generate", "--static", "--no-compile"],
        ):
            done = subprocess.run(
                [
                    str(Path(sys.executable).parent / "dbt"), "--warn-error", *command,
                    "--project-dir", str(ROOT), "--profiles-dir", str(ROOT), "--target", "demo",
                    "--target-path", str(folder / "target"), "--log-path", str(folder / "logs"),
                ],
                cwd=folder,
                env=os.environ | {"PASSK_DATABASE": str(folder / "demo.duckdb")},
                capture_output=True,
                text=True,
                check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr

    return make_once("dbt_demo", fill)
