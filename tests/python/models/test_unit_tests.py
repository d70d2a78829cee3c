"""dbt's own unit tests of the models hold."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import yaml  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from conftest import Project

MODELS = Path(__file__).resolve().parents[3] / "models"


def test_unit_tests_hold(project: Project, dbt_demo: Path) -> None:
    # They read the columns of the tables before them.
    shutil.copyfile(dbt_demo / "demo.duckdb", project.database)
    done = project.run(command="test", select=["test_type:unit"], target="demo")
    declared = [
        unit["name"]
        for path in MODELS.rglob("*.yml")
        for unit in yaml.safe_load(path.read_text("utf-8")).get("unit_tests", [])
    ]
    assert declared
    ran = [result.node.name for result in done if result.node.resource_type == "unit_test"]
    assert sorted(ran) == sorted(declared)
