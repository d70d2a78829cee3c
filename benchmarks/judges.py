"""How often the limits of the agreement of judges, and of their share of the disagreement, hold.

    python benchmarks/judges.py           # half an hour
    python benchmarks/judges.py --again   # the kinds with the least coverage, with more suites

A judge gives two verdicts on every try of every task, and errs by chance. The pairs are the judge with itself, and with the log, which is
always right. The truth is that of the population of tasks.
"""

from __future__ import annotations

import argparse
import random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl
from comparisons import POPULATIONS

import passk_py as pk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

REPETITIONS: Final = 300
AGAIN: Final = 2000
SIZES: Final = ((5, 4), (10, 2), (10, 8), (20, 2), (20, 4), (50, 2), (50, 4), (200, 2))
"""Tasks, and tries of each."""
ERRORS: Final[dict[str, Callable[[random.Random], tuple[float, float]]]] = {
    "never errs": lambda _dice: (0.0, 0.0),
    "flips 2%": lambda _dice: (0.02, 0.02),
    "flips 10%": lambda _dice: (0.1, 0.1),
    "flips 30%": lambda _dice: (0.3, 0.3),
    "lenient": lambda _dice: (0.02, 0.25),
    "flips 40% on a task in six": lambda dice: (0.4, 0.4) if dice.random() < 1 / 6 else (0.0, 0.0),
}
"""The chances that a judge fails a pass, and passes a failure, on a task."""
LOWEST: Final = (
    ("two kinds", "flips 30%", 20, 2),
    ("middling", "flips 30%", 50, 4),
    ("two kinds", "flips 10%", 50, 2),
    ("near 1", "flips 30%", 200, 2),
    ("spiked", "flips 40% on a task in six", 200, 2),
    ("U-shaped", "flips 10%", 200, 2),
)
"""Kinds that are the least of a row with a coverage below 0.945, which is off by 0.013 by chance."""


class Truth(NamedTuple):
    """How often two verdicts differ on one try, and on two tries of a task."""

    same_try: float
    other_try: float


def truths(population: str, errors: str) -> dict[str, Truth]:
    """Average over many tasks of the population, by the other judge."""
    dice = random.Random(f"truth {population} {errors}")
    sums = {"judge": [0.0, 0.0], "log": [0.0, 0.0]}
    number = 200_000
    for _ in range(number):
        p = POPULATIONS[population](dice)
        fails_pass, passes_failure = ERRORS[errors](dice)
        passes = p * (1 - fails_pass) + (1 - p) * passes_failure
        sums["judge"][0] += 2 * p * fails_pass * (1 - fails_pass)
        sums["judge"][0] += 2 * (1 - p) * passes_failure * (1 - passes_failure)
        sums["judge"][1] += 2 * passes * (1 - passes)
        sums["log"][0] += p * fails_pass + (1 - p) * passes_failure
        sums["log"][1] += passes * (1 - p) + (1 - passes) * p
    return {other: Truth(*(one / number for one in both)) for other, both in sums.items()}


def suites(
    population: str, errors: str, tasks: int, tries: int, repetitions: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Draw suites, each of tasks of its own, with two verdicts on each try."""
    dice = random.Random(f"{population} {errors} {tasks} {tries}")
    attempts: list[tuple[Any, ...]] = []
    verdicts: list[tuple[Any, ...]] = []
    for suite in range(repetitions):
        for task in range(tasks):
            p = POPULATIONS[population](dice)
            fails_pass, passes_failure = ERRORS[errors](dice)
            for attempt in range(1, tries + 1):
                truly = dice.random() < p
                key = ("r", f"{suite:04}", str(task), attempt)
                attempts.append((*key, truly))
                for _ in range(2):
                    said = dice.random() >= fails_pass if truly else dice.random() < passes_failure
                    verdicts.append((*key, "true" if said else "false"))
    columns = ["run_id", "suite", "task_id", "attempt"]
    return (
        pl.DataFrame(attempts, schema=[*columns, "passed"], orient="row"),
        pl.DataFrame(verdicts, schema=[*columns, "verdict"], orient="row"),
    )


class Cell(NamedTuple):
    """How often the limits held for one population, judge and pair."""

    answered: float
    share_held: float
    share_width: float
    agreement_held: float
    name: str


def cells(
    population: str, errors: str, tasks: int, tries: int, repetitions: int
) -> Iterable[tuple[str, Cell]]:
    """Hold the limits of one population and judge against the truth, by the other judge."""
    truth = truths(population, errors)
    table = pk.judge_agreement(*suites(population, errors, tasks, tries, repetitions))
    for other, true in truth.items():
        rows = table.filter(other_judge=other)
        known = rows.filter(pl.col("judges_share").is_not_null())
        share = min(true.same_try / true.other_try, 1.0)
        # Rounding, where the truth is 0 or 1.
        held = (pl.col("judges_share_lower") <= share + 1e-9) & (
            share - 1e-9 <= pl.col("judges_share_upper")
        )
        agrees = (pl.col("agreement_lower") <= 1 - true.same_try + 1e-9) & (
            1 - true.same_try - 1e-9 <= pl.col("agreement_upper")
        )
        width = pl.col("judges_share_upper") - pl.col("judges_share_lower")
        yield (
            other,
            Cell(
                known.height / repetitions,
                float(known.select(held.mean()).item() or 0.0),
                float(known.select(width.mean()).item() or 0.0),
                float(rows.select(agrees.mean()).item()),
                f"{population}, {errors}",
            ),
        )


def print_sizes() -> None:
    """Print the coverage by the number of tasks and tries, over populations and judges."""
    print(
        f"{REPETITIONS} suites of each of {len(POPULATIONS) * len(ERRORS)} populations and judges"
    )
    for tasks, tries in SIZES:
        found: dict[str, list[Cell]] = {}
        for population in POPULATIONS:
            for errors in ERRORS:
                for other, cell in cells(population, errors, tasks, tries, REPETITIONS):
                    found.setdefault(other, []).append(cell)
        for other, of_pair in found.items():
            # A coverage of few suites says little.
            known = [cell for cell in of_pair if cell.answered >= 1 / 3]
            least = min(known, key=lambda cell: cell.share_held)
            agreed = min(of_pair, key=lambda cell: cell.agreement_held)
            print(
                f"{tasks:>4} tasks {tries} tries  with {other:<5}  answered "
                f"{sum(cell.answered for cell in of_pair) / len(of_pair):.2f}  share: mean "
                f"{sum(cell.share_held for cell in known) / len(known):.3f} least "
                f"{least.share_held:.3f} ({least.name}) width "
                f"{sum(cell.share_width for cell in known) / len(known):.3f}  agreement: mean "
                f"{sum(cell.agreement_held for cell in of_pair) / len(of_pair):.3f} least "
                f"{agreed.agreement_held:.3f} ({agreed.name})",
                flush=True,
            )


def print_lowest() -> None:
    """Print the coverage of some kinds, from more suites."""
    print(f"{AGAIN} suites each")
    for population, errors, tasks, tries in LOWEST:
        for other, cell in cells(population, errors, tasks, tries, AGAIN):
            print(
                f"{tasks:>4} tasks {tries} tries  with {other:<5}  {cell.name}: share "
                f"{cell.share_held:.3f}, agreement {cell.agreement_held:.3f}",
                flush=True,
            )


def main() -> None:
    """Print one table or the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--again", action="store_true")
    if parser.parse_args().again:
        print_lowest()
    else:
        print_sizes()


if __name__ == "__main__":
    main()
