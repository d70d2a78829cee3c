"""Fails where prose has a habit that ``scripts/prose.yml`` lists; says what to write instead."""

from __future__ import annotations

import itertools
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
PLACES: Final = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "docs/*.md",
    "models/**/*.md",
    "models/**/*.yml",
    "macros/**/*.yml",
)
"""docs/reference/ is not among them: it is written from the descriptions in the YAML files."""

START: Final = (
    r"(?:\A|(?<=[.!?:]\s)|(?<=[.!?]\*\*\s)|(?<=\n\n)|(?<=%\}\n)|(?<=\n- )|(?<=\|\s)|(?<=#\s))"
)
"""The start of a sentence, a paragraph, an item, a cell or a heading; ``<start>`` in a pattern."""

_FENCE: Final = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
_CODE: Final = re.compile(r"`[^`]*`")
_TARGET: Final = re.compile(r"\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Rule:
    """One habit: how to find it, why it is one, what to write instead, and an example of both."""

    name: str
    pattern: str
    why: str
    instead: str
    wrong: str
    right: str

    def places(self, text: str) -> Iterator[re.Match[str]]:
        """Find the habit in a text of prose."""
        return re.finditer(self.pattern.replace(" ", r"\s+").replace("<start>", START), text)


def rules() -> list[Rule]:
    """Read the habits."""
    content = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text("utf-8"))
    return [Rule(**rule) for rule in content["rules"]]


def without_code(markdown: str) -> str:
    """Blank what is code or an address, and keep the lines where they are."""

    def blank(found: re.Match[str]) -> str:
        return "`x`" + "\n" * found[0].count("\n")

    text = _CODE.sub(blank, _FENCE.sub(lambda found: "\n" * found[0].count("\n"), markdown))
    return _TARGET.sub("]", text)


def prose_of(path: Path) -> set[tuple[int, str]]:
    """Give the texts of a file, each with its first line: a page, or the descriptions in YAML."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        return {(1, without_code(text))}
    found = _descriptions(yaml.compose(text))
    return {(node.start_mark.line + 1, without_code(node.value)) for node in found}


def _descriptions(node: yaml.Node | None) -> Iterator[yaml.ScalarNode]:
    """Walk a YAML document to the values of ``description``."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _descriptions(item)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == "description" and isinstance(value, yaml.ScalarNode):
                yield value
            else:
                yield from _descriptions(value)


def findings(paths: Iterable[Path]) -> Iterator[str]:
    """Give a line for each place where a habit is found."""
    known = rules()
    for path in paths:
        for (first, text), rule in itertools.product(prose_of(path), known):
            for place in rule.places(text):
                line = first + text.count("\n", 0, place.start())
                said = " ".join(text[place.start() :][:60].split())
                yield f"{path}:{line}: {rule.name}: '{said}'. {rule.why} {rule.instead}"


def main() -> int:
    """Print the findings in the files that are named, or in all of the project's prose."""
    named = [Path(name) for name in sys.argv[1:]]
    found = sorted(findings(named or sorted({p for place in PLACES for p in ROOT.glob(place)})))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
