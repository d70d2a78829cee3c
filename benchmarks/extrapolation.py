"""How far extrapolations beyond the attempts are from the truth, by simulation through the whole build.

    python benchmarks/extrapolation.py               # 200 runs of each of 32 settings, some minutes
    python benchmarks/extrapolation.py --runs 50

From populations of tasks with known pass@k and pass^k, runs are drawn, landed as attempts and built
by dbt. ``passk_extrapolations`` is held against the truth of the population: bias and root mean
square error of the model's values, and how often the limits that need no model hold. Every draw is
seeded or a hash, so that a repetition gives the same figures.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb
import polars as pl

from passk_py.warehouse.tables import fetch_frame

if TYPE_CHECKING:
    from collections.abc import Callable

TASKS: Final = (30, 100)
TRIES: Final = (4, 8)
KS: Final = (1, 2, 4, 8)
EXTRAPOLATED: Final = (16, 32)
KEY: Final = ["population", "tasks", "n", "k"]


@dataclass(frozen=True)
class Population:
    """Tasks to draw from: how to draw the chance p of a pass, and the means of p^k and (1 - p)^k."""

    draw: Callable[[random.Random], float]
    pass_moment: Callable[[int], float]
    fail_moment: Callable[[int], float]


def _beta_moment(a: float, b: float) -> Callable[[int], float]:
    return lambda k: math.prod((a + i) / (a + b + i) for i in range(k))


def beta(a: float, b: float) -> Population:
    """Give what the model takes for true."""
    return Population(lambda dice: dice.betavariate(a, b), _beta_moment(a, b), _beta_moment(b, a))


def mixture(*parts: tuple[float, float | None]) -> Population:
    """Shares and the p of each; None is uniform."""

    def draw(dice: random.Random) -> float:
        (p,) = dice.choices([p for _, p in parts], [share for share, _ in parts])
        return dice.random() if p is None else p

    def moment(k: int, *, fails: bool) -> float:
        return sum(
            share * (1 / (k + 1) if p is None else (1 - p if fails else p) ** k)
            for share, p in parts
        )

    return Population(draw, lambda k: moment(k, fails=False), lambda k: moment(k, fails=True))


POPULATIONS: Final = {
    "Beta(.5, .5)": beta(0.5, 0.5),
    "Beta(2, 2)": beta(2, 2),
    "Beta(.3, 3), hard": beta(0.3, 3),
    "Beta(19, 1), saturated": beta(19, 1),
    "half .2, half .95": mixture((0.5, 0.2), (0.5, 0.95)),
    "60 % solved, 20 % hopeless": mixture((0.6, 1.0), (0.2, 0.0), (0.2, None)),
    "half solved, half .5": mixture((0.5, 1.0), (0.5, 0.5)),
    "half hopeless, half .9": mixture((0.5, 0.0), (0.5, 0.9)),
}


def land(database: Path, runs: int) -> None:
    """Draw tasks, and attempts at them."""
    from passk_py.ingest.landing import ensure_landing

    dice = random.Random(1)
    drawn = database.with_suffix(".parquet")
    pl.DataFrame(
        [
            (f"{name}/{tasks}/{n}/{run}", task, n, population.draw(dice))
            for name, population in POPULATIONS.items()
            for tasks in TASKS
            for n in TRIES
            for run in range(runs)
            for task in range(tasks)
        ],
        schema=["run_id", "task", "n", "p"],
        orient="row",
    ).write_parquet(drawn)
    with duckdb.connect(str(database)) as connection:
        ensure_landing(connection)
        # 2^53 values between 0 and 1, as random numbers have. Of one text, because DuckDB's hash of several values keeps
        # what neighbours have in common.
        connection.execute(
            f"""
            insert into landing.attempts by name
            select
                run_id, 'suite' as suite, task::varchar as task_id, attempt,
                case when (hash(run_id || ' ' || task || ' ' || attempt) >> 11) / 9007199254740992 < p then 'passed' else 'failed' end as outcome,
                'simulated' as source_file, timestamp '2026-01-01' as loaded_at
            from '{drawn}', lateral (select unnest(range(1, n + 1)) as attempt)
            """
        )


def measure(database: Path) -> pl.DataFrame:
    """Build the tables, and hold the extrapolations against the truth."""
    import passk_py as pk

    # Tests of tables that are not built here would fail.
    os.environ["DBT_INDIRECT_SELECTION"] = "empty"
    report = pk.build(
        database,
        select=["+passk_extrapolations,resource_type:model"],
        variables={
            "passk_ks": list(KS),
            "passk_extrapolated_ks": list(EXTRAPOLATED),
            "passk_ordered_metrics": False,
            "passk_diagnostics": False,
        },
    )
    if report.failed:
        raise SystemExit(str(report))
    with duckdb.connect(str(database), read_only=True) as connection:
        found = fetch_frame(connection, "select * from passk_extrapolations")
    place = pl.col("run_id").str.split("/").list
    truths = pl.DataFrame(
        [
            (name, k, population.pass_moment(k), 1 - population.fail_moment(k))
            for name, population in POPULATIONS.items()
            for k in EXTRAPOLATED
        ],
        schema=["population", "k", "true_hat", "true_at"],
        orient="row",
    )
    hat = pl.col("pass_hat_k") - pl.col("true_hat")
    at = pl.col("pass_at_k") - pl.col("true_at")
    return (
        found.with_columns(
            population=place.get(0),
            tasks=place.get(1).cast(pl.Int64),
            n=place.get(2).cast(pl.Int64),
            k=pl.col("k").cast(pl.Int64),
        )
        .join(truths, on=["population", "k"])
        .group_by(KEY, maintain_order=True)
        .agg(
            runs=pl.len(),
            without=pl.col("pass_hat_k").is_null().mean(),
            true_hat=pl.col("true_hat").first(),
            bias_hat=hat.mean(),
            rmse_hat=hat.pow(2).mean().sqrt(),
            at_most=(pl.col("pass_hat_k_at_most") >= pl.col("true_hat")).mean(),
            true_at=pl.col("true_at").first(),
            bias_at=at.mean(),
            rmse_at=at.pow(2).mean().sqrt(),
            at_least=(pl.col("pass_at_k_at_least") <= pl.col("true_at")).mean(),
        )
        .sort(
            pl.col("population").replace_strict(list(POPULATIONS), range(len(POPULATIONS))),
            *KEY[1:],
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=200, help="runs of each setting")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "passk.duckdb"
        land(database, options.runs)
        table = measure(database)
    print(
        "| population | tasks | n | k | no value | pass^k | bias | RMSE | `at_most` holds |"
        " pass@k | bias | RMSE | `at_least` holds |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for row in table.iter_rows(named=True):
        shown = [str(row[name]) for name in KEY]
        for name, digits in (("without", 2), ("true_hat", 3), ("bias_hat", 3), ("rmse_hat", 3), ("at_most", 2),
                             ("true_at", 3), ("bias_at", 3), ("rmse_at", 3), ("at_least", 2)):  # fmt: skip
            shown.append("" if row[name] is None else f"{row[name]:.{digits}f}")
        print(f"| {' | '.join(shown)} |")


if __name__ == "__main__":
    main()
