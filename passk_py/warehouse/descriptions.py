"""The dbt project's descriptions of its public tables and their columns."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from passk_py.warehouse.project import project_dir

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_DOCS: Final = re.compile(r"{%-?\s*docs\s+(\w+)\s*-?%}(.*?){%-?\s*enddocs\s*-?%}", re.DOTALL)
_USE: Final = re.compile(r"{{\s*doc\(\s*['\"](\w+)['\"]\s*\)\s*}}")
_VAR: Final = re.compile(r"var\('(\w+)'")


@dataclass(frozen=True, slots=True)
class TableDescription:
    """The descriptions of a table and its columns."""

    text: str
    columns: Mapping[str, str]
    data_types: Mapping[str, str]
    """As the contract of the table has them: Jinja over the target where engines differ."""
    var: str
    """The var that asks for the table; empty if every build makes it."""

    @property
    def types(self) -> dict[str, str]:
        """The type of each column on DuckDB, by its name."""
        return {name: _on_duckdb(data_type) for name, data_type in self.data_types.items()}


def described_tables() -> dict[str, TableDescription]:
    """Read the descriptions of the public tables, by name."""
    return {name: described_table(name) for name in _files(project_dir())}


def described_table(name: str) -> TableDescription:
    """Read the description of one public table; reading all of them takes noticeably longer."""
    return _read(_files(project_dir())[name])


@functools.cache
def _files(project: Path) -> dict[str, Path]:
    """Find the file of each public table, in the order of their names."""
    paths = (project / "models" / "marts").glob("*/*.yml")
    return {path.stem: path for path in sorted(paths, key=lambda path: path.stem)}


@functools.cache
def _read(path: Path) -> TableDescription:
    """Read the file of a model, once."""
    from passk_py.common.strict_yaml import load_own

    [model] = load_own(path.read_text(encoding="utf-8"))["models"]
    docs, columns = _docs(project_dir() / "models"), model["columns"]
    asked_for = _VAR.search(str(model["config"].get("enabled", "")))
    return TableDescription(
        _text(model, docs),
        {column["name"]: _text(column, docs) for column in columns},
        {column["name"]: column["data_type"] for column in columns},
        asked_for[1] if asked_for else "",
    )


@functools.cache
def _docs(models: Path) -> dict[str, str]:
    """Read the texts that several descriptions share."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(models.glob("*.md"))]
    return {name: text for one in texts for name, text in _DOCS.findall(one)}


@functools.cache
def _on_duckdb(data_type: str) -> str:
    """Give a type in DuckDB's words: if engines differ, it is Jinja over the target."""
    if "{{" not in data_type:
        return data_type
    import jinja2

    made = jinja2.Template(data_type).render(target={"type": "duckdb"})
    return made.strip()


def _text(node: Mapping[str, Any], docs: Mapping[str, str]) -> str:
    """Write a description on one line: a tool shows it beside a column's name."""
    return " ".join(_USE.sub(lambda use: docs[use[1]], node["description"]).split())
