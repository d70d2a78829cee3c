"""How near plans come, and how often the limits between two suites hold: simulations.

Plans: from populations of tasks a pilot is drawn, a plan is made from it, and a run is drawn as the
plan says. Is its interval as wide as planned? And do two runs tell the drop as often as planned?
The numbers of tasks are beside those that the true moments of the population ask for.

Suites: a public and a private suite are drawn, each from a population of its own, and the limits of
``passk_contamination`` are held against the true difference.

Bootstrap: how often its limits over 20 tasks hold the truth, beside those of the tables.

    python benchmarks/planning.py                 # everything, some minutes
    python benchmarks/planning.py --only suites
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.metrics.bootstrap import limits_of_families
from passk_py.metrics.comparisons.pair_figures import PairSums
from passk_py.metrics.planning.plans_table import plan_counts
from passk_py.metrics.planning.sizes import planned, width_of
from passk_py.metrics.planning.variances import variances
from passk_py.metrics.planning.wish import Wish
from passk_py.metrics.states import lone_tasks
from passk_py.metrics.suite_differences import difference_of, limited
from passk_py.stats.permutations import PairCounts

if TYPE_CHECKING:
    from collections.abc import Callable

LEVEL: Final = 1.959963984540054
LEAST: Final = 6
MOST_TASKS: Final = 2000
"""Where a drop takes more tasks than this, a simulation of it would take too long."""


@dataclass(frozen=True)
class Population:
    """A distribution of the chance that a task passes, with its moments."""

    draw: Callable[[random.Random], float]
    moment: Callable[[int], float]


def beta(a: float, b: float) -> Population:
    return Population(
        lambda dice: dice.betavariate(a, b),
        lambda m: math.prod((a + i) / (a + b + i) for i in range(m)),
    )


POPULATIONS: Final = {
    "U-shaped": beta(0.5, 0.5),
    "middling": beta(2, 2),
    "hard": beta(0.3, 3),
    "two kinds": Population(
        lambda dice: dice.choice((0.2, 0.95)), lambda m: (0.2**m + 0.95**m) / 2
    ),
    "spiked": Population(
        lambda dice: dice.choices((1.0, 0.0, dice.random()), (60, 20, 20))[0],
        lambda m: 0.6 + 0.2 / (m + 1),
    ),
    "near 1": beta(19, 1),
}
PILOTS: Final = ((30, 8), (100, 8), (100, 4))
DESIGNS: Final = ((1, 4), (4, 4), (4, 8), (4, 16))


def passes(dice: random.Random, rate: float, n: int) -> int:
    return sum(dice.random() < rate for _ in range(n))


def run(dice: random.Random, population: Population, tasks: int, n: int) -> list[tuple[int, int]]:
    return [(n, passes(dice, population.draw(dice), n)) for _ in range(tasks)]


def attained_width(counts: list[tuple[int, int]], k: int) -> float:
    scores = [math.comb(c, k) / math.comb(n, k) for n, c in counts]
    variance = statistics.variance(scores) if len(scores) > 1 else 0.0
    return width_of(statistics.fmean(scores), variance, len(scores), 0.95)


def tells(
    dice: random.Random, population: Population, tasks: int, n: int, k: int, factor: float
) -> bool:
    """Draw a suite and two runs on it, the second with all chances times the factor."""
    rates = [population.draw(dice) for _ in range(tasks)]
    pairs = [(n, passes(dice, rate, n), n, passes(dice, rate * factor, n)) for rate in rates]
    found = pl.DataFrame(pairs, schema=PairCounts._fields, orient="row")
    sums = PairSums(found.with_columns(tasks=1)).sums("pass_hat_k", k)
    if sums.deciding < LEAST:
        return False
    return sums.difference / math.sqrt(sums.variance) <= -LEVEL


def from_truth(population: Population, k: int, n: int, wish: Wish) -> dict[str, Any]:
    """Plan with the true moments."""
    between = population.moment(2 * k) - population.moment(k) ** 2
    row: dict[str, Any] = {"attempts": n, "tasks": None, "tasks_for_difference": None}
    row |= variances("pass_hat_k", k, n, population.moment, between)
    return planned(row, wish, 1.0)


def plans(repetitions: int, power: float) -> None:
    """Print a table of plans, attained widths and attained power."""
    print(
        f"Width 0.15, power {power}; a drop of 0.05, or of a third of pass^k. Planned tasks over true"
        " ones: mean (5 % to 95 % of the plans). k, n of "
        + "; ".join(f"{k}, {n}" for k, n in DESIGNS)
    )
    print(
        "| pilot, tasks x n | population | no fit | tasks for the width | width attained |"
        " tasks for the drop | told: mean | least |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for pilot in PILOTS:
        for name in POPULATIONS:
            print_plans(name, pilot, repetitions, power)


def print_plans(name: str, pilot: tuple[int, int], repetitions: int, power: float) -> None:
    """Print the row of a pilot and a population."""
    population = POPULATIONS[name]
    by_width: list[float] = []
    by_drop: list[float] = []
    widths: list[float] = []
    shares: list[float] = []
    unplanned = 0
    for k, n in DESIGNS:
        dice = random.Random(f"{name} {pilot} {k} {n}")
        # No more than a third of the metric: a drop that is possible.
        drop = round(min(0.05, population.moment(k) / 3), 3)
        wish = Wish((k,), (n,), width=0.15, difference=drop, power=power)
        truth = from_truth(population, k, n, wish)
        factor = (1 - drop / population.moment(k)) ** (1 / k)
        told = []
        for _ in range(repetitions):
            found = Counter(run(dice, population, *pilot))
            (row,) = (r for r in plan_counts(found, wish) if r["metric"] == "pass_hat_k")
            unplanned += row["basis"] is None
            if row["tasks_for_width"] is not None:
                by_width.append(row["tasks_for_width"] / truth["tasks_for_width"])
                widths.append(attained_width(run(dice, population, row["tasks_for_width"], n), k))
            if row["tasks_for_difference"] is None or truth["tasks_for_difference"] > MOST_TASKS:
                continue
            by_drop.append(row["tasks_for_difference"] / truth["tasks_for_difference"])
            tasks = min(row["tasks_for_difference"], 3 * MOST_TASKS)
            told.append(tells(dice, population, tasks, n, k, factor))
        if told:
            shares.append(statistics.fmean(told))
    print(
        f"| {pilot[0]} x {pilot[1]} | {name} | {unplanned / repetitions / len(DESIGNS):.0%}"
        f" | {spread(by_width)} | {statistics.fmean(widths):.3f} | {spread(by_drop)}"
        f" | {statistics.fmean(shares):.2f} | {min(shares):.2f} |",
        flush=True,
    )


def spread(values: list[float]) -> str:
    ordered = sorted(values)
    low, high = (ordered[int(share * (len(ordered) - 1))] for share in (0.05, 0.95))
    return f"{statistics.fmean(values):.2f} ({low:.2f} to {high:.2f})"


def suites(repetitions: int) -> None:
    """Print how often the limits hold the true difference, and how often it seems above 0."""
    print("| tasks | settings | coverage: mean | least | above 0 where nothing is: mean | most |")
    print("|---|---|---|---|---|---|")
    for sizes in ((20, 20), (50, 20), (20, 50), (50, 50), (100, 100), (200, 50)):
        held, above = [], []
        for public, first in POPULATIONS.items():
            for private, second in POPULATIONS.items():
                for k, n in ((1, 4), (4, 8)):
                    dice = random.Random(f"{sizes} {public} {private} {k} {n}")
                    true = first.moment(k) - second.moment(k)
                    found = []
                    for _ in range(repetitions):
                        limits = []
                        for population, tasks in zip((first, second), sizes, strict=True):
                            counts = Counter(run(dice, population, tasks, n)).items()
                            scores = [
                                (math.comb(c, k) / math.comb(of, k), number)
                                for (of, c), number in counts
                            ]
                            limits.append(limited(scores, 0.95))
                        found.append(difference_of(limits[0], limits[1], (1.0, 1.0)))
                    held.append(statistics.fmean(low <= true <= up for _, low, up in found))
                    if public == private:
                        above.append(statistics.fmean(low > 0 for _, low, _ in found))
        print(
            f"| {sizes[0]}, {sizes[1]} | {len(held)} | {statistics.fmean(held):.3f} | {min(held):.3f}"
            f" | {statistics.fmean(above):.3f} | {max(above):.3f} |",
            flush=True,
        )


def bootstrap(repetitions: int) -> None:
    """Print how often a bootstrap over 20 tasks holds the truth, and how often Student's t does."""
    print("20 tasks, pass^k: share of the runs in which the limits hold the truth")
    print("| population | k, n | bootstrap over tasks | Student's t with two pseudo-tasks |")
    print("|---|---|---|---|")
    for name, population in POPULATIONS.items():
        for k, n in DESIGNS[:3]:
            dice = random.Random(f"bootstrap {name} {k} {n}")
            true = population.moment(k)
            held = [0, 0]
            for repetition in range(repetitions):
                states = Counter(run(dice, population, 20, n))
                row = limits_of_families(
                    lone_tasks(states),
                    [k],
                    resamples=300,
                    seed=repetition,
                    place=(name,),
                    confidence=0.95,
                    min_eligible_share=1.0,
                )[1]
                scores = [
                    (math.comb(c, k) / math.comb(of, k), number)
                    for (of, c), number in states.items()
                ]
                limits = limited(scores, 0.95)
                held[0] += row["lower"] <= true <= row["upper"]
                held[1] += limits.lower <= true <= limits.upper
            shares = " | ".join(f"{one / repetitions:.3f}" for one in held)
            print(f"| {name} | {k}, {n} | {shares} |", flush=True)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("plans", "suites", "bootstrap"))
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--power", type=float, default=0.8)
    options = parser.parse_args()
    start = time.perf_counter()
    if options.only in (None, "plans"):
        plans(options.repetitions or 200, options.power)
    if options.only in (None, "suites"):
        suites(options.repetitions or 300)
    if options.only in (None, "bootstrap"):
        bootstrap(options.repetitions or 300)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
