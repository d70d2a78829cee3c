"""How often the limits of a whole curve over k hold at once: simulations.

Runs are drawn from populations of tasks with known moments. Of each run, the limits for tasks like
these are made at every k, by the formula of the tables (``mean_lower`` and ``mean_upper``). Counted
is how often they hold the truth at one k, and how often at all k of the curve. Beside it stands the
critical value: how many standard errors around the estimates hold the whole truth in 95 % of the
runs.

    python benchmarks/curves.py                  # a minute or two
    python benchmarks/curves.py --runs 10000
"""

from __future__ import annotations

import argparse
import math
import random
from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.stats.estimators import mean_lower, mean_upper

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ATTEMPTS: Final = 16
TASKS: Final = (20, 50, 100, 200)
CURVES: Final = (3, 5, 8, 16)
"""The last k of a curve that starts at 1."""
LEVELS: Final = (0.95, 0.99)


def beta(a: float, b: float) -> Callable[[int], float]:
    """Give the moments of a beta distribution."""
    return lambda m: math.prod((a + i) / (a + b + i) for i in range(m))


MOMENTS: Final[dict[str, Callable[[int], float]]] = {
    "Beta(.5, .5)": beta(0.5, 0.5),
    "Beta(2, 2)": beta(2, 2),
    "Beta(.3, 3), hard": beta(0.3, 3),
    "Beta(19, 1), saturated": beta(19, 1),
    "half .2, half .95": lambda m: (0.2**m + 0.95**m) / 2,
    "60 % solved, 20 % hopeless": lambda m: 0.6 * 1.0 + 0.2 * (m == 0) + 0.2 / (m + 1),
}


@dataclass(frozen=True)
class Shares:
    """How often the limits hold, and how far they would have to reach."""

    one: dict[float, float]
    every: dict[float, float]
    critical: float
    undefined: float
    """Share of the runs in which some k has no standard error and misses the truth."""


def chances_of_counts(moment: Callable[[int], float]) -> list[float]:
    """Give the chance of each c, from the moments of p."""
    n = ATTEMPTS
    return [
        max(
            0.0,
            math.comb(n, c)
            * math.fsum((-1) ** j * math.comb(n - c, j) * moment(c + j) for j in range(n - c + 1)),
        )
        for c in range(n + 1)
    ]


def simulate(
    dice: random.Random, moment: Callable[[int], float], tasks: int, runs: int
) -> pl.DataFrame:
    """Give mean, variance and truth of pass^k at every k of every run."""
    n = ATTEMPTS
    chances = chances_of_counts(moment)
    scores = {k: [math.comb(c, k) / math.comb(n, k) for c in range(n + 1)] for k in range(1, n + 1)}
    rows = []
    for run in range(runs):
        drawn = Counter(dice.choices(range(n + 1), chances, k=tasks))
        for k, score in scores.items():
            mean = math.fsum(times * score[c] for c, times in drawn.items()) / tasks
            squares = math.fsum(times * (score[c] - mean) ** 2 for c, times in drawn.items())
            rows.append((run, k, mean, squares / (tasks - 1), moment(k)))
    return pl.DataFrame(
        rows, schema=["run", "k", "mean", "variance", "truth"], orient="row"
    ).with_columns(z=(pl.col("mean") - pl.col("truth")).abs() / (pl.col("variance") / tasks).sqrt())


def shares(frame: pl.DataFrame, tasks: int, last: int) -> Shares:
    """Count over a curve."""
    curve = frame.filter(pl.col("k") <= last)
    one, every = {}, {}
    for level in LEVELS:
        held = curve.select(
            "run",
            held=(mean_lower("mean", "variance", tasks, confidence=level) <= pl.col("truth"))
            & (mean_upper("mean", "variance", tasks, confidence=level) >= pl.col("truth")),
        )
        one[level] = float(held.select(pl.col("held").mean()).item())
        every[level] = float(held.group_by("run").agg(pl.col("held").all())["held"].mean())  # type: ignore[arg-type]  # a number
    farthest = curve.group_by("run").agg(pl.col("z").max())["z"]
    quantile = farthest.quantile(0.95, interpolation="higher")
    return Shares(
        one, every, math.inf if quantile is None else quantile, fmean(farthest.is_infinite())
    )


def table(names: Sequence[str], runs: int, seed: int) -> None:
    """Print a table of the populations and one of all of them."""
    total: dict[int, list[Shares]] = {last: [] for last in CURVES}
    print(
        "| population | tasks | k | one k at 0.95 | all k at 0.95 | all k at 0.99 | critical value | misses at an SE of 0 |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in names:
        for tasks in TASKS:
            frame = simulate(random.Random(seed), MOMENTS[name], tasks, runs)
            for last in CURVES:
                found = shares(frame, tasks, last)
                total[last].append(found)
                print(
                    f"| {name} | {tasks} | 1 to {last} | {found.one[0.95]:.3f} |"
                    f" {found.every[0.95]:.3f} | {found.every[0.99]:.3f} | {found.critical:.2f} |"
                    f" {found.undefined:.3f} |",
                    flush=True,
                )
    print(
        "\n| k | one k at 0.95 | all k at 0.95: mean | least | all k at 0.99: mean | least | critical value: middle |"
    )
    print("|---|---|---|---|---|---|---|")
    for last, settings in total.items():
        every = {level: [found.every[level] for found in settings] for level in LEVELS}
        middle = sorted(found.critical for found in settings)[len(settings) // 2]
        print(
            f"| 1 to {last} | {fmean(found.one[0.95] for found in settings):.3f} |"
            f" {fmean(every[0.95]):.3f} | {min(every[0.95]):.3f} |"
            f" {fmean(every[0.99]):.3f} | {min(every[0.99]):.3f} | {middle:.2f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=2000, help="runs of each setting")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    table(list(MOMENTS), options.runs, options.seed)


if __name__ == "__main__":
    main()
