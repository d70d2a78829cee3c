"""How often comparisons are wrong, and what they find: a simulation through the SQL of the package.

Each repetition is a suite of its own with a run `old` and a run `new`, and all are built at once
with the var `passk_baseline: old`. Tables: verdicts of runs that are the same (A/A); the size of z
and of the interval for tasks like these, over populations of tasks and numbers of attempts; and
the power against two kinds of change.

    python benchmarks/comparisons.py                 # everything, some minutes
    python benchmarks/comparisons.py --only aa       # 1,000 repetitions of nothing changed
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import duckdb
import polars as pl

from passk_py.ingest.landing.schema import ensure_landing
from passk_py.warehouse.building import build

LEVEL: Final = 1.959963984540054
TOO_OFTEN: Final = 0.07
"""A size above this is printed with its setting."""

POPULATIONS: Final[dict[str, Callable[[random.Random], float]]] = {
    "U-shaped": lambda dice: dice.betavariate(0.5, 0.5),
    "middling": lambda dice: dice.betavariate(2, 2),
    "hard": lambda dice: dice.betavariate(0.3, 3),
    "two kinds": lambda dice: dice.choice((0.2, 0.95)),
    "spiked": lambda dice: dice.choices((1.0, 0.0, dice.random()), (60, 20, 20))[0],
    "near 1": lambda dice: dice.betavariate(19, 1),
}
DESIGNS: Final = ((4, 1), (4, 2), (4, 4), (8, 1), (8, 4), (8, 8))
KS: Final = sorted({k for _, k in DESIGNS})

Change = Callable[[random.Random, float, int], float]

CHANGES: Final[dict[str, Change]] = {
    "none": lambda _dice, rate, _task: rate,
    "one task in ten falls to 0.3 p": lambda _dice, rate, task: (
        rate * (0.3 if task % 10 == 0 else 1)
    ),
    "every task falls by 0.07": lambda _dice, rate, _task: max(rate - 0.07, 0.0),
}


def attempts(
    seed: str, repetitions: int, tasks: int, n: int, population: str, change: str
) -> Iterator[tuple[str, str, str, int, int]]:
    """Give suite, run, task, n and c of each task of each repetition."""
    dice = random.Random(seed)
    draw, changed = POPULATIONS[population], CHANGES[change]
    for repetition in range(repetitions):
        for task in range(tasks):
            rate = draw(dice)
            for run, used in (("old", rate), ("new", changed(dice, rate, task))):
                passes = sum(dice.random() < used for _ in range(n))
                yield f"{seed}|{repetition}", run, f"t{task}", n, passes


def compared(counts: list[tuple[str, str, str, int, int]], ks: list[int]) -> pl.DataFrame:
    """Build all suites at once, and give the rows of passk_comparisons."""
    with tempfile.TemporaryDirectory() as folder:
        database, rows = Path(folder) / "passk.duckdb", Path(folder) / "counts.parquet"
        names = ["suite", "run_id", "task_id", "n", "c"]
        pl.DataFrame(counts, schema=names, orient="row").write_parquet(rows)
        with duckdb.connect(str(database)) as connection:
            ensure_landing(connection)
            connection.execute(
                "insert into landing.attempts (suite, run_id, task_id, attempt, outcome,"
                " source_file, source_line, source_format, loaded_at)"
                " select suite, run_id, task_id, attempt,"
                " case when attempt <= c then 'passed' else 'failed' end,"
                " 'simulated', row_number() over (), 'simulated', timestamp '2026-01-01'"
                f" from (select *, unnest(range(1, n + 1)) as attempt from read_parquet('{rows}'))"
            )
        report = build(
            database,
            variables={
                "passk_ks": ks,
                "passk_deployment_k": ks[0],
                "passk_baseline": "old",
                "passk_ordered_metrics": False,
            },
            select=["+passk_comparisons"],
        )
        if report.exit_code:
            raise SystemExit(f"The build failed: {report.failed}")
        with duckdb.connect(str(database)) as connection:
            path = Path(folder) / "found.parquet"
            connection.execute(
                f"copy (select * exclude (loaded_at) from passk_comparisons) to '{path}' (format parquet)"
            )
        return pl.read_parquet(path)


def rates(rows: pl.DataFrame) -> dict[str, float]:
    """Give the shares of the repetitions in which each method sees a difference, or a fall."""
    z, verdict = pl.col("z").fill_null(0.0), pl.col("verdict")
    return rows.select(
        z_two_sided=(z.abs() >= LEVEL).mean(),
        z_fall=(z <= -LEVEL).mean(),
        t_two_sided=((pl.col("difference_lower") > 0) | (pl.col("difference_upper") < 0)).mean(),
        t_fall=(pl.col("difference_upper") < 0).mean(),
        regression=(verdict == "regression").mean(),
        improvement=(verdict == "improvement").mean(),
        insufficient=(verdict == "insufficient").mean(),
        holds_no_change=(
            (pl.col("difference_suite_lower") <= 0) & (pl.col("difference_suite_upper") >= 0)
        ).mean(),
    ).row(0, named=True)


def row_of(rows: pl.DataFrame, seed: str, metric: str, k: int) -> dict[str, float]:
    chosen = rows.filter(
        pl.col("suite").str.starts_with(f"{seed}|"), pl.col("metric") == metric, pl.col("k") == k
    )
    return rates(chosen)


def same_against_same(repetitions: int) -> None:
    """Nothing changed: how often the verdict says that something did."""
    print(f"A/A: {repetitions} pairs of runs that are the same, 50 tasks, n = 8")
    counts: list[Any] = []
    for population in POPULATIONS:
        counts += attempts(f"aa {population}", repetitions, 50, 8, population, "none")
    rows = compared(counts, [1, 2, 4, 8])
    print(
        f"{'population':<12}{'metric':<12}{'k':>3}{'regression':>12}{'improvement':>12}{'insufficient':>13}"
    )
    for population in POPULATIONS:
        for metric in ("pass_at_k", "pass_hat_k"):
            for k in (1, 2, 4, 8):
                found = row_of(rows, f"aa {population}", metric, k)
                print(
                    f"{population:<12}{metric:<12}{k:>3}{found['regression']:>12.3f}"
                    f"{found['improvement']:>12.3f}{found['insufficient']:>13.3f}"
                )


def size_and_power(repetitions: int) -> None:
    """Two-sided size where nothing changed, and power where something fell; pass^k."""
    print(
        f"pass^k, mean (and largest, or least) over populations and (n, k); {repetitions} repetitions"
    )
    for change in CHANGES:
        for tasks in (20, 50, 100, 200) if change == "none" else (20, 50, 100):
            counts: list[Any] = []
            for population in POPULATIONS:
                for n in sorted({n for n, _ in DESIGNS}):
                    seed = f"{change} {tasks} {population} {n}"
                    counts += attempts(seed, repetitions, tasks, n, population, change)
            rows = compared(counts, KS)
            settings = [(population, n, k) for population in POPULATIONS for n, k in DESIGNS]
            found = [
                row_of(rows, f"{change} {tasks} {population} {n}", "pass_hat_k", k)
                for population, n, k in settings
            ]
            parts = []
            for name in ("z_two_sided", "t_two_sided", "regression", "holds_no_change"):
                values = [one[name] for one in found]
                end = min(values) if name == "holds_no_change" else max(values)
                parts.append(f"{name} {sum(values) / len(values):.3f} ({end:.3f})")
            print(f"{change}, {tasks} tasks: {', '.join(parts)}", flush=True)
            for (population, n, k), one in zip(settings, found, strict=True):
                if change == "none" and one["z_two_sided"] > TOO_OFTEN:
                    print(
                        f"  {population}, n = {n}, k = {k}: z {one['z_two_sided']:.3f}, "
                        f"regression or improvement {one['regression'] + one['improvement']:.3f}, "
                        f"insufficient {one['insufficient']:.3f}",
                        flush=True,
                    )


def main() -> None:
    """Run what was asked for."""
    # The tests of the data would cost more than what they test.
    os.environ["DBT_INDIRECT_SELECTION"] = "empty"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("aa", "size"))
    parser.add_argument("--repetitions", type=int)
    options = parser.parse_args()
    start = time.perf_counter()
    if options.only != "size":
        same_against_same(options.repetitions or 1000)
    if options.only != "aa":
        size_and_power(options.repetitions or 1000)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
