"""How often the diagnostics warn, of logs without a fault and with one, through the SQL.

    python benchmarks/diagnostics.py --runs 400

Simulated runs of each kind land in one database, one build makes `passk_diagnostics` of all, and the
share of warnings at 5 % is counted over the runs that have enough informative tasks. Without a fault
it is the size of a test, with one its power. The Monte-Carlo error of a share s is the root of
s (1 - s) / runs.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable

    Maker = Callable[[random.Random], list[list[bool]]]

TESTS = (
    "serial_dependence",
    "drift",
    "shared_run_effect",
    "batch_effect",
    "window_gap",
    "first_k_gap",
)
START = datetime(2026, 1, 1)  # noqa: DTZ001 -- what the tables hold


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def plain(a: float, b: float, tasks: int, n: int) -> Maker:
    """No fault; the tasks' chances are from a beta distribution."""

    def make(chance: random.Random) -> list[list[bool]]:
        shares = [chance.betavariate(a, b) for _ in range(tasks)]
        return [[chance.random() < p for _ in range(n)] for p in shares]

    return make


def sticky(stick: float, tasks: int, n: int) -> Maker:
    """An attempt repeats the verdict before it with the chance ``stick``."""

    def make(chance: random.Random) -> list[list[bool]]:
        found = []
        for _ in range(tasks):
            p = chance.betavariate(1, 1)
            verdicts = [chance.random() < p]
            while len(verdicts) < n:
                same = chance.random() < stick
                verdicts.append(verdicts[-1] if same else chance.random() < p)
            found.append(verdicts)
        return found

    return make


def shifted(
    tasks: int, n: int, shifts: Callable[[random.Random], list[float]], spread: float = 1.0
) -> Maker:
    """All tasks share a shift of the logit at each attempt."""

    def make(chance: random.Random) -> list[list[bool]]:
        by = shifts(chance)
        logits = [chance.gauss(0, spread) for _ in range(tasks)]
        return [[chance.random() < logistic(one + by[j]) for j in range(n)] for one in logits]

    return make


def sessions(spread: float, tasks: int, n: int) -> Maker:
    """Each half of the attempts of each task has a shift of its own."""

    def make(chance: random.Random) -> list[list[bool]]:
        found = []
        for _ in range(tasks):
            logit = chance.gauss(0, 1)
            by = [chance.gauss(0, spread) for _ in range(2)]
            found.append([chance.random() < logistic(logit + by[2 * j // n]) for j in range(n)])
        return found

    return make


KINDS: dict[str, Maker] = {
    "no fault, Beta(1, 1), T = 50, n = 5": plain(1, 1, 50, 5),
    "no fault, Beta(1, 1), T = 50, n = 8": plain(1, 1, 50, 8),
    "no fault, Beta(2, 2), T = 50, n = 10": plain(2, 2, 50, 10),
    "no fault, Beta(0.5, 0.5), T = 100, n = 8": plain(0.5, 0.5, 100, 8),
    "no fault, Beta(5, 0.5), T = 100, n = 10": plain(5, 0.5, 100, 10),
    "stickiness 0.3, T = 50, n = 5": sticky(0.3, 50, 5),
    "stickiness 0.3, T = 50, n = 8": sticky(0.3, 50, 8),
    "run effect N(0, 0.5), T = 100, n = 8": shifted(
        100, 8, lambda chance: [chance.gauss(0, 0.5) for _ in range(8)]
    ),
    "drift of 1 logit, T = 50, n = 8": shifted(50, 8, lambda _: [j / 7 for j in range(8)]),
    "task x session N(0, 1), T = 50, n = 5 + 5": sessions(1, 50, 10),
}


def land(database: Path, runs: int, seed: int) -> int:
    """Land all runs, attempts in two sessions a day apart."""
    from passk_py.landing import ensure_landing

    columns: dict[str, list[Any]] = {
        name: [] for name in ("run_id", "task_id", "attempt", "outcome", "started_at")
    }
    for kind, make in KINDS.items():
        for run in range(runs):
            chance = random.Random(f"{seed} {kind} {run}")
            for task, verdicts in enumerate(make(chance)):
                for j, verdict in enumerate(verdicts):
                    later = timedelta(days=int(2 * j >= len(verdicts)), seconds=60 * j)
                    columns["run_id"].append(f"{kind}|{run}")
                    columns["task_id"].append(f"t{task}")
                    columns["attempt"].append(j + 1)
                    columns["outcome"].append("passed" if verdict else "failed")
                    columns["started_at"].append(START + later)
    with duckdb.connect(str(database)) as connection, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pl.DataFrame(columns).write_parquet(path)
        ensure_landing(connection)
        connection.execute(
            "insert into landing.attempts by name select *, 'suite' as suite, 'simulated' as source_file, "
            "row_number() over () as source_line, 'simulated' as source_format, "
            f"timestamp '2026-02-01' as loaded_at from read_parquet('{path}')"
        )
    return len(columns["run_id"])


def main() -> None:
    """Simulate, build, print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=400, help="simulated runs of each kind")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    from passk_py.project import build

    with tempfile.TemporaryDirectory(prefix="passk-benchmark-") as folder:
        database = Path(folder) / "log.duckdb"
        rows = land(database, arguments.runs, arguments.seed)
        started = time.perf_counter()
        build(database=database)
        seconds = time.perf_counter() - started
        with duckdb.connect(str(database), read_only=True) as connection:
            shares = {
                (kind, name): share
                for kind, name, share in connection.execute(
                    "select split_part(run_id, '|', 1), diagnostic, avg((verdict = 'warning')::int) "
                    "from passk_diagnostics where verdict in ('ok', 'warning') and p is not null "
                    "group by all"
                ).fetchall()
            }
            ratios = dict(
                connection.execute(
                    "select split_part(run_id, '|', 1), avg(cochran_q / (suite_passes - 1)) "
                    "from main_passk_internal.int_passk__order_checks group by all"
                ).fetchall()
            )
    print(
        f"{arguments.runs} runs of each kind, {rows:,} attempts, one build of {seconds:.0f} s, "
        f"DuckDB {duckdb.__version__}; share of warnings at 5 %"
    )
    print(f"{'':44}" + "".join(f"{name:>19}" for name in TESTS) + f"{'mean Q/(n-1)':>14}")
    for kind in KINDS:
        cells = "".join(
            f"{shares[kind, name]:19.3f}" if (kind, name) in shares else f"{'-':>19}"
            for name in TESTS
        )
        print(f"{kind:44}{cells}{ratios[kind]:14.2f}")


if __name__ == "__main__":
    main()
