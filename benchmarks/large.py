"""Measure what a very large log costs under a limit of memory: to land, to build, and to land and build one more run.

    python benchmarks/large.py --attempts 1000000000 --memory-limit 2GB

The log is one Parquet file per run with a hundred attempts of each task: the fields that a log needs, the agent and the start.
Each file is written, landed by ``passk load`` and removed again, so that the disk has to hold the database and one file. Then
``passk build --no-tests``, and the same for one more run, of a hundredth of the attempts. Each command is a process of its own:
seconds of wall time and of the processor, on all threads, and its peak memory.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
from pathlib import Path

import duckdb
from peek import PASSK, Cost, cost_of

RUNS = 10
TRIES = 100
DATABASE = "log.duckdb"


def write(file: Path, run: int, tasks: int) -> None:
    """Write the log of a run, attempts in rounds over the tasks as a harness executes them."""
    with duckdb.connect(config={"memory_limit": "2GB", "temp_directory": str(file.parent)}) as made:
        made.execute(
            f"""
            copy (
                select
                    'run-{run:02d}' as run_id, 'bench' as suite, 'task-' || task as task_id, attempt,
                    case
                        when hash(task, attempt, {run}, 1) % 100 < 2 then 'excluded'
                        when hash(task, attempt, {run}, 2) % 100 < task % 101 then 'passed'
                        else 'failed'
                    end as outcome,
                    'agent {run % 4}' as agent, 'v{run}' as agent_version,
                    timestamp '2026-01-01' + to_days({run}) + to_seconds(attempt) as started_at
                from range(1, {TRIES} + 1) as rounds (attempt)
                cross join range({tasks}) as tasks (task)
            ) to '{file}' (format parquet)
            """
        )


def measured(name: str, command: list[str], folder: Path) -> Cost:
    """Run a command of passk, print what it cost, and give that."""
    cost = cost_of([[*PASSK, *command, "--database", DATABASE]], folder)
    print(f"{name:20} {cost}", flush=True)
    return cost


def land(folder: Path, run: int, tasks: int) -> Cost:
    """Write the log of a run, land it, and remove it."""
    file = folder / f"run-{run:02d}.parquet"
    # In a process of its own: the peak memory of a child begins with what its parent had.
    writer = multiprocessing.get_context("spawn").Process(target=write, args=(file, run, tasks))
    writer.start()
    writer.join()
    cost = measured(f"load of {file.stat().st_size / 1e6:,.0f} MB", ["load", str(file)], folder)
    file.unlink()
    return cost


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--attempts", type=int, default=100_000_000)
    parser.add_argument("--memory-limit", default="2GB")
    given = parser.parse_args()
    os.environ["PASSK_MEMORY_LIMIT"] = given.memory_limit
    tasks = given.attempts // RUNS // TRIES
    print(f"{RUNS} runs of {tasks:,} tasks, {TRIES} attempts each, limit {given.memory_limit}")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        loads = [land(folder, run, tasks) for run in range(RUNS)]
        wall, cpu, peaks = zip(*loads, strict=True)
        print(f"{'all loads':20} {Cost(sum(wall), sum(cpu), max(peaks))}")
        print(f"the database has {(folder / DATABASE).stat().st_size / 1e6:,.0f} MB")
        build = ["build", "--no-tests"]
        measured("first build", build, folder)
        land(folder, RUNS, tasks // RUNS)
        measured("build of 1 % more", build, folder)


if __name__ == "__main__":
    main()
