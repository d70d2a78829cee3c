"""Fixtures of the tests of dashboards: the demo, built once."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest

from passk_py.warehouse.catalog import PUBLIC_TABLES

from ..engines.parity import copy_table
from ..postgres_server import Server, postgres_programs
from .board_page import Board
from .demo import crowd, with_curves, with_decoys
from .serving import Boards
from .superset_site import Page, Superset, passk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT: Final = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def demo(dbt_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo as `dbt build` makes it, in a file that only these tests open."""
    database = tmp_path_factory.mktemp("demo") / "passk_demo.duckdb"
    shutil.copyfile(dbt_demo / "demo.duckdb", database)
    return database


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
def drawn(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, rows that no board may draw unasked, and rows of each kind that the demo lacks."""
    database = tmp_path_factory.mktemp("decoys") / "passk.duckdb"
    with_decoys(demo, database)
    with_curves(database)
    return database


@pytest.fixture(scope="session")
def served_boards(serve_boards: Callable[..., str], drawn: Path) -> str:
    """Serve the boards of these rows."""
    return serve_boards("--database", drawn)


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


@pytest.fixture(scope="session")
def served(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, and rows that no dashboard may draw unasked."""
    path = tmp_path_factory.mktemp("served") / "passk.duckdb"
    with_decoys(demo, path)
    return path


@pytest.fixture(scope="session")
def postgres(served: Path) -> Iterator[str | None]:
    """The same tables in a Postgres of its own, in a schema of their own."""
    programs = postgres_programs()
    if programs is None:
        yield None
        return
    server = Server(programs)
    try:
        database = server.database
        database.ask("create schema reliability")
        with duckdb.connect(str(served), read_only=True) as connection:
            for table in PUBLIC_TABLES:
                to = f"reliability.{table.name}"
                copy_table(connection, table.name, database, to, served.parent, maps="text")
        yield f"postgresql+psycopg2://{database.user}@{database.host}:{database.port}/postgres"
    finally:
        server.stop()


@pytest.fixture(scope="session")
def looped(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of somebody's own, with the demo's log in it, and its published copy."""
    folder = tmp_path_factory.mktemp("looped")
    with duckdb.connect(str(demo), read_only=True) as connection:
        connection.execute(
            "copy (select run_id, suite, agent, task_id, attempt, outcome from passk_attempts) "
            f"to '{folder / 'log.parquet'}'"
        )
        connection.execute(
            "copy (select 'another' as run_id, suite, 'scout' as agent, task_id, attempt, "
            "case when attempt % 3 = 0 then 'failed' else 'passed' end as outcome "
            f"from passk_attempts where run_id = 'scout-2026-03') to '{folder / 'more.parquet'}'"
        )
    passk(folder, "load", "log.parquet")
    passk(folder, "build")
    passk(folder, "publish", "-o", "bi")
    return folder


@pytest.fixture(scope="session")
def superset(
    served: Path,
    postgres: str | None,
    looped: Path,
    crowded: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Superset]:
    """Superset with the dashboards over DuckDB, over Postgres, and over the copy of a loop."""
    superset = Superset(tmp_path_factory.mktemp("superset") / "home")
    superset.take("duckdb", f"duckdb:///{served}", "main")
    superset.take("looped", f"duckdb:///{looped / 'bi' / 'passk.duckdb'}")
    if postgres is not None:
        superset.take("postgres", postgres, "reliability")
    superset.take("crowded", f"duckdb:///{crowded}")
    superset.run()
    server = superset.serve()
    yield superset
    server.terminate()
    server.wait(30)


@pytest.fixture(scope="module")
def visitor(browser: Any, superset: Superset) -> Iterator[Page]:
    tab = browser.new_page(viewport={"width": 1600, "height": 2400})
    page = Page(tab, superset.address)
    page.log_in()
    yield page
    tab.close()


@pytest.fixture
def page(visitor: Page) -> Iterator[Page]:
    visitor.refused.clear()
    yield visitor
    assert not visitor.refused


@pytest.fixture(scope="session")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 runs of 5,000 tasks, with long names that no page may cut or run as HTML."""
    folder = tmp_path_factory.mktemp("crowded")
    crowd(folder / "log.parquet")
    passk(folder, "load", "log.parquet")
    passk(folder, "build", "--no-tests", "--vars", "{passk_ks: [1, 2, 4], passk_deployment_k: 4}")
    return folder / "passk.duckdb"
