"""The built site in Chromium: it asks for nothing elsewhere, and can be read by everyone."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

from .blocks import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SERIOUS: Final = ("serious", "critical")
# Each kind of page: the front, figures, long code, a wide table, many headings, the search.
SEEN: Final = (
    "index", "concepts", "gates-in-ci", "reference/tables/passk_suite_metrics", "reference/macros", "vars", "search",
)  # fmt: skip

_no_builder = importlib.util.find_spec("sphinx") is None or importlib.util.find_spec("furo") is None
builds = pytest.mark.skipif(_no_builder, reason="no Sphinx: install the extra `docs`")
pytestmark = builds


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    work = tmp_path_factory.mktemp("doctrees")
    done = subprocess.run(
        [
            sys.executable, "-m", "sphinx", "--quiet", "--nitpicky", "--fail-on-warning",
            "--doctree-dir", str(work), str(ROOT / "docs"), str(folder),
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    ("page", "wrong"),
    [("[a](gone.md)", "gone.md"), ("[a](#gone)", "gone"), ("![a](gone.svg)", "gone.svg")],
)
def test_a_link_that_leads_nowhere_stops_the_build(page: str, wrong: str, tmp_path: Path) -> None:
    source = tmp_path / "docs"
    (source / "assets").mkdir(parents=True)
    for name in ("docs/conf.py", "docs/assets/site.css", "dbt_project.yml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (source / "index.md").write_text(f"# Page\n\n{page}\n", "utf-8")
    done = subprocess.run(
        [
            sys.executable, "-m", "sphinx", "--quiet", "--nitpicky", "--fail-on-warning",
            str(source), str(tmp_path / "site"),
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert wrong in done.stderr


@pytest.mark.long
def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    loaded = re.compile(
        r"""<(?:script|img|iframe|link|source)\b[^>]*?(?:src|href)=["'](https?:)?//"""
    )
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    assert [page.name for page in pages if loaded.search(page.read_text("utf-8"))] == []
    styles = list(site.rglob("*.css"))
    assert styles
    assert not [
        one for one in styles if re.search(r"url\(\s*[\"']?(https?:)?//", one.read_text("utf-8"))
    ]


@pytest.mark.long
@pytest.mark.parametrize("name", SEEN)
def test_axe_finds_nothing_serious(browser: Any, site: Path, name: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    # A page is seen in one scheme on a phone and in the other on a desk; the next one the other way.
    schemes = ("dark", "light") if SEEN.index(name) % 2 else ("light", "dark")
    for width, scheme in zip((390, 1280), schemes, strict=True):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        asked: list[str] = []
        wrong: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("pageerror", lambda error, wrong=wrong: wrong.append(str(error)))
        page.goto((site / f"{name}.html").as_uri())
        found = axe.run(page).response["violations"]
        serious = [
            (one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS
        ]
        assert not serious
        assert not wrong
        assert [url for url in asked if not url.startswith("file:")] == []
        # Wide content scrolls by itself.
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        context.close()


@pytest.mark.long
def test_figures_are_seen_and_said(browser: Any, site: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 900})
    page = context.new_page()
    page.goto((site / "concepts.html").as_uri())
    figures = page.locator("article img")
    assert figures.count() == 2
    for place in range(2):
        figure = figures.nth(place)
        assert "four shapes" in figure.get_attribute("alt")
        figure.scroll_into_view_if_needed()
        assert figure.evaluate("one => one.naturalWidth") > 0
    context.close()


@pytest.mark.long
def test_every_page_can_be_reached_and_found(browser: Any, site: Path) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    listed = page.locator(".sidebar-tree a").evaluate_all("all => all.map(one => one.href)")
    pages = {
        path.as_uri()
        for path in site.rglob("*.html")
        if path.name not in {"search.html", "index.html"}
    }
    assert pages <= {url.split("#")[0] for url in listed}
    context.close()
