"""How often a trend is seen where there is none, and where there is one.

    python benchmarks/trends.py

The same tasks are tried in run after run. All chances of a run move together on the logit scale, by nothing or by a standard deviation
of 0.3; in half of the rows pass^4 falls by a share of its level in every run.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Final

import polars as pl
from rolling import POPULATIONS, K, lowered, moved, tried, value

from passk_py.metrics.trends import lines_of_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

REPETITIONS: Final = 300


def frames_of(frames: Mapping[str, pl.DataFrame]) -> Callable[[str, str], pl.DataFrame]:
    """Give the counts of a run, whatever its suite."""
    return lambda run_id, _: frames[run_id]


def verdicts(
    population: str, drift: float, runs: int, tasks: int, fall: float, takes_after: float = 0.0
) -> Mapping[str, int]:
    """Count the verdicts on agents whose pass^4 falls by so much of its level in each run.

    Each shift takes so much after the one before.
    """
    dice = random.Random(f"{population} {drift} {runs} {tasks} {fall}")
    found = dict.fromkeys(("rising", "falling", "no_trend"), 0)
    line = [
        {
            "run_id": f"r{place:02}",
            "suite": "s",
            "agent": "a",
            "started_at": None,
            "loaded_at": place,
        }
        for place in range(runs)
    ]
    for _ in range(REPETITIONS):
        rates = [POPULATIONS[population](dice) for _ in range(tasks)]
        frames, shift = {}, 0.0
        for place, run in enumerate(line):
            fresh = dice.gauss(0, drift)
            if place:
                fresh *= math.sqrt(1 - takes_after**2)
            shift = takes_after * shift + fresh
            chances = [moved(rate, shift) for rate in rates]
            counts = tried(lowered(chances, fall * place * value(chances)), 8, dice)
            frames[str(run["run_id"])] = pl.DataFrame(
                [(task, n, c) for task, (n, c) in counts.items()],
                schema=["task_id", "n", "c"],
                orient="row",
            )
        table = lines_of_runs(
            line,
            frames_of(frames),
            [K],
            most_runs=runs,
            confidence=0.95,
            min_eligible_share=0.95,
        )
        (verdict,) = table.filter(metric="pass_hat_k")["verdict"]
        found[verdict] += 1
    return found


def main() -> None:
    """Print the shares of verdicts."""
    print(
        f"{REPETITIONS} agents a cell, 8 attempts, pass^{K}: most over T = 10, 50 of trends that are not there"
    )
    for population in POPULATIONS:
        for drift in (0.0, 0.3):
            cells = {}
            for runs in (5, 8, 12):
                most = 0
                for tasks in (10, 50):
                    seen = verdicts(population, drift, runs, tasks, 0.0)
                    most = max(most, seen["rising"] + seen["falling"])
                cells[f"{runs} runs"] = round(most / REPETITIONS, 3)
            print(f"{population:>9}  drift {drift}  {cells}", flush=True)
    print(
        "\nTrends that are not there, each run takes .8 after the one before, 50 tasks, drift 0.3"
    )
    for population in ("near 1", "middling"):
        shares = {}
        for runs in (5, 8, 12):
            seen = verdicts(population, 0.3, runs, 50, 0.0, 0.8)
            shares[f"{runs} runs"] = (seen["rising"] + seen["falling"]) / REPETITIONS
        print(f"{population:>9}  {shares}", flush=True)
    print("\nFalls that are seen, 50 tasks, near 1")
    for drift in (0.0, 0.3):
        for fall in (0.02, 0.05):
            shares = {
                f"{runs} runs": verdicts("near 1", drift, runs, 50, fall)["falling"] / REPETITIONS
                for runs in (5, 8, 12)
            }
            print(f"drift {drift}  a run loses {fall:.0%}  {shares}", flush=True)


if __name__ == "__main__":
    main()
