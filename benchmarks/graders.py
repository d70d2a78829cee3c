"""Graders that err: how often the limits of corrected metrics hold, by simulation through the SQL.

Each repetition is a suite of its own with a run `r`; people label some of its attempts. All suites of a
table are built at once, and ``passk_graders`` and ``passk_corrected_metrics`` are held against the truth
of the population.

    python benchmarks/graders.py                  # everything, some minutes
    python benchmarks/graders.py --only judge     # one table
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import duckdb
import polars as pl
from comparisons import POPULATIONS

from passk_py.ingest.landing.labels import LABEL_TABLES
from passk_py.ingest.landing.schema import ensure_landing
from passk_py.warehouse.building import build
from passk_py.warehouse.tables import fetch_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

CHOSEN: Final[dict[str, Callable[[random.Random], float]]] = {
    **POPULATIONS,
    "perfect": lambda _dice: 1.0,
    "all .8": lambda _dice: 0.8,
}
SAMPLINGS: Final = ("at random", "half of each grade", "nine failures in ten")


class Cell(NamedTuple):
    """A population of tasks, how its grader errs, and how people label."""

    population: str
    tasks: int
    n: int
    sensitivity: float
    false_pass_rate: float
    labels: int
    sampling: str
    same_tasks: bool = False
    """Whether the grader errs on the same tasks every time."""


Attempt = tuple[str, str, str, int, str, str]


def suite_of(cell: Cell, dice: random.Random, suite: str) -> tuple[list[Attempt], list[Attempt]]:
    """Draw a suite: its attempts with the grade and the truth, and those that are labelled."""
    rate_of = CHOSEN[cell.population]
    attempts: list[Attempt] = []
    for task in range(cell.tasks):
        rate = rate_of(dice)
        errs = (dice.random(), dice.random()) if cell.same_tasks else None
        for number in range(1, cell.n + 1):
            truly = dice.random() < rate
            chance = dice.random() if errs is None else errs[truly]
            graded = chance < (cell.sensitivity if truly else cell.false_pass_rate)
            grade, truth_ = ("passed" if one else "failed" for one in (graded, truly))
            attempts.append((suite, "r", f"t{task}", number, grade, truth_))
    return attempts, list(labelled(cell, attempts, dice))


def labelled(cell: Cell, attempts: list[Attempt], dice: random.Random) -> Iterator[Attempt]:
    """Choose the attempts that people label."""
    if cell.sampling == "at random":
        yield from dice.sample(attempts, cell.labels)
        return
    failures = cell.labels // 2 if cell.sampling == SAMPLINGS[1] else cell.labels * 9 // 10
    for grade, wanted in (("passed", cell.labels - failures), ("failed", failures)):
        some = [one for one in attempts if one[4] == grade]
        yield from dice.sample(some, min(wanted, len(some)))


@contextmanager
def built(
    cells: Iterable[Cell], ks: list[int], repetitions: int
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Build all suites of some cells; a suite is named by the cell and a number."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "passk.duckdb"
        with duckdb.connect(str(database)) as connection:
            ensure_landing(connection)
            for name, columns in LABEL_TABLES.items():
                connection.execute(f"create table landing.{name} ({columns})")
            for place, cell in enumerate(cells):
                dice = random.Random(f"{cell}")
                attempts, labels = [], []
                for number in range(repetitions):
                    some, chosen = suite_of(cell, dice, f"{place}|{number}")
                    attempts += some
                    labels += chosen
                land(connection, attempts, labels)
        variables = {
            "passk_ks": ks,
            "passk_deployment_k": ks[0],
            "passk_ordered_metrics": False,
            "passk_diagnostics": False,
        }
        selected = ["+passk_graders", "+passk_corrected_metrics"]
        report = build(database, variables=variables, select=selected)
        if report.exit_code:
            raise SystemExit(f"The build failed: {report.failed}")
        with duckdb.connect(str(database), read_only=True) as connection:
            yield connection


def land(
    connection: duckdb.DuckDBPyConnection, attempts: list[Attempt], labels: list[Attempt]
) -> None:
    names = ["suite", "run_id", "task_id", "attempt", "grade", "truth"]
    for frame, into in (
        (
            pl.DataFrame(attempts, schema=names, orient="row"),
            (
                "landing.attempts (suite, run_id, task_id, attempt, outcome, source_file, source_format,"
                " loaded_at) select suite, run_id, task_id, attempt, grade, 'simulated', 'simulated'"
            ),
        ),
        (
            pl.DataFrame(labels, schema=names, orient="row"),
            (
                "landing.labels (suite, run_id, task_id, attempt, verdict, source_file, loaded_at)"
                " select suite, run_id, task_id, attempt, truth, 'simulated'"
            ),
        ),
    ):
        connection.register("simulated_rows", frame.to_arrow())
        connection.execute(f"insert into {into}, timestamp '2026-01-01' from simulated_rows")
        connection.unregister("simulated_rows")


def truth(population: str, metric: str, k: int, known: dict[Any, float]) -> float:
    """Give the value of the population: of 400,000 tasks of it."""
    key = (population, metric, k)
    if key not in known:
        dice = random.Random(f"truth of {population}")
        rates = [CHOSEN[population](dice) for _ in range(400_000)]
        lucky = rates if metric == "pass_hat_k" else [1 - rate for rate in rates]
        mean = sum(rate**k for rate in lucky) / len(lucky)
        known[key] = mean if metric == "pass_hat_k" else 1 - mean
    return known[key]


def measured(cells: list[Cell], ks: list[int], repetitions: int) -> pl.DataFrame:
    """Give each corrected value with its cell, its truth and whether its limits hold that."""
    with built(cells, ks, repetitions) as connection:
        rows = fetch_frame(
            connection,
            "select suite, metric, k, raw, corrected, corrected_lower as lower,"
            " corrected_upper as upper from passk_corrected_metrics where raw is not null",
        )
    known: dict[Any, float] = {}
    place = pl.col("suite").str.split("|").list.first().cast(pl.Int64)
    rows = rows.with_columns(place=place)
    true = [
        truth(cells[row["place"]].population, row["metric"], row["k"], known)
        for row in rows.iter_rows(named=True)
    ]
    slack = 1e-12
    return rows.with_columns(true=pl.Series(true)).with_columns(
        held=(pl.col("lower") - slack <= pl.col("true"))
        & (pl.col("true") <= pl.col("upper") + slack)
    )


def summed(rows: pl.DataFrame) -> pl.DataFrame:
    return (
        rows.group_by("place", "metric", "k")
        .agg(
            true=pl.col("true").first(),
            raw=pl.col("raw").mean(),
            corrected=pl.col("corrected").mean(),
            held=pl.col("held").mean(),
            width=(pl.col("upper") - pl.col("lower")).mean(),
            answered=pl.col("corrected").count() / pl.len(),
        )
        .sort("place", "metric", "k")
    )


def values(repetitions: int) -> None:
    """400 tasks, a grader with s = .97 and f = .05, 400 labels, half of each grade."""
    print("| population | n | metric | true | raw | corrected | coverage | width |")
    print("|---|---|---|---|---|---|---|---|")
    for population, n in (("near 1", 8), ("U-shaped", 8), ("middling", 16)):
        cell = Cell(population, 400, n, 0.97, 0.05, 400, SAMPLINGS[1])
        for row in summed(measured([cell], [4, 8], repetitions)).iter_rows(named=True):
            print(
                f"| {population} | {n} | {row['metric']} {row['k']} | {row['true']:.3f} "
                f"| {row['raw']:.3f} | {row['corrected']:.3f} | {row['held']:.3f} "
                f"| {row['width']:.3f} |",
                flush=True,
            )


def labels(repetitions: int) -> None:
    """100 tasks x 8, k = 1, 4, 8: how few labels do, and how they may be sampled."""
    print("| labels | sampling | values | answered | mean coverage | least | where | mean width |")
    print("|---|---|---|---|---|---|---|---|")
    rates = ((0.97, 0.05), (1.0, 0.05), (0.97, 0.0), (0.9, 0.1), (0.8, 0.2))
    for count, sampling in product((20, 50, 200), SAMPLINGS):
        cells = [
            Cell(population, 100, 8, s, f, count, sampling)
            for population in ("U-shaped", "middling", "hard", "near 1", "perfect", "all .8")
            for s, f in rates
        ]
        found = summed(measured(cells, [1, 4, 8], repetitions))
        seen = found.filter(pl.col("answered") * repetitions >= 50)
        answered = found.select(pl.col("answered").mean()).item()
        mean, width = seen.select(pl.col("held").mean(), pl.col("width").mean()).row(0)
        if seen.is_empty():
            print(f"| {count} | {sampling} | 0 | {answered:.2f} | | | | |")
            continue
        worst = seen.sort("held").row(0, named=True)
        cell = cells[worst["place"]]
        print(
            f"| {count} | {sampling} | {seen.height} | {answered:.2f} "
            f"| {mean:.3f} | {worst['held']:.3f} | {cell.population}, "
            f"s = {cell.sensitivity}, f = {cell.false_pass_rate}, {worst['metric']} {worst['k']} "
            f"| {width:.3f} |",
            flush=True,
        )


def judge(repetitions: int) -> None:
    """A judge that flips one verdict in twenty, and one that errs on the same tasks every time."""
    cells = [
        Cell("near 1", 200, 8, s, f, 400, SAMPLINGS[1], same)
        for s, f, same in ((0.95, 0.05, False), (1.0, 0.0, False), (0.95, 0.05, True))
    ]
    with built(cells, [8], repetitions) as connection:
        rates = fetch_frame(
            connection,
            "select split_part(suite, '|', 1)::bigint as place,"
            " avg((sensitivity_upper < 1 or false_pass_rate_lower > 0)::int) as errs,"
            " avg((sensitivity_lower <= s and s <= sensitivity_upper)::int) as s,"
            " avg((false_pass_rate_lower <= f and f <= false_pass_rate_upper)::int) as f"
            " from (select *, case split_part(suite, '|', 1) when '1' then 1 else .95 end as s,"
            " 1 - s as f from passk_graders) group by 1 order by 1",
        )
    found = summed(measured(cells, [8], repetitions)).filter(metric="pass_hat_k")
    print("| grader | seen to err | s held | f held | true pass^8 | raw | corrected | coverage |")
    print("|---|---|---|---|---|---|---|---|")
    names = ("flips 5 %", "never errs", "flips 5 %, on the same tasks")
    for name, one, row in zip(
        names, rates.iter_rows(named=True), found.iter_rows(named=True), strict=True
    ):
        print(
            f"| {name} | {one['errs']:.3f} | {one['s']:.3f} | {one['f']:.3f} | {row['true']:.3f} "
            f"| {row['raw']:.3f} | {row['corrected']:.3f} | {row['held']:.3f} |"
        )


TABLES: Final[dict[str, tuple[Callable[[int], None], int]]] = {
    "values": (values, 300),
    "labels": (labels, 200),
    "judge": (judge, 200),
}


def main() -> None:
    """Run what was asked for."""
    # The tests of the data would cost more than what they test.
    os.environ["DBT_INDIRECT_SELECTION"] = "empty"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=TABLES)
    parser.add_argument("--repetitions", type=int)
    options = parser.parse_args()
    start = time.process_time()
    for name, (table, repetitions) in TABLES.items():
        if options.only in (None, name):
            print(table.__doc__)
            table(options.repetitions or repetitions)
            print()
    print(f"{time.process_time() - start:.0f} s")


if __name__ == "__main__":
    main()
