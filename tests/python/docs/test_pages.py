"""Every link of every page leads somewhere, on a code host as on the site, and every page is in the navigation."""

from __future__ import annotations

import importlib.util
import re
from typing import TYPE_CHECKING, Any

import pytest

from .blocks import PAGES, ROOT, anchors, blocks, links, name_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def conf() -> Any:
    spec = importlib.util.spec_from_file_location("docs_conf", ROOT / "docs" / "conf.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    wrong = []
    for link in links(page):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    assert not wrong


def test_a_broken_link_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One & two\n\n[a](#one--two) [b](gone.md) `[c](code.md)`\n\n```text\n[d](x)\n```\n"
    )
    assert links(page) == ["#one--two", "gone.md"]
    assert anchors(page) == {"one--two"}


def test_the_front_page_can_link_to_dbt_docs(conf: Any) -> None:
    text = (ROOT / "docs" / "index.md").read_text("utf-8")
    before, _, after = conf.linked_to_dbt_docs(text).partition('<a href="dbt/index.html">')
    assert before.rpartition("## ")[2].startswith("Look up")
    assert after
    with pytest.raises(ValueError, match="Look up"):
        conf.linked_to_dbt_docs("# A page without it")


def test_every_page_is_in_the_navigation_once(conf: Any) -> None:
    text = conf.prepared("index", (ROOT / "docs" / "index.md").read_text("utf-8"))
    listed = [
        line
        for block in text.split("```{toctree}")[1:]
        for line in block.split("```")[0].splitlines()
        if line and not line.startswith(":")
    ]
    pages = {
        path.relative_to(ROOT / "docs").with_suffix("").as_posix()
        for path in (ROOT / "docs").rglob("*.md")
    }
    assert sorted(listed) == sorted(pages - {"index"})


def test_links_to_files_beside_the_docs_become_addresses(conf: Any) -> None:
    for link, address in {
        "[a](../README.md)": f"[a]({conf.ELSEWHERE}README.md)",
        "[a](../README.md#engines)": f"[a]({conf.ELSEWHERE}README.md#engines)",
        "[a](vars.md)": "[a](vars.md)",
    }.items():
        assert conf.prepared("faq", link) == address
    assert conf.prepared("reference/tables", "[a](../vars.md)") == "[a](../vars.md)"
    with pytest.raises(ValueError, match="not there"):
        conf.prepared("faq", "[a](../no-such-file.md)")


@pytest.mark.parametrize(
    "block",
    [block for block in blocks("sql") if block.page.startswith("docs/")],
    ids=lambda block: block.name,
)
def test_rows_of_an_example_come_in_the_same_order_on_every_engine(block: Any) -> None:
    """Postgres has nulls first where an order falls, DuckDB last; and it knows no `qualify`."""
    assert not re.search(r"\bdesc\b(?! nulls last)", block.text, re.IGNORECASE)
    assert not re.search(r"\bqualify\b", block.text, re.IGNORECASE)
