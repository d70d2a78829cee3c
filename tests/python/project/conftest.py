"""Fixtures of the suites of the dbt project: the demo that `dbt build` alone makes, with its docs."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..faster_dbt import close_database

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def dbt_demo(make_once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """The demo's seed built and documented by dbt without a warning: ``demo.duckdb``, ``target``."""

    def fill(folder: Path) -> None:
        from dbt.cli.main import dbtRunner

        for command in (
            ["build", "--exclude", "resource_type:unit_test"],
            # The build has compiled all of it.
            ["docs", "generate", "--static", "--no-compile"],
        ):
            with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
                patch.setenv("PASSK_DATABASE", str(folder / "demo.duckdb"))
                # A process of its own would first make of all templates what this one has kept.
                try:
                    done: Any = dbtRunner().invoke([
                        "--warn-error", "--log-level", "none", *command,
                        "--project-dir", str(ROOT), "--profiles-dir", str(ROOT), "--target", "demo",
                        "--target-path", str(folder / "target"), "--log-path", str(folder / "logs"),
                    ])  # fmt: skip
                finally:
                    close_database()
            assert done.exception is None, done.exception
            assert done.success, [result.message for result in done.result]

    return make_once("dbt_demo", fill)
