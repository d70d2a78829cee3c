"""A page of a board in a browser, and how it is read."""

from __future__ import annotations

import re
from typing import Any, Final

ROWS_OF_THE_PAGE: Final = """() => {
  const found = [];
  for (const text of document.querySelectorAll('.dbt-charts-svg-container svg text')) {
    const box = text.getBoundingClientRect();
    found.push([Math.round(box.top + box.height / 2), box.left, text.textContent]);
  }
  found.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const rows = [];
  let last = -100;
  for (const [top, , text] of found) {
    if (top - last > 4) { rows.push([]); last = top; }
    rows[rows.length - 1].push(text);
  }
  return rows;
}"""

MARKS: Final = (
    "() => [...document.querySelectorAll('[aria-label]')].map(e => e.getAttribute('aria-label'))"
)


def plain(text: str) -> str:
    """Leave out the characters that a page has for the eye only."""
    return re.sub(r"[\u2000-\u200f\u2060-\u206f\s]+", " ", text).strip()


class Board:
    """A page of a board, opened anew for every filter."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address

    def open(self, path: str) -> Board:
        answer = self.page.goto(self.address + path, wait_until="networkidle")
        assert answer.status == 200, self.page.inner_text("body")[:2000]
        return self

    @property
    def rows(self) -> list[list[str]]:
        return [
            [plain(text) for text in row if plain(text)]
            for row in self.page.evaluate(ROWS_OF_THE_PAGE)
        ]

    @property
    def text(self) -> str:
        return plain(" ".join(" ".join(row) for row in self.rows))

    @property
    def marks(self) -> list[str]:
        return [plain(label) for label in self.page.evaluate(MARKS)]

    def row_of(self, *first: str) -> list[str]:
        found = [row for row in self.rows if tuple(row[: len(first)]) == first]
        assert len(found) == 1, (first, self.rows)
        return found[0]

    def choices(self, control: str) -> list[str]:
        """Open a filter, and list what can be chosen in it."""
        self.page.get_by_role("combobox", name=control, exact=True).click()
        found = self.page.locator(".dbt-select-option:visible").all_inner_texts()
        self.page.keyboard.press("Escape")
        return [plain(text) for text in found]

    def choose(self, control: str, value: str) -> None:
        self.page.get_by_role("combobox", name=control, exact=True).click()
        with self.page.expect_navigation(wait_until="networkidle"):
            self.page.locator(
                ".dbt-select-option:visible", has_text=re.compile(f"^{value}$")
            ).click()

    def follow(self, text: str) -> None:
        """Click the first text that begins so, wherever in a row or line its link is."""
        found = self.page.locator(".dbt-charts-svg-container text", has_text=re.compile(f"^{text}"))
        found.first.scroll_into_view_if_needed()
        box = found.first.bounding_box()
        with self.page.expect_navigation(wait_until="networkidle"):
            self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
