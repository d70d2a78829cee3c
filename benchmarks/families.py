"""How often limits for tasks like these hold when tasks come in families: a simulation through the SQL.

Each repetition is a suite of its own, with a run `old` and a run `new` on the same tasks; half of the
families lose a fifth of their chance in the new run. All suites of one design are built at once, with
families declared and without.

    python benchmarks/families.py                     # everything, half an hour
    python benchmarks/families.py --repetitions 50
"""

from __future__ import annotations

import argparse
import random
from typing import TYPE_CHECKING, Final

import duckdb
from comparisons import POPULATIONS
from edges import Task, database_of, passes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ATTEMPTS: Final = 8
K: Final = 4
FAMILIES: Final = (5, 10, 20, 50)
SIZES: Final[dict[str, Callable[[random.Random], int]]] = {
    "5 tasks each": lambda _dice: 5,
    "1 to 30 tasks": lambda dice: dice.randint(1, 30),
}
SHARED: Final = (1.0, 0.5, 0.0)
"""The share of tasks that have their family's chance; the others have one of their own."""
CHOSEN: Final = ("U-shaped", "middling", "two kinds", "spiked", "near 1")
LOST: Final = 0.8
CLUSTER: Final = {"name": "family", "expression": "split_part(task_id, '-', 1)"}


def drawn(
    dice: random.Random, population: str, families: int, sizes: str, shared: float, suite: str
) -> Iterator[Task]:
    rate_of = POPULATIONS[population]
    for family in range(families):
        common, left = rate_of(dice), dice.choice((1.0, LOST))
        for task in range(SIZES[sizes](dice)):
            rate = common if dice.random() < shared else rate_of(dice)
            for run, used in (("old", rate), ("new", rate * left)):
                c = passes(dice, ATTEMPTS, used)
                yield Task(suite, run, f"{family}-{task}", used, ATTEMPTS, c)


def truth(population: str) -> dict[str, float]:
    """Give the values of the population: of 400,000 tasks of it."""
    dice = random.Random(f"truth of {population}")
    rates = [POPULATIONS[population](dice) for _ in range(400_000)]

    def mean(score: Callable[[float], float]) -> float:
        return sum(map(score, rates)) / len(rates)

    old = {"pass_hat_k": mean(lambda p: p**K), "pass_at_k": mean(lambda p: 1 - (1 - p) ** K)}
    new = {
        "pass_hat_k": LOST**K * old["pass_hat_k"],
        "pass_at_k": mean(lambda p: 1 - (1 - LOST * p) ** K),
    }
    return {
        **old,
        **{f"{name} difference": (new[name] - old[name]) / 2 for name in old},
    }


def limits(tasks: list[Task], *, declared: bool) -> list[tuple[str, str, float, float]]:
    """Build the tables, and give suite, name of the value, and its limits."""
    variables = {"passk_cluster": CLUSTER, "passk_diagnostics": False, "passk_ranked_runs": 2}
    if not declared:
        del variables["passk_cluster"]
    with (
        database_of(tasks, [K], "passk_suite_metrics passk_comparisons", variables) as database,
        duckdb.connect(str(database), read_only=True) as connection,
    ):
        of_suites = " union all ".join(
            f"select suite, '{metric}', {metric}_lower, {metric}_upper from passk_suite_metrics "
            "where run_id = 'old' and slice_name = 'all'"
            for metric in ("pass_at_k", "pass_hat_k")
        )
        return connection.execute(
            f"{of_suites} union all "
            "select suite, metric || ' difference', difference_lower, difference_upper "
            "from passk_comparisons"
        ).fetchall()


def measured(families: int, sizes: str, repetitions: int) -> None:
    tasks: list[Task] = []
    known: dict[str, dict[str, float]] = {}
    for population in CHOSEN:
        true = truth(population)
        for shared in SHARED:
            dice = random.Random(f"{families} {sizes} {population} {shared}")
            for number in range(repetitions):
                suite = f"{population}|{shared}|{number}"
                known[suite] = true
                tasks += drawn(dice, population, families, sizes, shared, suite)
    for declared in (True, False):
        found: dict[tuple[str, str, str], list[tuple[bool, float]]] = {}
        for suite, name, lower, upper in limits(tasks, declared=declared):
            population, share, _ = suite.split("|")
            holds = lower - 1e-12 <= known[suite][name] <= upper + 1e-12
            found.setdefault((name.split()[-1], population, share), []).append(
                (holds, upper - lower)
            )
        for kind in ("pass_hat_k", "pass_at_k", "difference"):
            held = {
                place[1:]: sum(one for one, _ in rows) / len(rows)
                for place, rows in found.items()
                if place[0] == kind
            }
            widths = [
                width for place, rows in found.items() if place[0] == kind for _, width in rows
            ]
            worst = min(held, key=lambda place: held[place])
            print(
                f"| {families} | {sizes} | {'yes' if declared else 'no'} | {kind} "
                f"| {sum(held.values()) / len(held):.3f} | {held[worst]:.3f} "
                f"| {worst[0]}, {float(worst[1]):.0%} shared | {sum(widths) / len(widths):.3f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--families", type=int, choices=FAMILIES)
    asked = parser.parse_args()
    print(
        "| families | sizes | declared | value | mean coverage | least | where | mean width |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    for families in FAMILIES:
        for sizes in SIZES:
            if asked.families in (None, families):
                measured(families, sizes, asked.repetitions)


if __name__ == "__main__":
    main()
