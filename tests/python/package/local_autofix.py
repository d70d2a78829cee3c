"""dbt-autofix with the JSON schemas that a dbt-core brings, whose folder is the first argument, instead of downloaded ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def schemas_of(folder: Path, kind: str) -> Callable[[Any, str], Any]:
    """Give what stands in for a download: a schema of YAML files, or of dbt_project.yml."""
    return lambda client, version: json.loads((folder / kind / "latest.json").read_bytes())


if __name__ == "__main__":
    from dbt_autofix import retrieve_schemas
    from dbt_autofix.main import app

    schemas = Path(sys.argv.pop(1))
    retrieve_schemas.get_fusion_latest_version = lambda client: "local"
    retrieve_schemas.get_fusion_yml_schema = schemas_of(schemas, "resources")
    retrieve_schemas.get_fusion_dbt_project_schema = schemas_of(schemas, "project")
    app()
