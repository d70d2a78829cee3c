"""Limits, verdicts and gates where they are hardest: a simulation through the SQL of the package.

Runs near 0 and 1 with few attempts, pairs that change in a few tasks, tasks that lose attempts. Each
repetition is a suite of its own; all suites of a table are built at once.

    python benchmarks/edges.py                    # everything, half an hour
    python benchmarks/edges.py --only perfect     # one table
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import duckdb
import polars as pl
from comparisons import LEVEL, POPULATIONS

from passk_py.ingest.landing.schema import ensure_landing
from passk_py.reports.answer import find_answer
from passk_py.warehouse.building import build
from passk_py.warehouse.tables import fetch_frame, open_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

K: Final = 4


class Task(NamedTuple):
    """A task of a run, its true rate, and the attempts seen of it."""

    suite: str
    run_id: str
    task_id: str
    rate: float
    n: int
    c: int
    excluded: int = 0


def passes(dice: random.Random, n: int, rate: float) -> int:
    return sum(dice.random() < rate for _ in range(n))


@contextmanager
def database_of(
    tasks: list[Task], ks: list[int], table: str, more: Mapping[str, Any] | None = None
) -> Iterator[Path]:
    """Build all suites at once, as far as a public table needs, with more vars."""
    with tempfile.TemporaryDirectory() as folder:
        database, rows = Path(folder) / "passk.duckdb", Path(folder) / "tasks.parquet"
        pl.DataFrame(tasks, schema=list(Task._fields), orient="row").write_parquet(rows)
        with duckdb.connect(str(database)) as connection:
            ensure_landing(connection)
            connection.execute(
                "insert into landing.attempts (suite, run_id, task_id, attempt, outcome,"
                " source_file, source_line, source_format, loaded_at)"
                " select suite, run_id, task_id, attempt, case when attempt <= c then 'passed'"
                " when attempt <= n then 'failed' else 'excluded' end,"
                " 'simulated', row_number() over (), 'simulated', timestamp '2026-01-01'"
                " from (select *, unnest(range(1, n + excluded + 1)) as attempt"
                f" from read_parquet('{rows}'))"
            )
        variables = {
            "passk_ks": ks,
            "passk_deployment_k": ks[0],
            "passk_ordered_metrics": False,
            **({"passk_baseline": "old"} if "comparisons" in table else {}),
            **(more or {}),
        }
        report = build(database, variables=variables, select=[f"+{one}" for one in table.split()])
        if report.exit_code:
            raise SystemExit(f"The build failed: {report.failed}")
        yield database


def built(tasks: list[Task], ks: list[int], table: str) -> pl.DataFrame:
    """Build all suites at once, and give the rows of a public table."""
    with database_of(tasks, ks, table) as database:
        return read(database, table)


def read(database: Path, table: str) -> pl.DataFrame:
    with duckdb.connect(str(database)) as connection:
        return fetch_frame(connection, f"select * exclude (loaded_at) from {table}")


def truths(tasks: Iterable[Task], ks: list[int]) -> pl.DataFrame:
    """Give the mean of p^k and of 1 - (1 - p)^k of every run over its tasks."""
    frame = pl.DataFrame(list(tasks), schema=list(Task._fields), orient="row")
    rate = pl.col("rate")
    return pl.concat(
        frame.group_by("suite", "run_id").agg(
            pl.lit(k, pl.Int64).first().alias("k"),
            true_hat=(rate**k).mean(),
            true_at=(1 - (1 - rate) ** k).mean(),
        )
        for k in ks
    )


def held(lower: str, upper: str, truth: str) -> pl.Expr:
    slack = 1e-12
    return (
        (pl.col(lower) - slack <= pl.col(truth)) & (pl.col(truth) <= pl.col(upper) + slack)
    ).mean()


def perfect(repetitions: int) -> None:
    """All tasks the same p near 1: the limits for these tasks, and the difference to a perfect run."""
    print(
        f"Perfect and nearly perfect runs, 50 tasks, k = {K}, {repetitions} repetitions of each p"
    )
    print("| n | suite: least | difference: least | at p |")
    print("|---|---|---|---|")
    rates = (0.9, 0.95, 0.97, 0.98, 0.985, 0.99, 0.9925, 0.995, 0.9975, 0.999, 1.0)
    for n in (4, 6, 8, 12, 16):
        dice = random.Random(f"perfect {n}")
        tasks = [
            Task(f"{rate}|{number}", run, f"t{task}", used, n, passes(dice, n, used))
            for rate in rates
            for number in range(repetitions)
            for task in range(50)
            for run, used in (("old", 1.0), ("new", rate))
        ]
        known = truths(tasks, [K])
        rate = pl.col("suite").str.split("|").list.first().cast(pl.Float64)
        rows = built(tasks, [K], "passk_comparisons").filter(pl.col("metric") == "pass_hat_k")
        new = known.filter(pl.col("run_id") == "new").with_columns(true=pl.col("true_hat") - 1)
        covered = (
            rows.join(new, on="suite")
            .group_by(rate.alias("p"))
            .agg(held=held("difference_suite_lower", "difference_suite_upper", "true"))
            .sort("held")
        )
        least = "-"
        if n >= 2 * K:
            metrics = built(tasks, [K], "passk_suite_metrics")
            suites = (
                metrics.join(new, on=["suite", "run_id"])
                .group_by(rate.alias("p"))
                .agg(held=held("pass_hat_k_suite_lower", "pass_hat_k_suite_upper", "true_hat"))
            )
            least = f"{min(suites['held'].to_list()):.3f}"
        print(f"| {n} | {least} | {covered['held'][0]:.3f} | {covered['p'][0]} |", flush=True)


def drops(repetitions: int) -> None:
    """A gate on a drop of .03 of pass^4 that is just beyond it: how often it passes."""
    for n in (4, 8):
        dice = random.Random(f"drop {n}")
        rate = 0.97 ** (1 / K)
        tasks = [
            Task(f"s{number}", run, f"t{task}", used, n, passes(dice, n, used))
            for number in range(repetitions)
            for task in range(50)
            for run, used in (("old", 1.0), ("new", rate))
        ]
        rows = built(tasks, [K], "passk_comparisons").filter(pl.col("metric") == "pass_hat_k")
        share = rows.select((pl.col("difference_suite_lower") >= -0.03).mean()).item()
        print(
            f"max_drop: 0.03, 50 tasks x {n}, pass^4 1 against .97, {repetitions} repetitions: "
            f"passes {share:.3f}"
        )


class Design(NamedTuple):
    """Two equal runs: how many tasks, attempts and the chance of each attempt."""

    tasks: int
    n: int
    k: int
    rate: float


def equal_pairs(
    designs: Sequence[Design], repetitions: int, seed: str
) -> list[tuple[float, float]]:
    """Build pairs of equal runs at one n and k: the shares with |z| beyond chance and a verdict."""
    tasks = []
    for design in designs:
        dice = random.Random(f"{seed} {design}")
        tasks += [
            Task(
                f"{design.rate}|{number}", run, f"t{task}", design.rate, design.n,
                passes(dice, design.n, design.rate),
            )
            for number in range(repetitions)
            for task in range(design.tasks)
            for run in ("old", "new")
        ]  # fmt: skip
    rows = built(tasks, [designs[0].k], "passk_comparisons").filter(metric="pass_hat_k")
    found = rows.group_by(
        pl.col("suite").str.split("|").list.first().cast(pl.Float64).alias("rate")
    ).agg(
        z=(pl.col("z").abs() >= LEVEL).fill_null(value=False).mean(),
        verdict=pl.col("verdict").is_in(["regression", "improvement"]).mean(),
    )
    shares = {row["rate"]: (row["z"], row["verdict"]) for row in found.to_dicts()}
    return [shares[design.rate] for design in designs]


def sizes(repetitions: int) -> None:
    """Two equal runs where passing k in a row is rare: how often there is a verdict."""
    print(f"Equal runs, pass^k, {repetitions} repetitions: share with a verdict")
    print("| tasks | n, k | p | |z| beyond chance | verdict |")
    print("|---|---|---|---|---|")
    row = "| {0.tasks} | {0.n}, {0.k} | {0.rate} | {1:.3f} | {2:.3f} |"
    found = []
    for count, (n, k) in product(
        (20, 48, 100), ((4, 4), (8, 8), (5, 5), (10, 8), (12, 10), (8, 4))
    ):
        designs = [Design(count, n, k, rate) for rate in (0.3, 0.4, 0.5, 0.6, 0.9, 0.99)]
        shares = list(zip(equal_pairs(designs, repetitions, "size"), designs, strict=True))
        found += shares
        (z, verdict), design = max(shares)
        print(row.format(design, z, verdict), flush=True)
    worst = sorted(found, reverse=True)[:3]
    print(f"largest of {len(found)}: z {worst[0][0][0]:.3f}, verdict {worst[0][0][1]:.3f}")
    print(f"The largest of many is so by luck too. The first three, {5 * repetitions} others each:")
    for _, design in worst:
        ((z, verdict),) = equal_pairs([design], 5 * repetitions, "again")
        print(row.format(design, z, verdict), flush=True)


CHANGES: Final[dict[str, Callable[[float, int], float]]] = {
    "none": lambda rate, _task: rate,
    "a tenth to .3 p": lambda rate, task: rate * (0.3 if task % 10 == 0 else 1),
    "a fiftieth to 0": lambda rate, task: 0.0 if task % 50 == 0 else rate,
    "all by -.07": lambda rate, _task: max(rate - 0.07, 0.0),
    "all by .3 of the rest": lambda rate, _task: rate + 0.3 * (1 - rate),
}
TEN: Final[dict[str, Callable[[random.Random], float]]] = {
    **POPULATIONS,
    "saturated": lambda dice: 1.0 if dice.random() < 0.95 else dice.random(),
    "all .9": lambda _dice: 0.9,
    "all .99": lambda _dice: 0.99,
    "uniform": lambda dice: dice.random(),
}


def pairs(seed: str, repetitions: int, count: int, n: int) -> Iterator[Task]:
    for name, draw in TEN.items():
        for change, changed in CHANGES.items():
            dice = random.Random(f"{seed} {name} {change} {n}")
            for number in range(repetitions):
                for task in range(count):
                    rate = draw(dice)
                    for run, used in (("old", rate), ("new", changed(rate, task))):
                        suite = f"{name}|{change}|{number}"
                        yield Task(suite, run, f"t{task}", used, n, passes(dice, n, used))


def agreement(repetitions: int) -> None:
    """Pairs of ten populations and five changes: verdicts beside intervals, coverage and power."""
    ks = [1, 2, 4, 8]
    disagree = total = 0
    print(
        f"{repetitions} pairs of each of ten populations and five changes, 50 tasks; k = 1, 2, 4, 8"
    )
    print("| n | change | tells a change before | now | of rows, covered: mean | least setting |")
    print("|---|---|---|---|---|---|")
    for n in (8, 16):
        tasks = list(pairs("agree", repetitions, 50, n))
        known = truths(tasks, ks)
        rows = built(tasks, ks, "passk_comparisons")
        total += rows.height
        decided = pl.col("verdict").is_in(["regression", "improvement", "below_threshold"])
        lower, upper = pl.col("difference_suite_lower"), pl.col("difference_suite_upper")
        disagree += rows.filter(decided == ((lower <= 0) & (upper >= 0))).height
        both = known.filter(pl.col("run_id") == "new").join(
            known.filter(pl.col("run_id") == "old"), on=["suite", "k"], suffix="_old"
        )
        rows = rows.join(both, on=["suite", "k"]).with_columns(
            true=pl.when(pl.col("metric") == "pass_hat_k")
            .then(pl.col("true_hat") - pl.col("true_hat_old"))
            .otherwise(pl.col("true_at") - pl.col("true_at_old")),
            population=pl.col("suite").str.split("|").list.get(0),
            change=pl.col("suite").str.split("|").list.get(1),
        )
        before = (pl.col("z").abs() >= LEVEL) & pl.col("null_reason").is_null()
        of_change = rows.group_by("change").agg(
            before=before.fill_null(value=False).mean(), now=decided.mean()
        )
        cover = held("difference_suite_lower", "difference_suite_upper", "true")
        settings = rows.group_by("population", "change", "metric", "k").agg(covered=cover)
        cells = settings.group_by("change").agg(
            mean=pl.col("covered").mean(), least=pl.col("covered").min()
        )
        for row in of_change.join(cells, on="change").sort("change").iter_rows(named=True):
            print(
                f"| {n} | {row['change']} | {row['before']:.3f} | {row['now']:.3f} "
                f"| {row['mean']:.3f} | {row['least']:.3f} |",
                flush=True,
            )
    print(f"rows whose verdict and interval disagree: {disagree} of {total}")


def share(value: float | None) -> str:
    """Write a share, or that there was nothing to take it of."""
    return "-" if value is None else f"{value:.3f}"


def short(repetitions: int) -> None:
    """40 tasks of 8 to 10 attempts of which some are lost, hard tasks more often: pass^8.

    The truth of tasks like these is the mean over the population; the two runs are the same, so the
    true difference is 0.
    """
    print(f"40 tasks x 8 to 10 attempts, k = 8, {repetitions} repetitions")
    print("| population | lost | tasks short | value | covered | difference | covered |")
    print("|---|---|---|---|---|---|---|")
    for name, draw in TEN.items():
        dice = random.Random(f"truth {name}")
        truth = statistics.fmean(draw(dice) ** 8 for _ in range(400_000))
        for lost in (0.01, 0.02):
            dice = random.Random(f"short {name} {lost}")
            tasks = []
            for number in range(repetitions):
                for task in range(40):
                    rate, made = draw(dice), dice.choice((8, 9, 10))
                    for run in ("old", "new"):
                        # Hard tasks lose three times as many as easy ones.
                        gone = passes(dice, made, lost * (1.5 - rate))
                        n = made - gone
                        seen = passes(dice, n, rate)
                        tasks.append(Task(f"s{number}", run, f"t{task}", rate, n, seen, gone))
            with database_of(tasks, [8], "passk_comparisons passk_suite_metrics") as database:
                rows = [
                    read(database, table) for table in ("passk_suite_metrics", "passk_comparisons")
                ]
            metrics = rows[0].with_columns(true=pl.lit(truth))
            pairs_ = rows[1].filter(metric="pass_hat_k").with_columns(true=pl.lit(0.0))
            answered = metrics.filter(pl.col("pass_hat_k").is_not_null())
            compared = pairs_.filter(pl.col("difference").is_not_null())
            few = (
                1
                - metrics.select(
                    pl.col("eligible_tasks").sum() / pl.col("total_tasks").sum()
                ).item()
            )
            mean = answered.select(held("pass_hat_k_lower", "pass_hat_k_upper", "true")).item()
            same = compared.select(
                held("difference_suite_lower", "difference_suite_upper", "true")
            ).item()
            cells = (
                few, answered.height / metrics.height, mean, compared.height / pairs_.height, same,
            )  # fmt: skip
            print(f"| {name} | {lost} | {' | '.join(map(share, cells))} |", flush=True)


def agents(repetitions: int) -> None:
    """Ten equal agents, and ten at the threshold: which of them the answer names."""
    settings: dict[str, tuple[int, Callable[[random.Random], float]]] = {
        "equal, middling tasks": (48, TEN["middling"]),
        "equal, U-shaped": (48, TEN["U-shaped"]),
        "equal, two agents": (48, TEN["uniform"]),
        "at pass^4 = .95, alike": (200, lambda _dice: 0.95 ** (1 / K)),
        "at pass^4 = .95, spread": (200, lambda dice: 1.0 if dice.random() < 0.9 else 0.5**0.25),
    }
    print(f"{repetitions} suites of ten agents (or two), 8 attempts, k = {K}")
    print("| agents | named alone, reviewed | named alone, unattended | let run unattended |")
    print("|---|---|---|---|")
    for name, (count, draw) in settings.items():
        dice = random.Random(name)
        tasks = []
        for number in range(repetitions):
            for task in range(count):
                rate = draw(dice)
                tasks += [
                    Task(f"s{number}", f"r{run}", f"t{task}", rate, 8, passes(dice, 8, rate))
                    for run in range(2 if "two" in name else 10)
                ]
        with (
            database_of(
                tasks,
                [K, 1],
                "passk_suite_metrics passk_rankings passk_tasks passk_runs passk_rejected_attempts",
            ) as database,
            open_tables(database) as tables,
        ):
            verdicts = [one for found in find_answer(tables).verdicts.values() for one in found]
        shares = (
            statistics.fmean(len(one.reviewed.named) == 1 for one in verdicts),
            statistics.fmean(len(one.unattended.named) == 1 for one in verdicts),
            statistics.fmean(bool(one.unattended.sure) for one in verdicts),
        )
        print(f"| {name} | {shares[0]:.3f} | {shares[1]:.3f} | {shares[2]:.3f} |", flush=True)


def hidden(repetitions: int) -> None:
    """Identical pairs with the var passk_baseline: hidden regressions that the answer tells."""
    tasks = []
    for name, draw in TEN.items():
        dice = random.Random(f"hidden {name}")
        for number in range(repetitions):
            for task in range(48):
                rate = draw(dice)
                tasks += [
                    Task(f"{name}|{number}", run, f"t{task}", rate, 8, passes(dice, 8, rate))
                    for run in ("old", "new")
                ]
    with (
        database_of(
            tasks,
            [K, 1],
            "passk_comparisons passk_suite_metrics passk_tasks passk_runs passk_rejected_attempts",
        ) as database,
        open_tables(database) as tables,
    ):
        answer = find_answer(tables)
    told = [
        one.change.is_hidden
        for found in answer.verdicts.values()
        for verdict in found
        for one in verdict.regressions
    ]
    pairs_ = repetitions * len(TEN)
    print(
        f"{pairs_} pairs of equal runs: hidden regressions {sum(told) / pairs_:.4f}, "
        f"regressions {len(told) / pairs_:.4f}"
    )


TABLES: Final[dict[str, tuple[Callable[[int], None], int]]] = {
    "perfect": (perfect, 400),
    "drops": (drops, 2000),
    "sizes": (sizes, 2000),
    "agreement": (agreement, 20),
    "agents": (agents, 60),
    "hidden": (hidden, 100),
    "short": (short, 100),
}


def main() -> None:
    """Run what was asked for."""
    # The tests of the data would cost more than what they test.
    os.environ["DBT_INDIRECT_SELECTION"] = "empty"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=TABLES)
    parser.add_argument("--repetitions", type=int)
    options = parser.parse_args()
    start = time.perf_counter()
    for name, (table, repetitions) in TABLES.items():
        if options.only in (None, name):
            table(options.repetitions or repetitions)
            print()
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
