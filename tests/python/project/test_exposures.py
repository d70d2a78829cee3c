"""Every reader of the public tables is declared, and reads the tables that it declares."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from passk_py.reports.superset.dashboards import DASHBOARDS, Dashboard
from passk_py.reports.superset.datasets import DATASETS
from passk_py.warehouse.catalog import PUBLIC_TABLES

ROOT = Path(__file__).resolve().parents[3]
TABLES = {table.name for table in PUBLIC_TABLES}


def exposures() -> dict[str, dict[str, Any]]:
    said = yaml.safe_load((ROOT / "models" / "exposures.yml").read_text(encoding="utf-8"))
    return {exposure["name"]: exposure for exposure in said["exposures"]}


def declared(name: str) -> set[str]:
    return set(re.findall(r"ref\('(\w+)'\)", " ".join(exposures()[name]["depends_on"])))


def queries_of(board: str) -> dict[str, str]:
    said = yaml.safe_load((ROOT / "charts" / f"{board}.yml").read_text(encoding="utf-8"))
    return {
        name: query["sql"] if isinstance(query, dict) else query
        for name, query in said["queries"].items()
    }


def read_by(board: str) -> set[str]:
    """Follow the queries of a board through those that it extends and those that all boards share."""
    shared = queries_of("meta")
    text = (ROOT / "charts" / f"{board}.yml").read_text(encoding="utf-8")
    texts = list(queries_of(board).values())
    if extended := re.search(r"^extends: \./(\w+)\.yml$", text, re.MULTILINE):
        texts += queries_of(extended[1]).values()
        text += "".join(texts)
    texts += [sql for name, sql in shared.items() if f"queries.{name}" in text]
    return {name for sql in texts for name in re.findall(r"(?:from|join) (passk_\w+)", sql)}


BOARDS = sorted(path.stem for path in (ROOT / "charts").glob("[!_]*.yml") if path.stem != "meta")


@pytest.mark.parametrize("board", BOARDS)
def test_a_board_declares_what_it_reads(board: str) -> None:
    assert declared(f"passk_board_{board}") == read_by(board)


def read_by_dashboard(dashboard: Dashboard) -> set[str]:
    """Follow the charts and filters of a dashboard for Superset to the queries of their datasets."""
    asked = {chart.dataset for row in dashboard.rows for chart in row}
    asked |= {choice.dataset for choice in dashboard.filters}
    found = [dataset for dataset in DATASETS if dataset.name in asked]
    read = {dataset.table for dataset in found}
    for dataset in found:
        read |= set(re.findall(r"{schema}(passk_\w+)", dataset.sql))
    return read


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda dashboard: dashboard.name)
def test_a_dashboard_declares_what_it_reads(dashboard: Dashboard) -> None:
    assert declared(f"passk_superset_{dashboard.name}") == read_by_dashboard(dashboard)


def read_by_page(folders: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """Follow the code of folders to the queries that it asks: what must be there, and all it names."""
    reports = ROOT / "passk_py" / "reports"
    texts = [
        path.read_text(encoding="utf-8")
        for name in folders
        for path in (reports / name).rglob("*.py")
    ]
    queries = {
        part.name: ast.unparse(part)
        for path in (reports / "queries").glob("*.py")
        for part in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(part, ast.FunctionDef)
    }
    for text in texts:
        # The list grows: a query may ask another one.
        texts += [queries.pop(name) for name in list(queries) if re.search(rf"\b{name}\(", text)]
    code = "\n".join(texts)
    required = re.findall(r"""\b(?:require|source|rows)\(\s*["'](passk_\w+)["']""", code)
    return set(required), set(re.findall(r"""["'](passk_\w+)["']""", code)) & TABLES


@pytest.mark.parametrize(
    ("name", "folders"),
    [("passk_report", ("report", "answer")), ("passk_model_card", ("model_card",))],
)
def test_a_page_declares_what_it_reads(name: str, folders: tuple[str, ...]) -> None:
    required, read = read_by_page(folders)
    assert required <= declared(name) <= read


def test_the_notebook_declares_what_it_reads() -> None:
    code = (ROOT / "docs" / "notebooks" / "reliability.py").read_text(encoding="utf-8")
    read = re.findall(r"""(?:read_table|table_of)\(\s*"(passk_\w+)"|from (passk_\w+) """, code)
    assert declared("passk_notebook") == {name for pair in read for name in pair} & TABLES


@pytest.mark.parametrize("name", sorted(exposures()))
def test_an_exposure_is_described(name: str) -> None:
    exposure = exposures()[name]
    assert exposure["owner"]["name"] == "passk"
    assert exposure["description"].strip().endswith(".")
    assert exposure["type"] in {"dashboard", "analysis"}
    assert declared(name) <= TABLES
