"""What the tests of the dashboards share: the demo, built once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the demo with dbt, as `dbt build` does it."""
    folder = tmp_path_factory.mktemp("demo")
    subprocess.run(
        [
            str(Path(sys.executable).with_name("dbt")), "--quiet", "build", "--profiles-dir", ".",
            "--target", "demo", "--exclude-resource-type", "test",
            "--exclude-resource-type", "unit_test",
            "--target-path", str(folder / "target"), "--log-path", str(folder / "logs"),
        ],
        cwd=ROOT,
        env={**os.environ, "PASSK_DATABASE": str(folder / "passk_demo.duckdb")},
        check=True,
    )  # fmt: skip
    return folder / "passk_demo.duckdb"


@pytest.fixture(scope="session")
def tables(demo: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(demo), read_only=True) as connection:
        yield connection
