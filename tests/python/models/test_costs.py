"""What runs cost: brute force over orders, tables against polars, and what is not known."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

Rows = list[dict[str, Any]]
MEASURES: Final = ["cost_usd", "duration_s", "tokens"]
VARS: Final = {
    "passk_ks": [1, 2, 3, 4],
    "passk_deployment_k": 2,
    "passk_ordered_metrics": False,
    "passk_diagnostics": False,
    "passk_min_eligible_share": 0.8,
    "passk_costs": MEASURES,
}
FAMILIES: Final = {**VARS, "passk_cluster": "repo"}


def some_log() -> Rows:
    dice = random.Random(7)
    rows: Rows = []
    for run, factor in (("dear", 1.0), ("cheap", 0.2), ("slow", 1.05)):
        for task in range(24):
            rate = dice.choice([0.0, 0.3, 0.6, 0.9, 1.0])
            base = dice.lognormvariate(0, 0.7)
            for attempt in range(1, dice.choice([3, 5, 6, 8]) + 1):
                outcome = "passed" if dice.random() < rate else "failed"
                cost = factor * base * dice.lognormvariate(0, 0.3) * (1.5 if outcome == "failed" else 1)
                rows.append(
                    {
                        "run_id": run, "suite": "suite", "task_id": f"t{task}", "attempt": attempt,
                        "outcome": "excluded" if dice.random() < 0.05 else outcome, "agent": "bot",
                        "cost_usd": None if dice.random() < 0.02 else cost,
                        "duration_s": None if run == "slow" and dice.random() < 0.5 else dice.choice([1.0, 2.0, 3.0, 5.0]),
                        "input_tokens": None if run == "dear" else dice.randrange(100), "output_tokens": dice.randrange(10),
                        "tags": {"repo": f"f{task % 5}"} if task > 3 else {},
                    }
                )  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project]) -> Project:
    made = make_project()
    made.land(some_log())
    made.run(
        VARS,
        command="build",
    )
    return made


def test_the_tables_are_what_polars_makes_of_them(built: Project) -> None:
    from passk_py.validation.check_all import validate_tables

    report = validate_tables(built.database)
    for table in report.tables:
        if "cost" in table.table or "front" in table.table:
            print(table.table, table.rows, table.values, table.largest, table.different, table.examples[:4])
    assert not any(table.different for table in report.tables)
