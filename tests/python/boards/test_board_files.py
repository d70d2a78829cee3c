"""What the files of the boards may hold. Needs neither dbt charts nor a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from passk_py.warehouse.catalog import PUBLIC_TABLES

CHARTS = Path(__file__).resolve().parents[3] / "charts"
BOARDS = ("compare", "gates", "overview", "run", "task")
METRIC = r"\b(?:pass_at_|pass_hat_|delta_k|difference|estimate|heterogeneity|lost_reliability|expected_gain)\w*"
AGGREGATE = re.compile(
    rf"\b(?:sum|avg|mean|median|min|max|any_value|quantile\w*)\s*\([^()]*{METRIC}", re.IGNORECASE
)


def queries_of(name: str) -> dict[str, str]:
    board: dict[str, Any] = yaml.safe_load((CHARTS / f"{name}.yml").read_text(encoding="utf-8"))
    return {
        key: said["sql"] if isinstance(said, dict) else said
        for key, said in board["queries"].items()
    }


ALL = [(name, key) for name in ("meta", *BOARDS) for key in queries_of(name)]


def test_there_are_no_other_boards() -> None:
    assert sorted(path.stem for path in CHARTS.glob("*.yml")) == sorted((*BOARDS, "meta"))


@pytest.mark.parametrize(("name", "key"), ALL)
def test_a_query_reads_public_tables_only(name: str, key: str) -> None:
    tables = set(re.findall(r"\b(?:int_|stg_)?passk_+\w+", queries_of(name)[key]))
    assert tables <= {table.name for table in PUBLIC_TABLES}


@pytest.mark.parametrize(("name", "key"), ALL)
def test_a_query_never_takes_a_metric_over_rows(name: str, key: str) -> None:
    assert not AGGREGATE.search(queries_of(name)[key])


@pytest.mark.parametrize(
    "wrong", ["avg(pass_at_k)", "sum( points.pass_hat_k )", "MAX(x.delta_k_lower)"]
)
def test_the_pattern_finds_what_it_must_not(wrong: str) -> None:
    assert AGGREGATE.search(f"select {wrong} from points")


def test_the_notebook_takes_no_metric_over_rows() -> None:
    code = (CHARTS.parent / "docs" / "notebooks" / "reliability.py").read_text(encoding="utf-8")
    assert not re.findall(r"group_by|\b(?:sum|avg|mean|median|min|max|quantile)\s*\(", code)


@pytest.mark.parametrize(("name", "key"), ALL)
def test_only_the_shared_query_reads_the_suite_metrics(name: str, key: str) -> None:
    sql = queries_of(name)[key]
    if (name, key) == ("meta", "points"):
        assert "where slice_name = 'all'" in sql
    # Which k there are is the same in every slice.
    else:
        assert "passk_suite_metrics" not in sql


@pytest.mark.parametrize("name", ["run", "compare", "task"])
def test_a_share_is_written_in_one_way(name: str) -> None:
    macro = re.compile(r"case\s+when \{\{ share \}\}.*?\s+end", re.DOTALL)
    shared = macro.search(queries_of("meta")["points"])
    assert shared is not None
    for found in macro.findall("\n".join(queries_of(name).values())):
        assert re.sub(r"\s+", " ", found) == re.sub(r"\s+", " ", shared[0])
