"""How often the diagnostics warn, of logs without a fault and with one, through the SQL.

    python benchmarks/diagnostics.py --runs 400

Simulated runs of each kind land in one database, twenty of them in a suite, each a day after the one before. One build makes
`passk_diagnostics` of all. Counted over the runs that a diagnostic says something of: p below 5 % as it is, p below 5 % after
the correction over the run alone, and the warnings of the table, which is corrected over the runs of the suite too. Without a
fault it is the size of a test, with one its power. The Monte-Carlo error of a share s is the root of s (1 - s) / runs.
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

    Maker = Callable[[random.Random], list[list[bool | None]]]

TESTS = (
    "serial_dependence",
    "drift",
    "shared_run_effect",
    "batch_effect",
    "window_gap",
    "first_k_gap",
    "jensen_bounds",
)
THRESHOLDS = (
    "duplicate_seeds",
    "duplicate_outputs",
    "noisy_grader",
    "temperature_zero",
    "retry_until_pass",
    "dominant_tasks",
)
SUITE = 20
START = datetime(2026, 1, 1)  # noqa: DTZ001 -- what the tables hold


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def plain(a: float, b: float, tasks: int, n: int) -> Maker:
    """No fault; the tasks' chances are from a beta distribution."""

    def make(chance: random.Random) -> list[list[bool | None]]:
        shares = [chance.betavariate(a, b) for _ in range(tasks)]
        return [[chance.random() < p for _ in range(n)] for p in shares]

    return make


def alike(p: float, tasks: int, n: int, errors: float = 0.0) -> Maker:
    """No fault; all tasks pass with one chance, and some attempts are lost to errors."""

    def make(chance: random.Random) -> list[list[bool | None]]:
        return [
            [None if chance.random() < errors else chance.random() < p for _ in range(n)]
            for _ in range(tasks)
        ]

    return make


def retried(p: float, tasks: int, most: int) -> Maker:
    """Attempts until the first pass, or so many."""

    def make(chance: random.Random) -> list[list[bool | None]]:
        found: list[list[bool | None]] = []
        for _ in range(tasks):
            verdicts: list[bool | None] = []
            while len(verdicts) < most and True not in verdicts:
                verdicts.append(chance.random() < p)
            found.append(verdicts)
        return found

    return make


def sticky(stick: float, tasks: int, n: int) -> Maker:
    """An attempt repeats the verdict before it with the chance ``stick``."""

    def make(chance: random.Random) -> list[list[bool | None]]:
        found: list[list[bool | None]] = []
        for _ in range(tasks):
            p = chance.betavariate(1, 1)
            verdicts: list[bool | None] = [chance.random() < p]
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

    def make(chance: random.Random) -> list[list[bool | None]]:
        by = shifts(chance)
        logits = [chance.gauss(0, spread) for _ in range(tasks)]
        return [[chance.random() < logistic(one + by[j]) for j in range(n)] for one in logits]

    return make


