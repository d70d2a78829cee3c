"""How often a gate with a rolling baseline is wrong, and how often it decides, beside a gate on the run before.

    python benchmarks/rolling.py

The same tasks are tried night after night. All chances of a night move together on the logit scale, by nothing or by a standard
deviation of 0.3, as if a service behind the agent were better on some nights. First the limits: how often they hold the difference
between the last night's value and the long-run mean. Then the gates, for a true drop of nothing, of as much as the rule allows, and more.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Final

import polars as pl

import passk_py as pk
from passk_py.metrics.gates.rolling_drop import line_of
from passk_py.stats.distributions import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

K: Final = 4
Z: Final = normal_quantile(0.95)
REPETITIONS: Final = 400
POPULATIONS: Final[dict[str, Callable[[random.Random], float]]] = {
    "perfect": lambda _: 1.0,
    "all .98": lambda _: 0.98,
    "all .9": lambda _: 0.9,
    "near 1": lambda dice: dice.betavariate(19, 1),
    "middling": lambda dice: dice.betavariate(2, 2),
    "U-shaped": lambda dice: dice.betavariate(0.5, 0.5),
}


def moved(chance: float, by: float) -> float:
    """Move a chance on the logit scale."""
    if chance in (0.0, 1.0):
        return chance
    return 1 / (1 + math.exp(-math.log(chance / (1 - chance)) - by))


def value(chances: list[float]) -> float:
    """Give pass^k of the tasks."""
    return math.fsum(chance**K for chance in chances) / len(chances)


def lowered(chances: list[float], drop: float) -> list[float]:
    """Multiply all chances by what lowers pass^k by so much."""
    factor = max(1 - drop / value(chances), 0) ** (1 / K)
    return [chance * factor for chance in chances]


def tried(chances: list[float], attempts: int, dice: random.Random) -> dict[str, tuple[int, int]]:
    """Draw a night: n and c of each task."""
    return {
        f"t{task}": (attempts, sum(dice.random() < chance for _ in range(attempts)))
        for task, chance in enumerate(chances)
    }


def shifts(nights: int, drift: float, takes_after: float, dice: random.Random) -> list[float]:
    """Draw the shifts of nights, of which each takes so much after the one before."""
    found = [dice.gauss(0, drift)]
    for _ in range(nights - 1):
        fresh = dice.gauss(0, drift) * math.sqrt(1 - takes_after**2)
        found.append(takes_after * found[-1] + fresh)
    return found


def coverage(
    population: str, drift: float, runs: int, tasks: int, attempts: int, takes_after: float = 0.0
) -> float:
    """Give how often the limits hold the difference that the last night makes."""
    dice = random.Random(f"{population} {drift} {runs} {tasks} {attempts}")
    rates = [POPULATIONS[population](dice) for _ in range(tasks)]
    level = sum(value([moved(rate, dice.gauss(0, drift)) for rate in rates]) for _ in range(400))
    held = 0
    for repetition in range(REPETITIONS):
        nights = [
            [moved(rate, shift) for rate in rates]
            for shift in shifts(runs + 1, drift, takes_after, dice)
        ]
        # Half of the candidates have fallen.
        nights[0] = lowered(nights[0], 0.05 * (repetition % 2) * value(nights[0]))
        mine, *earlier = (tried(night, attempts, dice) for night in nights)
        line = line_of(mine, earlier, "pass_hat_k", K, Z, 0.95)
        if line.reach is None:
            raise AssertionError
        truth = value(nights[0]) - level / 400
        held += abs(line.candidate - line.baseline - truth) <= line.reach
    return held / REPETITIONS


def results(drift: float, drop: float, allowed: float) -> dict[str, str]:
    """Give the shares of passes and fails of gates on the 6 runs before and on the run before."""
    dice = random.Random(f"{drift} {drop}")
    found: dict[str, list[str]] = {"6 runs before": [], "run before": []}
    for _ in range(100):
        rates = [dice.betavariate(6, 1) for _ in range(50)]
        rows = []
        for night in range(7):
            shift = dice.gauss(0, drift)
            chances = [moved(rate, shift) for rate in rates]
            if night == 6:
                chances = lowered(chances, drop)
            rows += [
                {"run_id": f"n{night}", "task_id": task, "attempt": number, "passed": number <= c}
                for task, (n, c) in tried(chances, 8, dice).items()
                for number in range(1, n + 1)
            ]
        rule = {"type": "drop", "metric": "pass_hat_k", "k": K, "max_drop": allowed}
        rules = [
            {**rule, "name": "6 runs before", "baseline": {"last": 6}},
            {**rule, "name": "run before", "baseline": "n5"},
        ]
        table = pk.judge_gates(pl.DataFrame(rows), rules, k=K, ordered=False)
        for gate, run, result in table.select("gate", "run_id", "result").rows():
            if run == "n6":
                found[gate].append(result)
    return {
        gate: f"pass {given.count('pass') / 100:.2f}, fail {given.count('fail') / 100:.2f}"
        for gate, given in found.items()
    }


def main() -> None:
    """Print both tables."""
    print(
        f"Coverage of 95 % limits, {REPETITIONS} nights a cell: least over T = 10, 50, 200 and n = 4, 8"
    )
    for population in POPULATIONS:
        for drift in (0.0, 0.3):
            cells = {
                runs: min(
                    coverage(population, drift, runs, tasks, attempts)
                    for tasks in (10, 50, 200)
                    for attempts in (4, 8)
                )
                for runs in (3, 6, 12)
            }
            said = "  ".join(f"last {runs}: {least:.3f}" for runs, least in cells.items())
            print(f"{population:>9}  drift {drift}  {said}", flush=True)
    print("\nEach night takes .8 after the one before, 50 tasks x 8, drift 0.3")
    for population in ("near 1", "middling"):
        cells = {runs: coverage(population, 0.3, runs, 50, 8, 0.8) for runs in (3, 6, 12)}
        print(f"{population:>9}  {cells}", flush=True)
    print("\nGates that allow a drop of 0.10, 50 tasks x 8, 100 candidates a row")
    for drift in (0.0, 0.3):
        for drop in (0.0, 0.1, 0.3):
            print(f"drift {drift}  true drop {drop}  {results(drift, drop, 0.1)}", flush=True)


if __name__ == "__main__":
    main()
