"""What the dbt project says of its public tables and their columns."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from passk_py.warehouse.project import project_dir

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["TableDescription", "described_tables"]

_DOCS: Final = re.compile(r"{%-?\s*docs\s+(\w+)\s*-?%}(.*?){%-?\s*enddocs\s*-?%}", re.DOTALL)
_USE: Final = re.compile(r"{{\s*doc\(\s*['\"](\w+)['\"]\s*\)\s*}}")


@dataclass(frozen=True, slots=True)
class TableDescription:
    """What a table and its columns are.

    Parameters
    ----------
    text
        What the table is, and what one row is.
    columns
        What each column is, by its name.
    types
        The type of each column, by its name, as the contract of the table has it.
    """

    text: str
    columns: Mapping[str, str]
    types: Mapping[str, str]


def described_tables() -> dict[str, TableDescription]:
    """Read the descriptions of the public tables.

    Returns
    -------
    dict
        A description for each public table, by its name; each text on one line.

    Raises
    ------
    PasskError
        If there is no dbt project beside this package.

    Examples
    --------
    >>> described_tables()["passk_runs"].columns["min_n"]
    'Counted attempts of the task that has fewest. Suites answer up to this k.'
    """
    import yaml  # type: ignore[import-untyped]

    models = project_dir() / "models"
    docs = {
        name: text
        for path in sorted(models.glob("*.md"))
        for name, text in _DOCS.findall(path.read_text(encoding="utf-8"))
    }
    # Written in C where it can be: it is ten times as fast.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: dict[str, TableDescription] = {}
    for path in sorted((models / "marts").glob("*.yml")):
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 - is safe
        for model in content.get("models", ()):
            columns = {
                column["name"]: _text(column, docs)
                for column in model.get("columns", ())
                if column.get("description")
            }
            types = {
                column["name"]: _on_duckdb(column["data_type"])
                for column in model.get("columns", ())
            }
            found[model["name"]] = TableDescription(_text(model, docs), columns, types)
    return found


@functools.cache
def _on_duckdb(data_type: str) -> str:
    """Give a type as DuckDB has it: what engines spell differently is Jinja over the target."""
    if "{{" not in data_type:
        return data_type
    import jinja2

    made = jinja2.Template(data_type).render(target={"type": "duckdb"})
    return made.strip()


def _text(node: Mapping[str, Any], docs: Mapping[str, str]) -> str:
    said = str(node.get("description") or "")
    # A tool shows it beside a column's name, where the lines of its file mean nothing.
    return " ".join(_USE.sub(lambda use: docs[use[1]], said).split())
