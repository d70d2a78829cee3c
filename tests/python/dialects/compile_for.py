"""Compile a dbt project for a warehouse that is not there.

Called by the Python of an environment that has the warehouse's adapter:

    python compile_for.py ADAPTER PROJECT OUTPUT.json

dbt, the adapter and its macros are the real ones, so every macro is dispatched as it is for the warehouse. What stands in is the
connection: it opens nothing, finds no schema and no table but the project's own attempts, and answers the question for the
columns of these with those that the project has. So the SQL is that of a first build.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

OUTPUTS: dict[str, dict[str, Any]] = {
    "bigquery": {"method": "oauth", "project": "project", "dataset": "analytics"},
    "clickhouse": {"host": "nowhere", "schema": "analytics", "user": "x", "password": "x"},
    "databricks": {
        "host": "nowhere", "http_path": "/sql/1.0", "token": "x", "schema": "analytics", "catalog": "main",
    },
    "postgres": {
        "host": "nowhere", "port": 5432, "user": "x", "password": "x", "dbname": "db", "schema": "analytics",
    },
    "redshift": {
        "host": "nowhere", "port": 5439, "user": "x", "password": "x", "dbname": "db", "schema": "analytics",
    },
    "snowflake": {
        "account": "nowhere", "user": "x", "password": "x", "database": "DB", "warehouse": "WH", "schema": "ANALYTICS",
    },
    "spark": {"method": "session", "host": "nowhere", "schema": "analytics"},
    "trino": {"method": "none", "host": "nowhere", "port": 8080, "user": "x", "database": "db", "schema": "analytics"},
}  # fmt: skip


def stand_in(adapter: str, columns: list[str]) -> None:
    """Put an empty warehouse in the place of the adapter's connection."""
    import agate
    from dbt.adapters.contracts.connection import AdapterResponse, ConnectionState

    kind: Any = importlib.import_module(f"dbt.adapters.{adapter}").Plugin.adapter
    manager: Any = kind.ConnectionManager

    def execute(self: Any, sql: str, *_: Any, **__: Any) -> tuple[AdapterResponse, agate.Table]:
        if "where 1 = 0" in sql:
            return AdapterResponse(_message="OK"), agate.Table(
                [], columns, [agate.Text()] * len(columns)
            )
        raise RuntimeError(f"the warehouse is not there to be asked: {sql}")

    def opened(cls: Any, connection: Any) -> Any:
        connection.state = ConnectionState.OPEN
        connection.handle = None
        return connection

    def nothing(self: Any, *_: Any, **__: Any) -> list[Any]:
        return []

    def found(self: Any, database: str, schema: str, identifier: str) -> Any:
        if identifier.lower() != "trials":
            return None
        return self.Relation.create(
            database=database, schema=schema, identifier=identifier, type="table"
        )

    kind.execute = execute
    kind.get_relation = found
    kind.list_relations_without_caching = nothing
    kind.list_relations = nothing
    kind.list_schemas = nothing
    manager.open = classmethod(opened)
    for name in (
        "close",
        "cancel",
        "rollback_if_open",
        "release",
        "begin",
        "commit",
        "clear_transaction",
    ):
        setattr(manager, name, lambda *_, **__: None)


def main(adapter: str, project: Path, output: Path) -> None:
    """Compile, and write the SQL of each model and data test under its name."""
    from dbt.cli.main import dbtRunner

    target = {"type": adapter, "threads": 1, **OUTPUTS[adapter]}
    profile = {"lab": {"target": adapter, "outputs": {adapter: target}}}
    (project / "profiles.yml").write_text(json.dumps(profile), encoding="utf-8")
    stand_in(adapter, json.loads((project / "columns.json").read_text(encoding="utf-8")))
    done = dbtRunner().invoke(
        ["--quiet", "--warn-error", "compile", "--no-partial-parse", "--no-populate-cache", "--project-dir", str(project),
         "--profiles-dir", str(project), "--target-path", str(project / f"target_{adapter}"),
         "--log-path", str(project / f"logs_{adapter}")],
    )  # fmt: skip
    if done.exception is not None:
        raise done.exception
    if not done.success:
        failed = [
            f"{one.node.name}: {one.message}"
            for one in done.result.results
            if one.status != "success"
        ]
        sys.exit("\n".join(failed))
    compiled = {
        one.node.name: one.node.compiled_code
        for one in done.result.results
        if one.node.resource_type in ("model", "test") and one.node.language == "sql"
    }
    output.write_text(json.dumps(compiled), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
