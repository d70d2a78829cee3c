"""Writes ``docs/reference/`` from what the dbt project says; ``--check`` fails where it is old."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml  # type: ignore[import-untyped]

from passk_py.warehouse.catalog import KNOWN_TABLES
from passk_py.warehouse.descriptions import described_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from passk_py.warehouse.catalog import PublicTable
    from passk_py.warehouse.descriptions import TableDescription

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = ROOT / "docs" / "reference"

TABLES_HEAD: Final = """\
# Tables

A build makes these public tables, one page each. Their names, columns and types are contracts, except for those of
`passk_suite_bootstrap`: a build that would change them stops. A number that can't be known is null, and a column beside it says why.

Written by `scripts/reference_pages.py` from `models/marts/*/*.yml`. `dbt docs generate` shows the same beside the lineage.
"""

MACROS_HEAD: Final = """\
# Macros

SQL expressions for models of your own: `{{ passk.pass_hat_k('n', 'c', 4) }}`. Arguments are columns, expressions or numbers. An
invalid literal is an error when the project compiles; invalid data gives null. Macros whose name begins with an underscore are private
and not listed here. On DuckDB the estimators are functions of the database too:
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
_SENTENCE: Final = re.compile(r"(?<=[.)])\s+(?=[A-Z`])")
_VAR: Final = re.compile(r"^### (passk_\w+)$", re.MULTILINE)
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
    """Write the index of the public tables."""
    lines = [TABLES_HEAD, "| table | one row per |", "|---|---|"]
    lines += [
        f"| [`{one.name}`](tables/{one.name}.md) | {cell(one.grain)} |" for one in KNOWN_TABLES
    ]
    return "\n".join(lines) + "\n"


def table_page(table: PublicTable, said: TableDescription, meta: dict[str, dict[str, Any]]) -> str:
    """Write the page of one public table."""
    after = [other for other in meta if table.name in meta[other]["follows"]]
    facts = {
        "One row per": cell(table.grain),
        "Key": ", ".join(f"`{column}`" for column in table.key),
        "See first": _links(meta[table.name]["follows"]),
        "See next": _links(after),
        "Built": f"only with the var `{table.var}`" if table.var else "",
    }
    lines = [f"# {table.name}", "", plain(table.description), ""]
    lines += [f"- {name}: {text}" for name, text in facts.items() if text]
    lines += ["", "## Example", "", "```sql", meta[table.name]["example"].strip(), "```"]
    lines += ["", "## Columns", "", "| column | type | description | null |", "|---|---|---|---|"]
    for column, text in said.columns.items():
        is_null = [one for one in _SENTENCE.split(text) if one.startswith("Null ")]
        others = [one for one in _SENTENCE.split(text) if one not in is_null]
        null = "; ".join(one.removeprefix("Null ").removesuffix(".") for one in is_null)
        lines += [
            f"| `{column}` | {said.types[column]} | {cell(' '.join(others))} | {cell(null)} |"
        ]
    return _linked("\n".join(lines) + "\n", table.name)


def _links(names: list[str]) -> str:
    """List tables, which become links when the page is done."""
    return ", ".join(f"`{name}`" for name in names)


def _linked(page: str, name: str) -> str:
    """Link tables and vars where the page of a table names them."""
    tables = {one.name for one in KNOWN_TABLES} - {name}
    of_vars = set(_VAR.findall((ROOT / "docs" / "vars.md").read_text("utf-8")))

    def link(found: re.Match[str]) -> str:
        # `passk_gates` and `passk_diagnostics` are tables and vars; a text says "the var" of those.
        if found[1] and found[2] in of_vars:
            return f"{found[1]}[`{found[2]}`](../../vars.md#{found[2]})"
        if found[2] in tables:
            return f"{found[1]}[`{found[2]}`]({found[2]}.md)"
        return found[0]

    return re.sub(r"(\bvars? |)`(passk_\w+)`", link, page)


def _metas() -> dict[str, dict[str, Any]]:
    """Read what the YAML of each table says for its page alone: an example, and what to read before it."""
    found = {}
    for path in (ROOT / "models" / "marts").glob("*/*.yml"):
        for model in yaml.safe_load(path.read_text("utf-8"))["models"]:
            found[model["name"]] = model["config"]["meta"]
    return {one.name: found[one.name] for one in KNOWN_TABLES}


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
        lines += ["| argument | type | meaning |", "|---|---|---|"]
        lines += [
            f"| `{one['name']}` | {one.get('type', 'any')} | {cell(one['description'])} |"
            for one in arguments
        ]
        lines += [""]
    return lines


def main() -> int:
    """Write the pages, or compare them."""
    pages = {PAGES / "tables.md": tables_page(), PAGES / "macros.md": macros_page()}
    said, meta = described_tables(), _metas()
    for one in KNOWN_TABLES:
        pages[PAGES / "tables" / f"{one.name}.md"] = table_page(one, said[one.name], meta)
    groups = {path.parent.name for path in (ROOT / "macros").rglob("_*__macros.yml")}
    if groups - set(GROUPS):
        print(f"macros/ has described groups without a title: {sorted(groups - set(GROUPS))}")
        return 1
    if "--check" not in sys.argv[1:]:
        (PAGES / "tables").mkdir(parents=True, exist_ok=True)
        for path, text in pages.items():
            path.write_text(text, "utf-8")
        return 0
    old = [p for p, text in pages.items() if not p.exists() or p.read_text("utf-8") != text]
    old += [path for path in PAGES.rglob("*.md") if path not in pages]
    for path in old:
        print(
            f"{path.relative_to(ROOT)} is old: run python scripts/reference_pages.py, or delete it"
        )
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
