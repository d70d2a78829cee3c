"""A build beside a thread that fills dbt's cache of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from dbt.adapters.duckdb import DuckDBAdapter

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project


@pytest.mark.long
def test_a_table_that_is_not_in_the_cache_yet_is_there(
    make_project: Callable[[], Project],
    attempts: Callable[..., list[dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = make_project()
    project.land(attempts("r", "t", "PF"))
    asked: list[str] = []
    original = DuckDBAdapter.get_relation

    def get_relation(self: Any, database: str, schema: str, identifier: str) -> Any:
        if schema == "landing":
            asked.append(identifier)
            if asked.count(identifier) == 1:
                return None
        return original(self, database, schema, identifier)

    monkeypatch.setattr(DuckDBAdapter, "get_relation", get_relation)
    project.run()
    assert asked.count("attempts") > 1
    assert project.query("select n, c from passk_runs") == [(2, 1)]
