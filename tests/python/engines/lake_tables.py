"""Tables of a lake from Parquet and into it, in the environment that has DuckLake: JSON steps on standard input.

A step is ``["install"]``, ``["land", schema, table, file]``, ``["save", table, file]``, or ``["run", statements]``, before which
nothing is attached. The lake is that of the targets of profiles.yml: PASSK_DUCKLAKE_CATALOG and PASSK_DUCKLAKE_FILES.
"""

from __future__ import annotations

import json
import os
import sys

import duckdb


def install() -> None:
    """Put the extensions where DuckDB looks for them."""
    from duckdb_extensions import import_extension  # type: ignore[import-not-found]

    for name in ("ducklake", "postgres_scanner", "httpfs"):
        import_extension(name)


def land(lake: duckdb.DuckDBPyConnection, schema: str, table: str, path: str) -> None:
    """Fill a table, made where it is missing; attempts lie by suite and run."""
    name = f"lake.{schema}.{table}"
    lake.execute(f"create schema if not exists lake.{schema}")
    lake.execute(f"create table if not exists {name} as from read_parquet('{path}') limit 0")
    columns = {row[0] for row in lake.execute(f"describe {name}").fetchall()}
    if table == "attempts" and columns >= {"suite", "run_id"}:
        lake.execute(f"alter table {name} set partitioned by (suite, run_id)")
    lake.execute(f"delete from {name}")
    lake.execute(f"insert into {name} from read_parquet('{path}')")


def main() -> None:
    """Take the steps, one after the other."""
    lake = duckdb.connect()
    for kind, *words in json.load(sys.stdin):
        if kind == "install":
            install()
            lake.execute("load ducklake")
            continue
        if kind == "run":
            lake.execute(words[0])
            continue
        if not lake.execute("from duckdb_databases() where database_name = 'lake'").fetchall():
            catalog, files = (os.environ[f"PASSK_DUCKLAKE_{one}"] for one in ("CATALOG", "FILES"))
            lake.execute(f"attach 'ducklake:{catalog}' as lake (data_path '{files}')")
        if kind == "land":
            land(lake, *words)
        else:
            table, path = words
            lake.execute(f"copy lake.{table} to '{path}' (format parquet)")


if __name__ == "__main__":
    main()
