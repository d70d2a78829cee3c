"""dbt that holds every YAML file against its own JSON schemas, which it otherwise does for four adapters only."""

from __future__ import annotations

if __name__ == "__main__":
    from dbt.cli.main import cli
    from dbt.jsonschemas import jsonschemas

    jsonschemas._JSONSCHEMA_SUPPORTED_ADAPTERS.add("duckdb")
    cli()
