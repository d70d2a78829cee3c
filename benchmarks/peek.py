"""The cost of an answer from a log alone, as ratios to a script that computes the pass rates of the same log.

    python benchmarks/peek.py --attempts 10000 100000 1000000

For each size, a log of four runs with 20 attempts of each task is written as JSON lines. Then, each in a process of its own:

- polars reads the log and computes the mean verdict of each run, as a person without passk would,
- ``passk peek`` prints the answer,
- ``passk load``, ``passk build --no-tests`` and ``passk show`` print the same answer, with a database and dbt.

Wall and CPU seconds and peak memory are the least of the repetitions; read the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

RUNS = 4
PER_TASK = 20
MEANS = """
import sys, polars as pl
log = pl.scan_ndjson(sys.argv[1])
print(log.group_by("run_id").agg(pl.col("passed").mean()).sort("run_id").collect())
"""
PASSK = (sys.executable, "-m", "passk_py")


class Cost(NamedTuple):
    """The cost of a process and of those that it started."""

    wall: float
    cpu: float
    peak_mib: float

    def __str__(self) -> str:
        return f"{self.wall:7.2f} s wall {self.cpu:7.2f} s CPU {self.peak_mib:7.0f} MiB"


def write_log(path: Path, attempts: int) -> None:
    """Write a log whose tasks are as hard as chance has it."""
    dice = random.Random(attempts)
    with path.open("w", encoding="utf-8") as file:
        for run in range(RUNS):
            for task in range(attempts // (RUNS * PER_TASK)):
                rate = dice.random()
                for attempt in range(1, PER_TASK + 1):
                    row = {
                        "run_id": f"run-{run}",
                        "task_id": f"task-{task}",
                        "attempt": attempt,
                        "passed": dice.random() < rate,
                        "agent": f"agent-{run % 2}",
                    }
                    file.write(json.dumps(row) + "\n")


def cost_of(
    commands: list[list[str]], folder: Path, results: Collection[int] = frozenset({0})
) -> Cost:
    """Run commands one after the other, and add up what they cost; ``results`` are the exit codes that they may give."""
    wall = cpu = peak = 0.0
    for command in commands:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in results:
            raise SystemExit(f"{command} ended with {process.returncode}")
        wall += time.perf_counter() - start
        cpu += used.ru_utime + used.ru_stime
        peak = max(peak, used.ru_maxrss / 1024)
    return Cost(wall, cpu, peak)


def main() -> None:
    """Write the logs, and print what each way costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    for attempts in asked.attempts:
        with tempfile.TemporaryDirectory(prefix="passk-benchmark-") as made:
            folder = Path(made)
            log = folder / "log.jsonl"
            write_log(log, attempts)
            found: dict[str, list[Cost]] = {"means": [], "peek": [], "load, build, show": []}
            for number in range(asked.repeat):
                database = ["--database", f"{number}.duckdb"]
                ways = {
                    "means": [[sys.executable, "-c", MEANS, str(log)]],
                    "peek": [[*PASSK, "peek", str(log)]],
                    "load, build, show": [
                        [*PASSK, "load", str(log), *database],
                        [*PASSK, "build", "--no-tests", *database],
                        [*PASSK, "show", *database],
                    ],
                }
                for way, commands in ways.items():
                    found[way].append(cost_of(commands, folder))
            print(f"{attempts:,} attempts")
            base = Cost(*map(min, zip(*found["means"], strict=True)))
            for way, costs in found.items():
                least = Cost(*map(min, zip(*costs, strict=True)))
                ratio = f"{least.wall / base.wall:6.1f} x wall {least.cpu / base.cpu:6.1f} x CPU"
                print(f"  {way:18} {least} {ratio}")


if __name__ == "__main__":
    main()
