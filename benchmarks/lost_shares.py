"""How often limits of shares of the lost pass^k hold the share of tasks like those of the log."""

from __future__ import annotations

import math
import sys
from functools import lru_cache
from typing import Final

import numpy as np

from passk_py.stats.distributions import student_quantile

LOGS: Final = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
TASKS: Final = 400_000
"""Tasks of a population, of which a log has some."""
AGENTS: Final = ("u-shaped", "middling", "near one", "spike", "saturated", "mixture")
CAUSES: Final = ("own rate", "rare", "one rate", "broken tasks", "hard tasks")
SIZES: Final = ((4, 1), (4, 4), (8, 4), (8, 8), (20, 8))
DICE: Final = np.random.default_rng(7)

quantile = lru_cache(None)(lambda degrees: student_quantile(degrees, 0.95))


def chances(agent: str) -> np.ndarray:
    """Draw the chance of each task of a population to pass."""
    u = DICE.random(TASKS)
    if agent == "u-shaped":
        return DICE.beta(0.5, 0.5, TASKS)
    if agent == "middling":
        return DICE.beta(2, 2, TASKS)
    if agent == "near one":
        return DICE.beta(19, 1, TASKS)
    if agent == "spike":
        return np.where(u < 0.6, 1, np.where(u < 0.8, 0, DICE.random(TASKS)))
    if agent == "saturated":
        return np.where(u < 0.9, 1, DICE.beta(2, 2, TASKS))
    return np.where(u < 0.5, 0.95, 0.2)


def rates(causes: str, p: np.ndarray) -> np.ndarray:
    """Draw the chance of a failure of each task to be of the part."""
    if causes == "own rate":
        return DICE.beta(0.6, 1.4, TASKS)
    if causes == "rare":
        return DICE.beta(0.05, 1, TASKS)
    if causes == "one rate":
        return np.full(TASKS, 0.3)
    if causes == "broken tasks":
        return np.where(DICE.random(TASKS) < 0.1, 1.0, 0.0)
    return (1 - p) ** 2


def limits(lost: np.ndarray, whole: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the limits of many logs, one a row, from the losses of their draws."""
    total, squared = whole.sum(1), (whole**2).sum(1)
    share, units, size = lost.sum(1) / total, total**2 / squared, squared / total
    squares = ((lost - share[:, None] * whole) ** 2).sum(1) / size**2
    middle = (units * share + 1) / (units + 2)
    squares += units * (share - middle) ** 2 + middle**2 + (1 - middle) ** 2
    error = np.sqrt(squares / ((units + 1) * (units + 2)))
    reach = np.array([quantile(math.floor(u + 1.5)) for u in units]) * error
    return np.clip(middle - reach, 0, 1), np.clip(middle + reach, 0, 1)


def coverage(p: np.ndarray, of_part: np.ndarray, n: int, k: int, tasks: int, size: int) -> float:
    """Say how often the limits hold the population's share; ``size`` tasks of a family are alike."""
    loss = 1 - p**k
    truth = (loss * of_part).sum() / loss.sum()
    drawn = DICE.integers(0, TASKS, (LOGS, tasks // size)).repeat(size, 1)
    failures = n - DICE.binomial(n, p[drawn])
    parts = DICE.binomial(failures, of_part[drawn])
    whole = np.array([1 - math.comb(n - f, k) / math.comb(n, k) for f in range(n + 1)])[failures]
    lost = whole * parts / np.maximum(failures, 1)
    lost, whole = (one.reshape(LOGS, -1, size).sum(2) for one in (lost, whole))
    there = whole.sum(1) > 0
    lower, upper = limits(lost[there], whole[there])
    return float(((lower <= truth) & (truth <= upper)).mean())


def main() -> None:
    """Print the least and the mean coverage, with and without families."""
    found: dict[int, list[float]] = {1: [], 5: []}
    for agent in AGENTS:
        p = chances(agent)
        for causes in CAUSES:
            of_part = rates(causes, p)
            for n, k in SIZES:
                for tasks in (10, 20, 50, 100, 300):
                    for size in (1, 5) if tasks >= 50 else (1,):
                        found[size].append(coverage(p, of_part, n, k, tasks, size))
    for size, covered in found.items():
        told = f"least {min(covered):.3f}, mean {sum(covered) / len(covered):.3f}"
        print(f"{size} tasks a family: {len(covered)} settings, {told}")


if __name__ == "__main__":
    main()
