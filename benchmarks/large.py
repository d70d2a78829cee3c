"""Measure what a very large log costs under a limit of memory: to land, to build, and to land and build one more run.

    python benchmarks/large.py --attempts 1000000000 --memory-limit 2GB

The log is one Parquet file per run with a hundred attempts of each task: the fields that a log needs, the agent and the start.
Each file is written, landed by ``passk load`` and removed again, so that the disk has to hold the database and one file. Then
``passk build --no-tests``, and the same for one more run, of a hundredth of the attempts. Each command is a process of its own:
seconds of wall time and of the processor, on all threads, and its peak memory.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from memory import peak_mib

RUNS = 10
TRIES = 100


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


def measured(name: str, command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Run a command, print what it cost, and give its seconds."""
    start = time.perf_counter()
    before = os.times()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, peak_mib(process.pid) or 0)
        time.sleep(0.05)
    after = os.times()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {process.returncode}")
    wall = time.perf_counter() - start
    cpu = sum(after[2:4]) - sum(before[2:4])
    print(f"{name:24} {wall:8.1f} s {cpu:8.1f} CPU {peak:8.0f} MiB", flush=True)
    return wall, cpu


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--attempts", type=int, default=100_000_000)
    parser.add_argument("--memory-limit", default="2GB")
    given = parser.parse_args()
    environment = {**os.environ, "PASSK_MEMORY_LIMIT": given.memory_limit}
    passk = [sys.executable, "-m", "passk_py"]
    tasks = given.attempts // RUNS // TRIES
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "log.duckdb"
        to = ["--database", str(database)]

        def land(run: int, tasks: int) -> tuple[float, float]:
            file = Path(folder) / f"run-{run:02d}.parquet"
            write(file, run, tasks)
            size = file.stat().st_size / 1e6
            found = measured(
                f"load of {size:,.0f} MB", [*passk, "load", str(file), *to], environment
            )
            file.unlink()
            return found

        print(
            f"{RUNS} runs of {tasks:,} tasks, {TRIES} attempts each, limit {given.memory_limit}",
            flush=True,
        )
        loads = [land(run, tasks) for run in range(RUNS)]
        wall, cpu = (sum(column) for column in zip(*loads, strict=True))
        print(f"{'all loads':24} {wall:8.1f} s {cpu:8.1f} CPU")
        print(f"the database has {database.stat().st_size / 1e6:,.0f} MB")
        build = [*passk, "build", "--no-tests", *to]
        measured("first build", build, environment)
        land(RUNS, tasks // RUNS)
        measured("build of 1 % more", build, environment)


if __name__ == "__main__":
    main()
