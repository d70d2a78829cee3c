"""How often a gate that is looked at after every task is wrong, and how often it decides.

    python benchmarks/sequential.py

Suites come from populations with a known pass^4: all tasks alike, all or nothing, and three between. An agent exactly at the
threshold must not pass; one above it should. A part of the suites is built with dbt, and the table must say the same.
"""

from __future__ import annotations

import math
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

import passk_py as pk
from passk_py.metrics.gates.sequential import growth
from passk_py.stats.distributions import student_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

K: Final = 4
NEEDED: Final = math.log(40)
SUITES: Final = 1000
MOST: Final = 400
BETS: Final = [(2 * number + 1) / 40 for number in range(20)]


def beta_rate(strength: float, target: float) -> Callable[[random.Random], float]:
    """Give chances from a Beta distribution with a + b = strength, whose mean p^4 is the target."""
    low, high = 0.0, 1.0
    for _ in range(60):
        mean = (low + high) / 2
        moment = math.prod((mean * strength + i) / (strength + i) for i in range(K))
        low, high = (mean, high) if moment < target else (low, mean)
    a = low * strength
    return lambda dice: dice.betavariate(a, strength - a)


def populations(target: float) -> dict[str, Callable[[random.Random], float]]:
    """Give how the chance of a task is drawn, by name."""
    alike = target ** (1 / K)
    return {
        "alike": lambda _: alike,
        "all or nothing": lambda dice: float(dice.random() < target),
        "spread": beta_rate(1.0, target),
        "some spread": beta_rate(4.0, target),
        "little spread": beta_rate(20.0, target),
    }


def draws(
    rate: Callable[[random.Random], float], attempts: int, tasks: int, dice: random.Random
) -> list[list[bool]]:
    """Draw the attempts of the tasks of a suite."""
    found = []
    for _ in range(tasks):
        chance = rate(dice)
        found.append([dice.random() < chance for _ in range(attempts)])
    return found


def first_pass(scores: list[float], bar: float) -> int | None:
    """Give the number of tasks at which the gate passes first, if it does."""
    known = {
        score: [math.log(1 + bet * (score / bar - 1)) for bet in BETS] for score in set(scores)
    }
    logs = [0.0] * len(BETS)
    for tasks, score in enumerate(scores, 1):
        logs = [log + step for log, step in zip(logs, known[score], strict=True)]
        if max(logs) >= NEEDED:
            highest = max(logs)
            mean = sum(math.exp(log - highest) for log in logs) / len(logs)
            if highest + math.log(mean) >= NEEDED:
                return tasks
    return None


def passes_once(scores: list[float], bar: float) -> bool:
    """Tell whether a usual gate passes, looked at once."""
    padded = [*scores, 0.0, 1.0]
    mean = sum(padded) / len(padded)
    squares = sum((score - mean) ** 2 for score in padded)
    error = math.sqrt(squares / (len(padded) - 1) / len(padded))
    return mean - student_quantile(len(padded) - 1, 0.95) * error >= bar


def score(passed: list[bool]) -> float:
    """Give pass^4 of a task."""
    return math.comb(sum(passed), K) / math.comb(len(passed), K)


def measured(bar: float, target: float, attempts: int, tasks: int) -> None:
    """Print what the populations give at a threshold and a true value."""
    for name, rate in populations(target).items():
        dice = random.Random(f"{name} {bar} {target} {attempts}")
        ever = usual = every_20 = 0
        at: list[int] = []
        for _ in range(SUITES):
            scores = [score(passed) for passed in draws(rate, attempts, tasks, dice)]
            found = first_pass(scores, bar)
            ever += found is not None
            at += [found] if found else []
            usual += passes_once(scores, bar)
            every_20 += any(passes_once(scores[:seen], bar) for seen in range(20, tasks + 1, 20))
        median = sorted(at)[len(at) // 2] if at else "-"
        print(
            f"| {bar} | {target} | {attempts} | {tasks} | {name} | {ever / SUITES:.3f} | {median} | {usual / SUITES:.3f} | {every_20 / SUITES:.3f} |",
            flush=True,
        )


def from_tables(suites: int = 60, tasks: int = 200) -> None:
    """Build suites with dbt, and hold the table against the evidence of the same scores."""
    dice = random.Random(5)
    rate = beta_rate(4.0, 0.88)
    made = {f"r{number}": draws(rate, 8, tasks, dice) for number in range(suites)}
    rows = [
        {
            "run_id": run,
            "suite": "s",
            "task_id": f"t{task}",
            "attempt": number,
            "passed": passed,
            "agent": run,
        }
        for run, drawn in made.items()
        for task, verdicts in enumerate(drawn)
        for number, passed in enumerate(verdicts, 1)
    ]
    gate = {
        "name": "g", "type": "threshold", "metric": "pass_hat_k", "k": K, "min": 0.8, "run": "all", "sequential": True,
        "attempts": 8, "severity": "ignore", "inconclusive": "ignore",
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        log, database = Path(folder) / "log.jsonl", Path(folder) / "log.duckdb"
        pl.DataFrame(rows).write_ndjson(log)
        pk.load(str(log), database=database)
        pk.build(database, variables={"passk_gates": [gate], "passk_ranked_runs": 2}, tests=False)
        table = pk.read_table("passk_gates", database=database)
    passed = 0
    for row in table.iter_rows(named=True):
        scores: dict[float, int] = {}
        for verdicts in made[row["run_id"]]:
            one = score(verdicts)
            scores[one] = scores.get(one, 0) + 1
        holds = growth(scores, 0.8, above=True) >= NEEDED
        if holds != (row["result"] == "pass"):
            raise SystemExit(
                f"{row['run_id']}: the table says {row['result']}, the scores say otherwise"
            )
        passed += holds
    print(
        f"\nFrom the tables: {passed} of {table.height} suites of {tasks} tasks pass at the last look; the scores say the same of all."
    )


if __name__ == "__main__":
    print(
        "| threshold | true | attempts | tasks | population | passes at some look | median tasks | one look at the end | usual gate, looked at every 20 tasks |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for threshold in (0.5, 0.8, 0.95):
        measured(threshold, threshold, 8, MOST)
    measured(0.8, 0.8, 4, MOST)
    measured(0.8, 0.88, 8, 200)
    measured(0.9, 0.98, 8, 200)
    from_tables()
