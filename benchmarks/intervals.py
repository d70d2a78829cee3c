"""How often the intervals of the SQL tables hold the truth, by simulation through the whole build.

    python benchmarks/intervals.py                   # 1,000 runs of each of 700 settings
    python benchmarks/intervals.py --runs 200        # quicker, and coarser: 1.5 points of chance instead of 0.7

Suites: for each of seven populations of tasks (regular, spiked, hard, saturated), four to five sizes and three numbers of
attempts, runs are drawn, landed as attempts and built by dbt. The limits in ``passk_suite_metrics`` are held against the
population's pass@k and pass^k, those for these tasks only against the tasks' own. Every draw is a hash, so that a repetition
gives the same figures.

Tasks: the limits in ``int_passk__limits_by_count`` are held against every p of a grid, by exact binomial sums.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl

Draw = Callable[[random.Random], float]
SIZES = (20, 50, 100, 200, 500)
TRIES = {4: (1, 2, 4), 8: (1, 4, 8), 20: (1, 4, 8)}
KS = (1, 2, 4, 8)
# 500 tasks with 20 attempts each say little more, and cost most.
LARGEST_LOG = 4_000


@dataclass(frozen=True)
class Population:
    """Tasks to draw from: how to draw the chance p of a pass, and the mean of p^k."""

    draw: Draw
    moment: Callable[[int], float]

    def truth(self, metric: str, k: int) -> float:
        """Give pass@k or pass^k of the population."""
        if metric == "pass_hat_k":
            return float(self.moment(k))
        # E[1 - (1 - p)^k] from the moments of p; the k are small.
        return 1 - sum((-1.0) ** j * math.comb(k, j) * self.moment(j) for j in range(k + 1))


def beta(a: float, b: float) -> Population:
    return Population(
        lambda dice: dice.betavariate(a, b),
        lambda k: math.prod((a + i) / (a + b + i) for i in range(k)),
    )


def mixture(*parts: tuple[float, float | None]) -> Population:
    """Shares and the p of each; None is uniform."""

    def draw(dice: random.Random) -> float:
        (p,) = dice.choices([p for _, p in parts], [share for share, _ in parts])
        return dice.random() if p is None else p

    def moment(k: int) -> float:
        return sum(share * (1 / (k + 1) if p is None else p**k) for share, p in parts)

    return Population(draw, moment)


POPULATIONS = {
    "Beta(.5, .5)": beta(0.5, 0.5),
    "Beta(2, 2)": beta(2, 2),
    "Beta(.3, 3), hard": beta(0.3, 3),
    "Beta(19, 1), saturated": beta(19, 1),
    "half .2, half .95": mixture((0.5, 0.2), (0.5, 0.95)),
    "60 % solved, 20 % hopeless": mixture((0.6, 1.0), (0.2, 0.0), (0.2, None)),
    "95 % solved": mixture((0.95, 1.0), (0.05, None)),
}


def land(database: Path, population: Population, runs: int) -> None:
    """Draw tasks, and attempts at them."""
    from passk_py.ingest.landing import ensure_landing

    dice = random.Random(1)
    with duckdb.connect(str(database)) as connection:
        ensure_landing(connection)
        connection.execute("create table tasks (run_id text, task bigint, n bigint, p double)")
        for tasks in SIZES:
            for n in TRIES:
                if tasks * n > LARGEST_LOG:
                    continue
                drawn = database.with_suffix(".parquet")
                pl.DataFrame(
                    {"p": [population.draw(dice) for _ in range(runs * tasks)]}
                ).with_row_index("place").write_parquet(drawn)
                connection.execute(
                    f"insert into tasks select '{tasks}/{n}/' || (place // {tasks}), place % {tasks}, {n}, p from '{drawn}'"
                )
        # 2^53 values between 0 and 1, as random numbers have. Of one text, because DuckDB's hash of several values keeps
        # what neighbours have in common.
        connection.execute(
            """
            insert into landing.attempts by name
            select
                run_id, 'suite' as suite, task::varchar as task_id, attempt,
                case when (hash(run_id || ' ' || task || ' ' || attempt) >> 11) / 9007199254740992 < p then 'passed' else 'failed' end as outcome,
                'simulated' as source_file, timestamp '2026-01-01' as loaded_at
            from tasks, lateral (select unnest(range(1, n + 1)) as attempt)
            """
        )


def measure(database: Path, population: Population) -> pl.DataFrame:
    """Build the tables, and count how often the limits hold the truth."""
    import passk_py as pk

    report = pk.build(
        database,
        variables={"passk_ks": list(KS), "passk_ordered_metrics": False},
    )
    if report.exit_code:
        raise SystemExit(str(report))
    truths = ", ".join(
        f"('{metric}', {k}, {population.truth(metric, k)!r}::double)"
        for metric in ("pass_at_k", "pass_hat_k")
        for k in KS
    )
    asked = " or ".join(f"(n = {n} and k in {ks})" for n, ks in TRIES.items())
    columns = ", ".join(
        f"{metric}{end}"
        for metric in ("pass_at_k", "pass_hat_k")
        for end in ("_lower", "_upper", "_suite_lower", "_suite_upper")
    )
    with duckdb.connect(str(database), read_only=True) as connection:
        rows = connection.execute(
            f"""
            with limits as (
                select
                    run_id, split_part(run_id, '/', 1)::bigint as tasks, split_part(run_id, '/', 2)::bigint as n, k, {columns}
                from passk_suite_metrics
            ),
            long as (
                select
                    run_id, tasks, n, k, 'pass_hat_k' as metric, pass_hat_k_lower as low, pass_hat_k_upper as high,
                    pass_hat_k_suite_lower as suite_low, pass_hat_k_suite_upper as suite_high
                from limits
                union all
                select
                    run_id, tasks, n, k, 'pass_at_k', pass_at_k_lower, pass_at_k_upper, pass_at_k_suite_lower,
                    pass_at_k_suite_upper
                from limits
            ),
            own as (
                select run_id, k, avg(p ** k) as own_hat, avg(1 - (1 - p) ** k) as own_at
                from tasks, (select unnest({list(KS)}) as k)
                group by all
            )
            select
                tasks, n, k, metric, count(*) as runs,
                avg((low <= truth + 1e-12 and truth <= high + 1e-12)::int) as covered,
                avg((low > truth + 1e-12)::int) as too_high,
                avg(high - low) as width,
                avg((
                    suite_low <= case metric when 'pass_at_k' then own_at else own_hat end + 1e-12
                    and case metric when 'pass_at_k' then own_at else own_hat end <= suite_high + 1e-12
                )::int) as covered_suite,
                avg(suite_high - suite_low) as width_suite
            from long join (values {truths}) as truths (metric, k, truth) using (metric, k) join own using (run_id, k)
            where {asked}
            group by all
            order by all
            """
        )
        names = [column[0] for column in rows.description or ()]
        return pl.DataFrame(rows.fetchall(), schema=names, orient="row")


def task_coverage(database: Path, counts: list[int]) -> list[tuple[int, float, float]]:
    """Give the least and the mean coverage of the limits of p, over a grid of p, for each n."""
    found = []
    with duckdb.connect(str(database), read_only=True) as connection:
        for n in counts:
            limits = connection.execute(
                "select c, p_lower, p_upper from main_passk_internal.int_passk__limits_by_count where n = ? order by c",
                [n],
            ).fetchall()
            if len(limits) != n + 1:
                raise SystemExit(f"there are {len(limits)} states of n = {n}")
            grid = [i / 2000 for i in range(2001)]
            # Coverage falls right beside a limit.
            grid += [x for _, low, high in limits for x in (low - 1e-9, high + 1e-9) if 0 < x < 1]
            shares = [
                sum(
                    math.comb(n, c) * p**c * (1 - p) ** (n - c)
                    for c, low, high in limits
                    if low <= p <= high
                )
                for p in grid
            ]
            found.append((n, min(shares), sum(shares[:2001]) / 2001))
    return found


def every_state(database: Path, counts: list[int]) -> None:
    """Land a task for each (n, c), and build the limits."""
    import passk_py as pk
    from passk_py.ingest.landing import ensure_landing

    with duckdb.connect(str(database)) as connection:
        ensure_landing(connection)
        connection.execute(
            f"""
            insert into landing.attempts by name
            select 'r' as run_id, 's' as suite, n || '/' || c as task_id, attempt,
                case when attempt <= c then 'passed' else 'failed' end as outcome, 'x' as source_file,
                timestamp '2026-01-01' as loaded_at
            from (select unnest({counts}) as n), lateral (select unnest(range(0, n + 1)) as c),
                lateral (select unnest(range(1, n + 1)) as attempt)
            """
        )
    report = pk.build(database)
    if report.exit_code:
        raise SystemExit(str(report))


def by_population(
    populations: Mapping[str, Population],
    land: Callable[[Path, Population, int], None],
    measure: Callable[[Path, Population], pl.DataFrame],
    runs: int,
) -> pl.DataFrame:
    """Land and measure each population in a database of its own."""
    parts = []
    with tempfile.TemporaryDirectory() as name:
        database = Path(name) / "suites.duckdb"
        for title, population in populations.items():
            began = time.perf_counter()
            land(database, population, runs)
            parts.append(measure(database, population).with_columns(population=pl.lit(title)))
            database.unlink()
            print(f"{title}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    return pl.concat(parts)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000, help="runs of each setting")
    given = parser.parse_args()
    pl.Config.set_tbl_rows(200)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts = [1, 2, 3, 4, 5, 8, 10, 20, 50]
        every_state(folder / "states.duckdb", counts)
        print("limits of a task: least and mean coverage over p")
        for n, least, mean in task_coverage(folder / "states.duckdb", counts):
            print(f"  n = {n:<4} least {least:.3f}  mean {mean:.3f}")
    found = by_population(POPULATIONS, land, measure, given.runs)
    aggregates = [
        pl.len().alias("settings"),
        pl.col("covered").mean().round(3).alias("mean"),
        pl.col("covered").min().round(3).alias("least"),
        pl.col("too_high").max().round(3).alias("most_too_high"),
        pl.col("width").mean().round(3),
        pl.col("covered_suite").mean().round(3).alias("mean_suite"),
        pl.col("covered_suite").min().round(3).alias("least_suite"),
        pl.col("width_suite").mean().round(3),
    ]
    print(f"\nlimits of a suite, {given.runs:,} runs of each of {found.height} settings")
    print(found.group_by("tasks").agg(aggregates).sort("tasks"))
    print(found.group_by("population").agg(aggregates).sort("population"))
    print(found.select(aggregates))
    print("the settings with the least coverage")
    print(
        found.sort("covered")
        .head(8)
        .select("population", "tasks", "n", "k", "metric", "covered", "too_high")
    )


if __name__ == "__main__":
    main()
