"""Second looks: a gate that judges a run again when it has more attempts says so."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import pytest

from passk_py.warehouse.looks import with_looks
from passk_py.warehouse.tables import open_tables
from tests.python.conftest import task_attempts

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

RULE: Final = {"type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.5}
GATES: Final = [
    {**RULE, "name": "once"},
    {**RULE, "name": "often", "sequential": True},
    {"name": "whole", "type": "coverage", "metric": "excluded_attempts", "max": 0.1},
]
VARS: Final = {"passk_ks": [1, 2], "passk_deployment_k": 2, "passk_gates": GATES}
MODELS: Final = ["+passk_gates", "int_passk__looks", "int_passk__settings"]
FIRST: Final = datetime(2026, 1, 1)


def rows_of(run: str, tasks: range, batch: int) -> list[dict[str, Any]]:
    at = FIRST + timedelta(hours=batch)
    return [
        row for task in tasks for row in task_attempts(run, f"t{task:02}", "PPFP", loaded_at=at)
    ]


def judged(project: Project) -> dict[str, dict[str, Any]]:
    with open_tables(project.database) as tables:
        return {row["gate"]: row for row in with_looks(tables, tables.records("from passk_gates"))}


@pytest.mark.long
def test_a_look_counts_once_the_run_has_grown(make_project: Callable[[], Project]) -> None:
    project = make_project()
    project.land(rows_of("r", range(10), 0))
    project.run(VARS, select=MODELS)
    first = judged(project)
    assert {gate: row["looks"] for gate, row in first.items()} == {
        "once": 1, "often": None, "whole": None,
    }  # fmt: skip
    assert "look" not in first["once"]["reason"]

    # Nothing new, another severity and a full refresh are no looks; nor is another run.
    project.run(VARS, select=MODELS)
    warned = [{**GATES[0], "severity": "warn"}, *GATES[1:]]
    project.run({**VARS, "passk_gates": warned}, select=MODELS, full_refresh=True)
    assert judged(project)["once"]["looks"] == 1

    project.land(rows_of("r", range(10, 20), 1))
    project.run(VARS, select=MODELS)
    second = judged(project)
    assert {gate: row["looks"] for gate, row in second.items()} == {
        "once": 2, "often": None, "whole": None,
    }  # fmt: skip
    assert second["once"]["reason"].endswith(
        " This is look 2 at the run, which had 40 attempts at the last one. Each look is a further "
        "chance to be wrong; only a threshold with sequential: true holds at every look."
    )

    # Another rule of the same name has not looked yet.
    other = [{**GATES[0], "min": 0.6}]
    project.run({**VARS, "passk_gates": other}, select=MODELS)
    assert judged(project)["once"]["looks"] == 1

    # A run that loses attempts and gets them back is no new look, and a third one says what there was at the second.
    project.land(rows_of("r", range(20, 25), 2))
    project.run(VARS, select=MODELS, full_refresh=True)
    assert "look 3 at the run, which had 80 attempts" in judged(project)["once"]["reason"]
    project.execute("delete from landing.attempts where task_id > 't21'")
    project.run(VARS, select=MODELS, full_refresh=True)
    assert judged(project)["once"]["looks"] == 3
    project.run(VARS, command="test", select=["int_passk__looks"])


def test_tables_without_a_memory_say_nothing(make_project: Callable[[], Project]) -> None:
    project = make_project()
    row = {"gate": "g", "rule": "r", "run_id": "r", "suite": "s", "reason": "So it is."}
    with open_tables(project.database) as tables:
        assert with_looks(tables, [row]) == [{**row, "looks": None}]
