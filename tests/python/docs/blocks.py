"""The parts of the docs' pages: fenced blocks, links and headings."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[3]
PAGES: Final = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
)
_FENCE: Final = re.compile(r"^( *)```(\S*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_HEADING: Final = re.compile(r"^#{1,6} (.+?)\s*$", re.MULTILINE)
_LINK: Final = re.compile(r"(?<!`)\[[^\]]*\]\(([^)\s]+)\)")
_CODE: Final = re.compile(r"`[^`\n]*`")


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    page: str
    language: str
    number: int
    text: str

    @property
    def name(self) -> str:
        """Page, language and place, by which it is skipped."""
        return f"{self.page} {self.language} {self.number}"


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(language: str, page: str = "") -> list[Block]:
    """Find the blocks in a language, of one page or of all."""
    found = []
    for path in PAGES:
        if page in {"", name_of(path)}:
            texts = [
                re.sub(rf"^{indent}", "", text, flags=re.MULTILINE)
                for indent, kind, text in _FENCE.findall(path.read_text("utf-8"))
                if kind == language
            ]
            found += [
                Block(name_of(path), language, place, text) for place, text in enumerate(texts, 1)
            ]
    return found


def links(page: Path) -> list[str]:
    """Find the links of a page, without those in code."""
    text = _FENCE.sub("", page.read_text("utf-8"))
    return _LINK.findall(_CODE.sub("`x`", text))


def anchors(page: Path) -> set[str]:
    """Give a page's anchors as code hosts make them: lower case, hyphens for spaces, no punctuation."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in _HEADING.findall(_FENCE.sub("", page.read_text("utf-8"))):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found
