"""dbt's own unit tests of the models hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

MODELS = Path(__file__).resolve().parents[3] / "models"


def test_unit_tests_hold(project: Project, attempts: Callable[..., list[Any]]) -> None:
    project.land(attempts("run", "task", "PFP"))
    # They read the columns of the tables before them.
    project.run()
    done = project.run(command="test", select=["test_type:unit"])
    declared = [
        unit["name"]
        for path in MODELS.rglob("*.yml")
        for unit in yaml.safe_load(path.read_text("utf-8")).get("unit_tests", [])
    ]
    assert declared
    ran = [result.node.name for result in done if result.node.resource_type == "unit_test"]
    assert sorted(ran) == sorted(declared)
