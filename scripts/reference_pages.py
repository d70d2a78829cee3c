"""Writes ``docs/reference/`` from what the dbt project says; ``--check`` fails where it is old."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml  # type: ignore[import-untyped]

from passk_py.warehouse.catalog import OPTIONAL_TABLES, PUBLIC_TABLES
from passk_py.warehouse.descriptions import described_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = ROOT / "docs" / "reference"

TABLES_HEAD: Final = """\
# Tables and columns

What a build makes for people to query. Names, columns and types are contracts, except for those of `passk_suite_bootstrap`: a build that
would make others stops. A number that can't be known is null, and a column beside it says why.

Written by `scripts/reference_pages.py` from `models/marts/*.yml`, which `dbt docs generate` shows beside the lineage.
"""

MACROS_HEAD: Final = """\
# Macros

SQL expressions for models of your own: `{{ passk.pass_hat_k('n', 'c', 4) }}`. Arguments are columns, expressions or numbers. A
literal that can't be right is an error when the project compiles; data that can't be right gives null. What begins with an
underscore, and stands nowhere here, is private. On DuckDB the estimators are functions of the database too:
`select pass_hat_k(16, 14, 4)`.

Written by `scripts/reference_pages.py` from `macros/*/_*__macros.yml`.
"""

GROUPS: Final = {
    "estimators": "Estimators",
    "order": "Order",
    "intervals": "Intervals",
    "numerics": "Distributions",
    "diagnostics": "Diagnostics",
    "gates": "Gates",
    "input": "Input and increments",
    "engine": "Engines",
}
_CODE: Final = re.compile(r"(`[^`]*`)")
_DEFINED: Final = re.compile(r"{%-?\s*macro\s+(\w+)\((.*?)\)\s*-?%}", re.DOTALL)


def plain(text: str) -> str:
    """Keep Markdown from reading what is no markup."""
    parts = _CODE.split(text)
    parts[::2] = [part.replace("<", "&lt;").replace("*", "\\*") for part in parts[::2]]
    return "".join(parts)


def cell(text: str) -> str:
    """Write a text into a table."""
    return plain(" ".join(text.split())).replace("|", "\\|")


def tables_page() -> str:
    """Write the page of the public tables."""
    said = described_tables()
    known = (*PUBLIC_TABLES, *OPTIONAL_TABLES)
    lines = [TABLES_HEAD, "| table | one row per |", "|---|---|"]
    lines += [f"| [`{one.name}`](#{one.name}) | {cell(one.grain)} |" for one in known]
    for one in known:
        table = said[one.name]
        lines += ["", f"## {one.name}", "", plain(table.text), ""]
        if one.var:
            lines += [f"Only with the var [`{one.var}`](../vars.md#{one.var}).", ""]
        lines += [f"Key: {', '.join(f'`{column}`' for column in one.key)}.", ""]
        lines += ["| column | type | is |", "|---|---|---|"]
        lines += [
            f"| `{column}` | {table.types[column]} | {cell(text)} |"
            for column, text in table.columns.items()
        ]
    return "\n".join(lines) + "\n"


def macros_page() -> str:
    """Write the page of the public macros."""
    signatures = dict(_signatures())
    lines = [MACROS_HEAD]
    for group, title in GROUPS.items():
        macros = _described(group)
        if not macros:
            continue
        lines += [f"## {title}", ""]
        for macro in macros:
            lines += _macro(macro, signatures.get(macro["name"]))
    return "\n".join(lines).rstrip() + "\n"


def _described(group: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in sorted((ROOT / "macros" / group).glob("_*__macros.yml")):
        found += yaml.safe_load(path.read_text("utf-8"))["macros"]
    return found


def _signatures() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "macros").rglob("*.sql")):
        for name, arguments in _DEFINED.findall(path.read_text("utf-8")):
            yield name, " ".join(arguments.split())


def _macro(macro: dict[str, Any], signature: str | None) -> list[str]:
    name = macro["name"]
    lines = [f"### {name}", ""]
    if signature is not None:
        lines += [f"`{name}({signature})`", ""]
    paragraphs = re.split(r"\n\s*\n", macro["description"].strip())
    for paragraph in paragraphs:
        lines += [plain(" ".join(paragraph.split())), ""]
    arguments = macro.get("arguments") or []
    if arguments:
        lines += ["| argument | type | is |", "|---|---|---|"]
        lines += [
            f"| `{one['name']}` | {one.get('type', 'any')} | {cell(one['description'])} |"
            for one in arguments
        ]
        lines += [""]
    return lines


def main() -> int:
    """Write the pages, or compare them."""
    pages = {PAGES / "tables.md": tables_page(), PAGES / "macros.md": macros_page()}
    groups = {path.parent.name for path in (ROOT / "macros").rglob("_*__macros.yml")}
    if groups - set(GROUPS):
        print(f"macros/ has described groups without a title: {sorted(groups - set(GROUPS))}")
        return 1
    if "--check" not in sys.argv[1:]:
        PAGES.mkdir(exist_ok=True)
        for path, text in pages.items():
            path.write_text(text, "utf-8")
        return 0
    old = [p for p, text in pages.items() if not p.exists() or p.read_text("utf-8") != text]
    for path in old:
        print(f"{path.relative_to(ROOT)} is old: run python scripts/reference_pages.py")
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
