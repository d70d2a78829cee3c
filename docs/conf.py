"""The docs as a site: ``scripts/docs`` builds it, with every warning an error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE: Final = Path(__file__).resolve().parent
ELSEWHERE: Final = "https://github.com/passk/passk/blob/main/"
"""Where a reader of the site finds the files of the project that are no pages."""

_VERSION: Final = re.search(
    r"^version: (\S+)$", (HERE.parent / "dbt_project.yml").read_text("utf-8"), re.MULTILINE
)

project = "passk"
author = "the passk authors"
release = _VERSION[1] if _VERSION else ""
extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["conf.py"]
nitpicky = True

# Headings get the anchors that code hosts give them, so that a link works in both places.
myst_heading_anchors = 4
myst_url_schemes = ["http", "https"]

html_theme = "furo"
html_title = f"passk {release}"
# Each page has a link to where it can be mended.
html_theme_options = {
    "source_repository": "https://github.com/passk/passk/",
    "source_branch": "main",
    "source_directory": "docs/",
}
html_static_path = ["assets"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

_OUTSIDE: Final = re.compile(r"\]\((?:\.\./)+([^)#\s]+)")
_SECTION: Final = re.compile(r"^## (.+)$", re.MULTILINE)
_ENTRY: Final = re.compile(r"^- \[[^\]]+\]\(([^)#:]+)\.md\)", re.MULTILINE)


def prepared(name: str, text: str) -> str:
    """Make a page of the site from a page of Markdown that code hosts show as it is.

    Parameters
    ----------
    name
        The page's path without its ending.
    text
        Its Markdown.

    Returns
    -------
    str
        The same, with links to files beside ``docs/`` as addresses. The front page's lists of pages
        become the navigation too, so that it is said once.

    Raises
    ------
    ValueError
        If a file beside ``docs/`` is not there.
    """
    page = HERE / f"{name}.md"

    def address(link: re.Match[str]) -> str:
        target = (page.parent / link[0].removeprefix("](")).resolve()
        if target.is_relative_to(HERE):
            return link[0]
        if not target.exists():
            raise ValueError(f"docs/{name}.md links to {target}, which is not there")
        return f"]({ELSEWHERE}{target.relative_to(HERE.parent)}"

    text = _OUTSIDE.sub(address, text)
    if name != "index":
        # A page that has a folder of its name is the index of the pages in it.
        return text + toctree("", re.findall(rf"\]\(({page.stem}/[^)#]+)\.md\)", text))
    parts = _SECTION.split(text)
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        text += toctree(f":caption: {title}\n", _ENTRY.findall(body))
    return text


def toctree(options: str, pages: list[str]) -> str:
    """Write the navigation to some pages, which shows at the side and not in the text.

    Parameters
    ----------
    options
        Lines of further options.
    pages
        Paths from the page that it is in, without endings.

    Returns
    -------
    str
        Markdown, empty if there are no pages.
    """
    if not pages:
        return ""
    return f"\n```{{toctree}}\n:hidden:\n{options}\n" + "\n".join(pages) + "\n```\n"


def linked_to_dbt_docs(text: str) -> str:
    """Link the front page to what ``scripts/docs --with-dbt-docs`` writes beside the pages.

    Parameters
    ----------
    text
        The front page's Markdown. It can't have the link itself: on a code host it would be dead.

    Returns
    -------
    str
        The same, with the link among the pages that are looked up.
    """
    before, heading, after = text.partition("## Look up\n")
    if not heading:
        raise ValueError("docs/index.md has no section 'Look up' for the link to dbt docs")
    link = '<a href="dbt/index.html">dbt docs</a>: every model, column and macro, with the lineage'
    return f"{before}{heading}\n- {link}{after}"


def accessible(markup: str) -> str:
    """Say what the theme leaves unsaid to those who read by keyboard or by ear.

    Parameters
    ----------
    markup
        HTML of a page or of the navigation.

    Returns
    -------
    str
        The same, where what scrolls can be reached by keyboard, and headings have a level.
    """
    for old, new in {
        "<pre>": '<pre tabindex="0">',
        '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
        'role="heading">': 'role="heading" aria-level="2">',
    }.items():
        markup = markup.replace(old, new)
    return markup


def setup(app: Sphinx) -> dict[str, Any]:
    """Let every page be prepared as it is read, and made accessible as it is written."""

    def read(_: Sphinx, name: str, content: list[str]) -> None:
        content[0] = prepared(name, content[0])
        if name == "index" and app.tags.has("with_dbt_docs"):
            content[0] = linked_to_dbt_docs(content[0])

    def write(_: Sphinx, __: str, ___: str, context: dict[str, Any], ____: object) -> None:
        for part in ("body", "furo_navigation_tree"):
            if isinstance(context.get(part), str):
                context[part] = accessible(context[part])

    app.connect("source-read", read)
    # After the theme, which makes the navigation at the usual time.
    app.connect("html-page-context", write, priority=900)
    return {"parallel_read_safe": True}
