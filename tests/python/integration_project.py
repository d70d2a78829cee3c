"""A copy of `integration_tests`, which is a project that installs this one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]


def copy_project(folder: Path) -> Path:
    """Copy it into a folder, and give the copy, whose package entry points back at this checkout."""
    project = folder / "integration_tests"
    shutil.copytree(
        ROOT / "integration_tests", project, ignore=shutil.ignore_patterns("dbt_packages", "target", "logs", "*.duckdb*")
    )  # fmt: skip
    packages = project / "packages.yml"
    assert packages.read_text().endswith("- local: ../\n")
    packages.write_text(f"packages:\n  - local: {ROOT}\n")
    return project
