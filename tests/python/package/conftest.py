"""Fixtures of the tests of the dbt package: versions of dbt and DuckDB, and the package as a host of code has it."""

from __future__ import annotations

import functools
import os
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .worlds import ROOT, World, Worlds, publish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="session")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Worlds:
    """The environments of scripts/test_package."""
    folder = os.environ.get("PASSK_PACKAGE_ENVIRONMENTS")
    if not folder or not Path(folder).is_dir():
        pytest.skip("no versions of dbt: PASSK_PACKAGE_ENVIRONMENTS; see scripts/test_package")
    return Worlds(Path(folder), tmp_path_factory.mktemp("engines"))


@pytest.fixture(scope="session")
def find_world(worlds: Worlds) -> Callable[[str, str], World]:
    """Gives a dbt and a DuckDB by their versions, or skips the test by name."""

    @functools.cache
    def find(dbt: str, engine: str) -> World:
        world = worlds.find(dbt, engine)
        if world is None:
            pytest.skip(f"dbt {dbt} with DuckDB {engine} is not installed")
        # Else the matrix would be one version nine times.
        assert world.versions() == (dbt, engine)
        return world

    return find


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[dict[str, str]]]]:
    """How a project may name the package in its packages.yml, each of them of this checkout."""
    repository, commit, tarball = publish(tmp_path_factory.mktemp("published"))
    handler = functools.partial(_Quiet, directory=str(tarball.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/{tarball.name}"
        yield {
            "local": [{"local": str(ROOT)}],
            "git": [{"git": f"file://{repository}", "revision": commit}],
            "tarball": [{"tarball": address, "name": "passk"}],
        }
        server.shutdown()
