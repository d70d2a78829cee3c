"""The project that dct serves: the charts, the same on a dark ground, and where the tables are."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from passk_py.common.errors import PasskError
from passk_py.warehouse.project import project_dir

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SOURCE: Final = "passk"
"""The name of the database in the charts."""

PASSWORD_VARIABLE: Final = "PASSK_BOARDS_PASSWORD"  # noqa: S105 - the name of a variable
"""The variable that dct takes a password from, so that no file holds one."""

_SCHEMES: Final = ("postgresql", "postgres", "postgresql+psycopg2")


def duckdb_source(database: Path, schema: str) -> dict[str, Any]:
    """Describe a DuckDB file to dct."""
    return {"type": "duckdb", "path": str(database.resolve()), "schema": schema}


def postgres_source(uri: str, schema: str | None) -> tuple[dict[str, Any], str]:
    """Describe a Postgres to dct; give its password beside it."""
    try:
        parts = urlsplit(uri)
        port = parts.port or 5432
    except ValueError as error:
        raise _not_postgres(uri) from error
    name = unquote(parts.path.lstrip("/"))
    if parts.scheme not in _SCHEMES or not parts.hostname or not parts.username or not name:
        raise _not_postgres(uri)
    source: dict[str, Any] = {
        "type": "postgres",
        "host": parts.hostname,
        "port": port,
        "dbname": name,
        "user": unquote(parts.username),
        "password": f"{{{{ env_var('{PASSWORD_VARIABLE}') }}}}",
    }
    if schema is not None:
        quoted = '"' + schema.replace('"', '""') + '"'
        source |= {"schema": schema, "search_path": quoted}
    if modes := parse_qs(parts.query).get("sslmode"):
        source["sslmode"] = modes[-1]
    return source, unquote(parts.password or "")


def write_project(folder: Path, source: Mapping[str, Any]) -> None:
    """Write the project: each board, and in the folder `dark` each once more."""
    import yaml  # type: ignore[import-untyped]

    given = project_dir() / "charts"
    charts = folder / "charts"
    shutil.copytree(given, charts)
    shutil.copytree(given, charts / "dark")
    shared = (charts / "meta.yml").read_text(encoding="utf-8")
    (charts / "meta.yml").write_text(f"source: {SOURCE}\n{shared}", encoding="utf-8")
    # It inherits from the meta.yml above it.
    (charts / "dark" / "meta.yml").write_text("extends: ./_dark.yml\n", encoding="utf-8")
    config = yaml.safe_dump({"sources": {SOURCE: dict(source)}}, allow_unicode=True)
    (folder / "dbt_charts.yml").write_text(config, encoding="utf-8")


def _not_postgres(uri: str) -> PasskError:
    # A password may have any letter, so that all before the last @ is hidden.
    scheme, _, rest = uri.rpartition("@")[0].partition("://")
    shown = f"{scheme}://***@{uri.rpartition('@')[2]}" if rest else uri
    return PasskError(
        f"{shown} is not the address of a Postgres.",
        hint="Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with %2F for a / in the "
        "password. For a DuckDB file, give --database.",
    )
