"""Fails where prose has a habit that ``scripts/prose.yml`` lists; says what to write instead."""

from __future__ import annotations

import inspect
import io
import itertools
import re
import sys
import tokenize
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
    "models/**/*.sql",
    "macros/**/*.sql",
    "passk_py/**/*.py",
    "scripts/*.py",
    "benchmarks/*.py",
)
"""docs/reference/ is not among them: it is written from the descriptions in the YAML files."""

START: Final = (
    r"(?:\A|(?<=[.!?:]\s)|(?<=[.!?]\*\*\s)|(?<=\n\n)|(?<=%\}\n)|(?<=\n- )|(?<=\n    )"
    r"|(?<=\|\s)|(?<=#\s))"
)
"""The start of a sentence, a paragraph, an item, a cell or a heading; ``<start>`` in a pattern."""

_FENCE: Final = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
_CODE: Final = re.compile(r"``[^`]*``|`(?:[^`\n]|\n(?!\n))*`")
_TARGET: Final = re.compile(r"\]\([^)]*\)")
_EXAMPLE: Final = re.compile(r"^ *>>> .*?(?=^\s*$|\Z)", re.DOTALL | re.MULTILINE)
_SQL_PARTS: Final = re.compile(
    r"""'(?:\{\{.*?\}\}|[^'])*+'|"[^"]*"|\{\{.*?\}\}|\{%.*?%\}"""
    r"""|(?P<comment>\{#.*?#\}|--[^\n]*(?:\n *--[^\n]*)*)""",
    re.DOTALL,
)
_SIGNS: Final = re.compile(r"^ *(?:--|\{#-?)? *| *-?#\}$", re.MULTILINE)


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


def _blank(code: re.Match[str]) -> str:
    return "\n" * code[0].count("\n")


def without_code(markdown: str) -> str:
    """Blank what is code or an address, and keep the lines where they are."""
    text = _CODE.sub(lambda found: "`x`" + _blank(found), _FENCE.sub(_blank, markdown))
    return _TARGET.sub("]", text)


def prose_of(path: Path) -> set[tuple[int, str]]:
    """Give the texts of a file, each with its first line.

    That is a page, the descriptions in YAML, the comments in SQL, or all prose in Python.
    """
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        return {(1, without_code(text))}
    if path.suffix == ".py":
        return {(1, without_code(_comments_and_docstrings(text)))}
    if path.suffix == ".sql":
        return {(line, without_code(comment)) for line, comment in _comments(text)}
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


def _comments(sql: str) -> Iterator[tuple[int, str]]:
    """Find the comments of SQL and of Jinja, without their signs and indents."""
    for found in _SQL_PARTS.finditer(sql):
        if found["comment"]:
            yield sql.count("\n", 0, found.start()) + 1, _SIGNS.sub("", found[0])


def _comments_and_docstrings(python: str) -> str:
    """Keep the comments, and the strings that are statements, in their lines; blank the rest."""
    lines = [""] * (python.count("\n") + 1)
    statement: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(python).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 1] = token.string.lstrip("# ")
        elif token.type == tokenize.NEWLINE:
            if [part.type for part in statement] == [tokenize.STRING]:
                said = inspect.cleandoc(statement[0].string.lstrip("r").strip('"')).split("\n")
                first = statement[0].start[0] - 1
                lines[first : first + len(said)] = said
            statement = []
        elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
            statement.append(token)
    return _EXAMPLE.sub(_blank, "\n".join(lines))


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
