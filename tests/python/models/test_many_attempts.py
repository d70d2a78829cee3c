"""Every table, its tests and the second computation hold from one attempt a task to thousands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from passk_py.validation.check_all import validate_tables

if TYPE_CHECKING:
    from conftest import Project

VARS: Final = {
    "passk_ks": [1, 2, 4, 8],
    "passk_deployment_k": 4,
    "passk_create_sql_functions": False,
    "passk_gates": [
        {"name": name, "metric": "pass_hat_k", "k": 1, "severity": "ignore"}
        | {"inconclusive": "ignore"}
        | rule
        for name, rule in {
            "enough": {"type": "threshold", "min": 0.2},
            "enough of these": {"type": "threshold", "min": 0.2, "scope": "suite"},
            "drop": {"type": "drop", "max_drop": 0.5},
            "each": {"type": "each_task", "min": 0.2},
        }.items()
    ],
}


# 126 bits are what an integer holds, so that 127 take the other road.
SIZES: Final = (1, 2, 126, 127, 1000, 5000)


def run_of(run: str, n: int, shares: list[float]) -> list[dict[str, Any]]:
    """Give a task for each share of n attempts that pass, evenly spread."""
    return [
        {
            "run_id": run,
            "suite": f"{n:04}",
            "task_id": f"t{number:02}",
            "attempt": attempt + 1,
            "outcome": "passed" if int((attempt + 1) * share) > int(attempt * share) else "failed",
        }
        for number, share in enumerate(shares)
        for attempt in range(n)
    ]


@pytest.mark.long
def test_tables_hold_at_every_size(project: Project) -> None:
    shares = [0.0, 0.01, 0.25, 0.5, 0.5, 0.75, 0.9, 0.99, 1.0, 1.0, 1.0, 0.6]
    for n in SIZES:
        project.land(run_of("old", n, shares))
        # Some turn round altogether: the least p of thousands of attempts is no double.
        project.land(run_of("new", n, [1.0, *shares[1:-2], 0.0, 0.4]))
    variables = {**VARS, "passk_baseline": "old"}
    project.run(variables)
    project.run(variables, command="test", select=["path:models"])
    found = project.query(
        "select suite, min(p), max(p), min(least_p), bool_or(moved) from passk_task_comparisons "
        "group by suite order by suite"
    )
    for n, (suite, least, most, least_p, moved) in zip(SIZES, found, strict=True):
        assert int(suite) == n
        assert 1e-300 <= least <= most <= 1
        # C(2n, n) has more than 300 digits from some 500 attempts on.
        assert (least_p == 1e-300) == (n >= 1000)
        assert least_p >= 1e-300
        assert moved == (n >= 126)
    assert validate_tables(project.database).examples == []
