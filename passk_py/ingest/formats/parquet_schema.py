"""The columns of a Parquet table, and how DuckDB hands each of them over."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from passk_py.ingest.formats.kinds import Kind


def kinds_of_columns(path: Path, connection: duckdb.DuckDBPyConnection) -> dict[str, Kind]:
    """Tell how each column of a table is handed over. Raises what DuckDB raises."""
    described = connection.execute(
        "describe select * from read_parquet(?, hive_partitioning = false)", [glob_literal(path)]
    ).fetchall()
    return {row[0]: kind_of(row[1]) for row in described}


def kind_of(duckdb_type: str) -> Kind:
    """Tell how a column of this type of DuckDB is handed over."""
    base = duckdb_type.upper()
    if base.endswith("]"):
        return "other"
    if base.startswith("TIMESTAMP"):
        return "timestamptz" if "TIME ZONE" in base else "timestamp"
    kinds: dict[str, Kind] = {"MAP": "map", "STRUCT": "other", "UNION": "other", "BLOB": "other"}
    kinds |= dict.fromkeys(("FLOAT", "DOUBLE"), "float")
    kinds |= dict.fromkeys(("BOOLEAN",), "boolean")
    kinds |= dict.fromkeys(("DATE",), "timestamp")
    kinds |= dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), "integer")
    kinds |= dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), "integer")
    # Everything else, decimals among them, is exact as text.
    return kinds.get(base.split("(")[0].strip(), "text")


def glob_literal(path: Path) -> str:
    """Write a path so that DuckDB takes it for this one file, whatever characters it has."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))