def sessions(spread: float, tasks: int, n: int) -> Maker:
    """Each half of the attempts of each task has a shift of its own."""

    def make(chance: random.Random) -> list[list[bool | None]]:
        found: list[list[bool | None]] = []
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
    "no fault, all .5, T = 50, n = 8": alike(0.5, 50, 8),
    "no fault, all .8, T = 100, n = 4": alike(0.8, 100, 4),
    "no fault, all .95, T = 100, n = 8": alike(0.95, 100, 8),
    "no fault, all .99, T = 100, n = 8": alike(0.99, 100, 8),
    "no fault, all .7, T = 100, n = 2, 10 % errors": alike(0.7, 100, 2, 0.1),
    "no fault, all .7, T = 100, n = 8, 10 % errors": alike(0.7, 100, 8, 0.1),
    "no fault, Beta(0.05, 0.05), T = 100, n = 4": plain(0.05, 0.05, 100, 4),
    "retry up to 2 tries, all .6, T = 100": retried(0.6, 100, 2),
    "retry up to 5 tries, all .3, T = 100": retried(0.3, 100, 5),
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
    from passk_py.ingest.landing import ensure_landing

    names = ("run_id", "suite", "task_id", "attempt", "outcome", "seed", "output_hash")
    columns: dict[str, list[Any]] = {name: [] for name in (*names, "started_at", "loaded_at")}
    for kind, make in KINDS.items():
        for run in range(runs):
            chance = random.Random(f"{seed} {kind} {run}")
            # Every other run logs what its attempts produced, all of it different.
            has_outputs = run % 2 == 0
            for task, verdicts in enumerate(make(chance)):
                for j, verdict in enumerate(verdicts):
                    later = timedelta(days=int(2 * j >= len(verdicts)), seconds=60 * j)
                    columns["run_id"].append(f"{kind}|{run}")
                    columns["task_id"].append(f"t{task}")
                    columns["attempt"].append(j + 1)
                    outcome = "excluded" if verdict is None else "passed" if verdict else "failed"
                    columns["suite"].append(f"{kind}|{run // SUITE}")
                    columns["outcome"].append(outcome)
                    columns["seed"].append(chance.getrandbits(32) if has_outputs else None)
                    columns["output_hash"].append(
                        f"{chance.getrandbits(64):x}" if has_outputs else None
                    )
                    columns["started_at"].append(START + later)
                    columns["loaded_at"].append(START + timedelta(days=40 + run % SUITE))
    with duckdb.connect(str(database)) as connection, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pl.DataFrame(columns).write_parquet(path)
        ensure_landing(connection)
        connection.execute(
            "insert into landing.attempts by name select *, 'simulated' as source_file, "
            f"row_number() over () as source_line, 'simulated' as source_format from read_parquet('{path}')"
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
    from passk_py.warehouse.building import build

    with tempfile.TemporaryDirectory(prefix="passk-benchmark-") as folder:
        database = Path(folder) / "log.duckdb"
        rows = land(database, arguments.runs, arguments.seed)
        started = time.perf_counter()
        build(database=database)
        seconds = time.perf_counter() - started
        with duckdb.connect(str(database), read_only=True) as connection:
            shares = {
                (kind, name): (plain, settled)
                for kind, name, plain, settled in connection.execute(
                    "select split_part(run_id, '|', 1), diagnostic, avg((p < 0.05)::int), avg((verdict = 'warning')::int) "
                    "from passk_diagnostics where verdict in ('ok', 'warning') group by all"
                ).fetchall()
            }
            runs = {
                kind: found
                for kind, *found in connection.execute(
                    """
                    with tests as (
                      select *, p * count(*) over (partition by run_id) as bonferroni
                      from passk_diagnostics where p_adjusted is not null
                    ),
                    -- The least p of Holm is that of Bonferroni.
                    runs as (
                      select run_id, suite, min(p) < 0.05 as plain, min(bonferroni) < 0.05 as alone,
                        min(p_adjusted) < 0.05 as settled
                      from tests group by all
                    ),
                    suites as (
                      select split_part(suite, '|', 1) as kind, suite, avg(plain::int) as plain, avg(alone::int) as alone,
                        avg(settled::int) as settled, bool_or(plain) as any_plain, bool_or(alone) as any_alone,
                        bool_or(settled) as any_settled
                      from runs group by all
                    )
                    select kind, avg(plain), avg(alone), avg(settled), avg(any_plain::int), avg(any_alone::int), avg(any_settled::int)
                    from suites group by all
                    """
                ).fetchall()
            }
            ratios = dict(
                connection.execute(
                    "select split_part(run_id, '|', 1), avg(cochran_q / (suite_passes - 1)) "
                    "from main_passk_internal.int_passk__order_checks group by all"
                ).fetchall()
            )
    print(
        f"{arguments.runs} runs of each kind, {rows:,} attempts, one build of {seconds:.0f} s, DuckDB {duckdb.__version__}"
    )
    blank = f"{'-':>19}"
    for title, place, names in (
        ("p below 5 %, not corrected", 0, TESTS),
        ("warnings of the table", 1, TESTS),
        ("warnings of the table, where there is no test", 1, THRESHOLDS),
    ):
        print(f"\n{title}\n{'':48}" + "".join(f"{name:>19}" for name in names))
        for kind in KINDS:
            cells = "".join(
                f"{shares[kind, name][place]:19.3f}" if (kind, name) in shares else blank
                for name in names
            )
            print(
                f"{kind:48}{cells}"
                + (f"{ratios[kind]:10.2f}" if place == 0 and ratios[kind] else "")
            )
    print(f"\nshare of runs with a warning of some test; of suites of {SUITE} runs with one")
    heads = ("not corrected", "over the run", "over runs too")
    print(f"{'':48}" + "".join(f"{name:>16}" for name in (*heads, *heads)))
    for kind in KINDS:
        print(f"{kind:48}" + "".join(f"{share:16.3f}" for share in runs.get(kind, ())))


if __name__ == "__main__":
    main()
