"""What the tests of the dashboards share: the demo, built once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest

from .board_page import Board
from .demo import with_decoys
from .serving import Boards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


@pytest.fixture(scope="session")
def serve_boards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """Serve boards as `passk boards` does, with the options that are given."""
    boards = Boards(tmp_path_factory.mktemp("boards"))
    yield boards.serve
    boards.stop()


@pytest.fixture(scope="session")
def served_boards(
    serve_boards: Callable[..., str], demo: Path, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """Serve the boards of the demo with rows that no board may draw unasked."""
    database = tmp_path_factory.mktemp("decoys") / "passk.duckdb"
    with_decoys(demo, database)
    return serve_boards("--database", database)


@pytest.fixture
def board(browser: Any, served_boards: str) -> Iterator[Board]:
    """Open a page that may ask no other server for anything."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)
    outside: list[str] = []
    page.on(
        "request",
        lambda request: (
            outside.append(request.url)
            if not request.url.startswith((served_boards, "data:", "blob:"))
            else None
        ),
    )
    mistakes: list[str] = []
    page.on("pageerror", lambda error: mistakes.append(str(error)))
    yield Board(page, served_boards)
    page.close()
    assert not outside
    assert not mistakes
