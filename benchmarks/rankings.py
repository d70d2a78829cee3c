"""Ranks of ten agents from known populations: a simulation through the SQL of the package.

Each repetition is a suite of its own; all suites of a setting are built at once. The truth is that
of the tasks drawn: ranks are about these tasks.

    python benchmarks/rankings.py                     # everything, a quarter of an hour
    python benchmarks/rankings.py --repetitions 50
"""

from __future__ import annotations

import argparse
import random
import statistics
from typing import TYPE_CHECKING, Final, NamedTuple

import duckdb
from comparisons import POPULATIONS
from edges import Task, database_of, passes

if TYPE_CHECKING:
    from collections.abc import Iterator

AGENTS: Final = 10
ATTEMPTS: Final = 8
KS: Final = {"pass_hat_k": 4, "pass_at_k": 2}
EQUAL: Final = 1e-12


class Setting(NamedTuple):
    """A suite, and how its agents differ."""

    name: str
    population: str
    tasks: int
    falls: float
    """By which share of its rate each agent is worse than the one before it, at every task."""
    own: float
    """At which share of the tasks an agent has a rate of its own."""
    far: float = 0.0
    """By which share all but the first agent are worse."""


SETTINGS: Final = (
    Setting("equal agents", "U-shaped", 48, 0.0, 0.0),
    Setting("equal agents", "spiked", 48, 0.0, 0.0),
    Setting("each 3 % worse", "middling", 48, 0.03, 0.0),
    Setting("each 2 % worse", "U-shaped", 200, 0.02, 0.0),
    Setting("each 2 % worse", "middling", 20, 0.02, 0.0),
    Setting("one far ahead", "U-shaped", 48, 0.0, 0.0, 0.2),
    Setting("one a little ahead", "middling", 48, 0.0, 0.0, 0.05),
    Setting("tasks of their own", "U-shaped", 48, 0.0, 0.2),
    Setting("tasks of their own, each 1 % worse", "spiked", 100, 0.01, 0.2),
)


def drawn(dice: random.Random, setting: Setting, suite: str) -> Iterator[Task]:
    rate_of = POPULATIONS[setting.population]
    shared = [rate_of(dice) for _ in range(setting.tasks)]
    for agent in range(AGENTS):
        left = (1 - setting.falls * agent) * (1 - setting.far if agent else 1)
        for task, common in enumerate(shared):
            rate = left * (rate_of(dice) if dice.random() < setting.own else common)
            c = passes(dice, ATTEMPTS, rate)
            yield Task(suite, f"agent {agent}", f"task {task}", rate, ATTEMPTS, c)


def values(tasks: list[Task], metric: str, k: int) -> dict[tuple[str, str], float]:
    """Give the true value of each run on its own tasks."""
    found: dict[tuple[str, str], list[float]] = {}
    for task in tasks:
        score = task.rate**k if metric == "pass_hat_k" else 1 - (1 - task.rate) ** k
        found.setdefault((task.suite, task.run_id), []).append(score)
    return {run: sum(scores) / len(scores) for run, scores in found.items()}


def measured(setting: Setting, repetitions: int, dice: random.Random) -> None:
    tasks = [
        task for place in range(repetitions) for task in drawn(dice, setting, f"suite {place}")
    ]
    rows: list[tuple[str, str, str, int, int, bool, float, float | None]]
    with (
        database_of(tasks, sorted(KS.values(), reverse=True), "passk_rankings") as database,
        duckdb.connect(str(database), read_only=True) as connection,
    ):
        rows = connection.execute(
            "select suite, run_id, metric, rank_lower, rank_upper, may_be_best, estimate, estimate_of_top "
            "from passk_rankings where metric = 'pass_hat_k' and k = 4 or metric = 'pass_at_k' and k = 2"
        ).fetchall()
    for metric, k in KS.items():
        truth = values(tasks, metric, k)
        wrong: dict[str, set[str]] = {"best": set(), "ranks": set()}
        named = width = 0
        # How far the value of the top is above the true one, as it is and without its luck.
        above: dict[str, tuple[float, float]] = {}
        for suite, run, of, lower, upper, may_be_best, estimate, of_top in rows:
            if of != metric:
                continue
            mine = truth[suite, run]
            others = [truth[suite, f"agent {agent}"] for agent in range(AGENTS)]
            first = 1 + sum(other > mine + EQUAL for other in others)
            last = AGENTS - sum(other < mine - EQUAL for other in others)
            if first == 1 and not may_be_best:
                wrong["best"].add(suite)
            if lower > first or upper < last:
                wrong["ranks"].add(suite)
            if of_top is not None:
                above[suite] = (estimate - mine, of_top - mine)
            named += may_be_best
            width += upper - lower + 1
        best, ranks = (1 - len(wrong[which]) / repetitions for which in ("best", "ranks"))
        symbol = f"pass^{k}" if metric == "pass_hat_k" else f"pass@{k}"
        print(
            f"| {setting.name} | {setting.population}, {setting.tasks} tasks | {symbol} | {best:.3f} "
            f"| {ranks:.3f} | {named / repetitions:.1f} | {width / repetitions / AGENTS:.1f} "
            + "".join(
                f"| {100 * statistics.fmean(each):+.1f}, {sum(one > 0 for one in each) / len(each):.2f} "
                for each in zip(*above.values(), strict=True)
            )
            + "|",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(
        "| agents | tasks | metric | every best run is among those that may be | all ranks hold | runs that may be the best | ranks in an interval "
        "| estimate of the top, points off, too high in | estimate_of_top |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    dice = random.Random(asked.seed)
    for setting in SETTINGS:
        measured(setting, asked.repetitions, dice)


if __name__ == "__main__":
    main()
