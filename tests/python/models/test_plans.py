"""passk_plans: the table against polars, in all kinds of pilots, and what its vars change."""

from __future__ import annotations

import math
import random
import re
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk

if TYPE_CHECKING:
    from conftest import Project

Rows = list[dict[str, Any]]

KS: Final = [1, 2, 3, 5, 8]
VARS: Final = {
    "passk_ks": KS,
    "passk_deployment_k": 2,
    "passk_create_sql_functions": False,
    "passk_ordered_metrics": False,
}
MODEL: Final = "passk_plans"
OUTCOMES: Final = {"P": "passed", "F": "failed", "X": "excluded"}


def run_of(run: str, letters: list[str], suite: str = "s") -> Rows:
    """Give a run from the letters of its tasks."""
    return [
        {
            "run_id": run,
            "suite": suite,
            "task_id": f"t{task:03}",
            "attempt": number,
            "outcome": OUTCOMES[letter],
        }
        for task, attempts in enumerate(letters)
        for number, letter in enumerate(attempts, 1)
    ]


def drawn(seed: int, tasks: int, sizes: list[int], a: float, b: float) -> list[str]:
    chance = random.Random(seed)
    found = []
    for _ in range(tasks):
        rate = chance.betavariate(a, b)
        size = chance.choice(sizes)
        found.append("".join("P" if chance.random() < rate else "F" for _ in range(size)))
    return found


PILOTS: Final[dict[str, list[str]]] = {
    "even": drawn(1, 40, [8], 2, 1),
    "long": drawn(2, 30, [20], 0.5, 0.5),
    "ragged": drawn(3, 50, [4, 5, 9], 1, 1),
    "two": drawn(4, 60, [2], 3, 2),
    "short": [*drawn(5, 20, [6], 1, 1), "P", "X", "XF"],
    "excluded": ["PFX" + letters for letters in drawn(6, 20, [6], 2, 2)],
    "perfect": ["PPPP"] * 12,
    "hopeless": ["FFFF"] * 12,
    "halves": ["PPPP"] * 6 + ["FFFF"] * 6,
    "coins": ["PF"] * 12,
    "nearly perfect": ["PPPPPPPP"] * 60 + ["PPPPPPPF"],
    "one task": ["PFPF"],
    "single attempts": ["P", "F", "P"],
}


def is_near(actual: Any, expected: Any) -> bool:
    if isinstance(actual, float) and isinstance(expected, float):
        return math.isclose(actual, expected, rel_tol=1e-8, abs_tol=1e-11)
    return actual == expected


@pytest.mark.long
@pytest.mark.parametrize(
    ("share", "vars_", "options"),
    [
        (1, {}, {}),
        (
            0,
            {
                "passk_plan_attempts": [3, 8, 40, 1000],
                "passk_plan_width": 0.03,
                "passk_plan_difference": 0.2,
                "passk_plan_power": 0.95,
                "passk_confidence": 0.9,
            },
            {
                "attempts_per_task": [3, 8, 40, 1000],
                "width": 0.03,
                "difference": 0.2,
                "power": 0.95,
                "confidence": 0.9,
            },
        ),
        (
            0.95,
            {"passk_plan_width": 0.5, "passk_plan_power": 0.99, "passk_confidence": 0.99},
            {"width": 0.5, "power": 0.99, "confidence": 0.99},
        ),
    ],
)
def test_sql_and_polars_agree(
    project: Project, share: Any, vars_: dict[str, Any], options: dict[str, Any]
) -> None:
    log = [row for name, letters in PILOTS.items() for row in run_of(name, letters)]
    project.land(log)
    variables = {**VARS, **vars_, "passk_min_eligible_share": share}
    project.run(variables, select=[f"+{MODEL}"])
    project.run(variables, command="test", select=[MODEL])
    expected = pk.plan(pl.DataFrame(log), ks=KS, min_eligible_share=share, **options)
    order = ["run_id", "metric", "k", "attempts"]
    wanted = expected.sort(order).to_dicts()
    found = project.records(
        f"select {', '.join(expected.columns)} from {MODEL} order by {', '.join(order)}"
    )
    assert len(found) == len(wanted) > 100
    for row, other in zip(found, wanted, strict=True):
        assert {n: v for n, v in row.items() if not is_near(v, other[n])} == {}, other
    assert {row["basis"] for row in wanted} == {"moments", "beta_binomial", None}
    reasons = {row["null_reason"] for row in wanted if row["null_reason"] is not None}
    assert len(reasons) > 4
    # Few tasks and many, so that both ways to the least number of them are gone.
    sizes = [row["tasks_for_width"] for row in wanted if row["tasks_for_width"]]
    assert (min(sizes) < 29) == (options.get("width") == 0.5)
    assert (max(sizes) > 2000) == (options.get("width") == 0.03)


@pytest.mark.long
def test_who_ran_is_said_and_slices_are_not_planned(project: Project) -> None:
    log = [
        {
            **row,
            "agent": "bot",
            "agent_version": "2",
            "model": "m",
            "tags": {"kind": row["task_id"]},
        }
        for row in run_of("r", PILOTS["even"])
    ]
    project.land(log)
    project.run({**VARS, "passk_slices": ["kind"]}, select=[f"+{MODEL}"])
    found = project.query(
        f"select agent, agent_version, model, metric, count(*), min(tasks), max(tasks) from {MODEL}"
        " group by all order by metric"
    )
    # k of 1, 2, 3, 5, 8 with 6, 5, 4, 3 and 3 of the planned attempts.
    assert found == [
        ("bot", "2", "m", metric, 21, 40, 40) for metric in ("pass_at_k", "pass_hat_k")
    ]


def test_no_planned_attempts_are_enough_for_a_k(project: Project) -> None:
    project.land(run_of("r", PILOTS["even"]))
    project.run(
        {**VARS, "passk_ks": [8], "passk_deployment_k": 8, "passk_plan_attempts": [2, 4]},
        select=[f"+{MODEL}"],
    )
    assert project.query(f"select count(*) from {MODEL}") == [(0,)]


def test_the_constants_of_the_power_are_what_they_say(project: Project) -> None:
    """The normal quantile; and the Poisson mean for which six or more come with that chance."""
    text = project.render("{{ passk._power_quantiles() }}")
    found = re.findall(r"([\d.]+): \{'normal': '([\d.]+)e0', 'deciding': '([\d.]+)e0'\}", text)
    assert [float(power) for power, _, _ in found] == [0.8, 0.9, 0.95, 0.99]
    for power, normal, mean in found:
        assert float(normal) == pytest.approx(NormalDist().inv_cdf(float(power)), rel=1e-12)
        expected = float(mean)
        fewer = sum(math.exp(-expected) * expected**i / math.factorial(i) for i in range(6))
        assert 1 - fewer == pytest.approx(float(power), rel=1e-12)
