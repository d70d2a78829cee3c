"""Features of a lake alone: attempts by suite and run, and later builds whose catalog is in a file or in Postgres."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from ..docs.blocks import blocks
from .logs import load

if TYPE_CHECKING:
    from pathlib import Path

    from .engines import WithLake

pytestmark = pytest.mark.timeout(3000)


@pytest.mark.parametrize("lake", ["with_lake", "with_postgres_lake"])
def test_a_later_build_is_what_a_full_refresh_makes(
    lake: str, request: pytest.FixtureRequest
) -> None:
    engines: WithLake = request.getfixturevalue(lake)
    for _ in engines.grow({"passk_slices": ["domain"]}):
        pass
    # Attempts are files of their suite and run.
    assert list(
        (engines.folder / "lake" / "landing" / "attempts").glob("suite=*/run_id=*/*.parquet")
    )


def test_the_way_into_a_lake_that_the_docs_show(with_lake: WithLake, tau_bench_file: Path) -> None:
    (block,) = blocks("sql", "docs/lakes.md")
    load(with_lake.database, str(tau_bench_file))
    with_lake.environment |= {
        "PASSK_DUCKLAKE_CATALOG": "passk.ducklake",
        "PASSK_DUCKLAKE_FILES": "passk_lake",
    }
    # The second time brings what landed since: nothing.
    for _ in range(2):
        with_lake.take(["run", block.text])
    with_lake.take(["save", "landing.attempts", str(with_lake.folder / "landed.parquet")])
    assert len(pl.read_parquet(with_lake.folder / "landed.parquet")) == 200
    files = with_lake.folder / "passk_lake" / "landing" / "attempts"
    assert list(files.glob("suite=*/run_id=*/*.parquet"))
