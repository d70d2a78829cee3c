"""How often the limits of delta_k and heterogeneity hold the truth, through the whole build.

    python benchmarks/differences.py                 # 500 runs of each of 216 settings

For each population of tasks, runs of 20, 50 and 200 tasks with 4, 8 and 16 attempts are drawn, landed and built by dbt. The
limits in ``passk_suite_metrics`` are held against the population, and beside them those of the tasks alone, without the two
pseudo-tasks. Counted are the runs that have limits, which need ten informative tasks. Settings of which fewer than 50 runs
have them are left out. Every draw is a hash, so that a repetition gives the same figures.
"""

from __future__ import annotations

import argparse
import random
from typing import TYPE_CHECKING

import duckdb
import polars as pl
from intervals import Population, beta, by_population, mixture

if TYPE_CHECKING:
    from pathlib import Path

SIZES = (20, 50, 200)
TRIES = (4, 8, 16)
KS = (2, 4, 8, 16)
LEAST_RUNS = 50
POPULATIONS = {
    "all .5": mixture((1.0, 0.5)),
    "all .8": mixture((1.0, 0.8)),
    "all .95": mixture((1.0, 0.95)),
    "98 % .5, 2 % perfect": mixture((0.98, 0.5), (0.02, 1.0)),
    "98 % .8, 2 % perfect": mixture((0.98, 0.8), (0.02, 1.0)),
    "Beta(2, 2)": beta(2, 2),
    "Beta(.5, .5)": beta(0.5, 0.5),
    "60 % solved, 20 % hopeless": mixture((0.6, 1.0), (0.2, 0.0), (0.2, None)),
}


def land(database: Path, population: Population, runs: int) -> None:
    """Draw tasks, and attempts at them."""
    from passk_py.ingest.landing import ensure_landing

    dice = random.Random(2)
    with duckdb.connect(str(database)) as connection:
        ensure_landing(connection)
        for tasks in SIZES:
            for n in TRIES:
                drawn = pl.DataFrame({"p": [population.draw(dice) for _ in range(runs * tasks)]})
                drawn.with_row_index("place").write_parquet(database.with_suffix(".parquet"))
                # 2^53 values between 0 and 1, as random numbers have.
                connection.execute(
                    f"""
                    insert into landing.attempts by name
                    select
                        '{tasks}/{n}/' || (place // {tasks}) as run_id, 'suite' as suite, (place % {tasks})::varchar as task_id,
                        attempt,
                        case
                            when (hash('{tasks}/{n}/' || place || ' ' || attempt) >> 11) / 9007199254740992 < p then 'passed'
                            else 'failed'
                        end as outcome,
                        'simulated' as source_file, timestamp '2026-01-01' as loaded_at
                    from '{database.with_suffix(".parquet")}', lateral (select unnest(range(1, {n} + 1)) as attempt)
                    """
                )


def measure(database: Path, population: Population) -> pl.DataFrame:
    """Build the tables, and count how often the limits hold the truth."""
    import passk_py as pk
    from passk_py.stats.distributions import student_quantile
    from passk_py.warehouse.tables import fetch_frame

    report = pk.build(
        database,
        variables={
            "passk_ks": list(KS),
            "passk_ordered_metrics": False,
            "passk_diagnostics": False,
        },
    )
    if report.exit_code:
        raise SystemExit(str(report))
    with duckdb.connect(str(database), read_only=True) as connection:
        rows = fetch_frame(
            connection,
            """
            select
                m.run_id, split_part(m.run_id, '/', 1)::bigint as tasks, split_part(m.run_id, '/', 2)::bigint as n, m.k,
                m.delta_k, m.delta_k_lower, m.delta_k_upper,
                m.heterogeneity, m.heterogeneity_lower, m.heterogeneity_upper,
                i.pass_rate - i.pass_hat_k + i.delta_k as bound, i.k * pow(i.pass_rate, i.k - 1) as slope,
                i.var_pass_hat_k as var_hat, i.var_pass_rate as var_rate, i.cov_pass_hat_k_pass_rate as cov
            from passk_suite_metrics as m
            inner join main_passk_internal.int_passk__suite_metrics as i using (run_id, suite, slice_name, slice_value, k)
            where m.delta_k_lower is not null
            """,
        )
    m = population.moment(1)
    of_k = {k: (population.moment(k) - m**k, m - m**k) for k in KS}
    truth = {k: (delta, delta / bound) for k, (delta, bound) in of_k.items()}
    quantiles = {tasks: student_quantile(tasks - 1, 0.95) for tasks in SIZES}
    k, index = pl.col("k"), pl.col("heterogeneity")

    def reach(slope: pl.Expr) -> pl.Expr:
        variance = pl.col("var_hat") + slope**2 * pl.col("var_rate") - 2 * slope * pl.col("cov")
        quantile = pl.col("tasks").replace_strict(quantiles, return_dtype=pl.Float64)
        return quantile * (variance.clip(0.0) / pl.col("tasks")).sqrt()

    slope = pl.col("slope")
    alone = {
        "delta_k": reach(slope),
        "heterogeneity": reach(slope + index * (1 - slope)) / pl.col("bound"),
    }
    found = []
    for place, name in enumerate(("delta_k", "heterogeneity")):
        true = k.replace_strict(
            {k: pair[place] for k, pair in truth.items()}, return_dtype=pl.Float64
        )
        low, high = pl.col(f"{name}_lower"), pl.col(f"{name}_upper")
        found.append(
            rows.group_by("tasks", "n", "k")
            .agg(
                runs=pl.len(),
                covered=((low <= true + 1e-12) & (true <= high + 1e-12)).mean(),
                covered_alone=((pl.col(name) - true).abs() <= alone[name] + 1e-12).mean(),
                width=(high - low).mean(),
                width_alone=(2 * alone[name]).mean(),
            )
            .with_columns(estimate=pl.lit(name))
        )
    return pl.concat(found).filter(pl.col("runs") >= LEAST_RUNS)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=500, help="runs of each setting")
    given = parser.parse_args()
    pl.Config(tbl_rows=200, tbl_cols=-1, tbl_width_chars=160, fmt_str_lengths=30)
    found = by_population(POPULATIONS, land, measure, given.runs)
    aggregates = [
        pl.len().alias("settings"),
        *(pl.col(f"covered{form}").min().round(3).alias(f"least{form}") for form in ("_alone", "")),
        *(pl.col(f"covered{form}").mean().round(3).alias(f"mean{form}") for form in ("_alone", "")),
        pl.col("width_alone").mean().round(3),
        pl.col("width").mean().round(3),
    ]
    print(f"{given.runs:,} runs of each of {found.height // 2} settings")
    order = {title: place for place, title in enumerate(POPULATIONS)}
    print(
        found.group_by("estimate", "population")
        .agg(aggregates)
        .sort("estimate", pl.col("population").replace_strict(order))
    )
    print(found.group_by("estimate", "tasks").agg(aggregates).sort("estimate", "tasks"))
    print(found.sort("covered").head(8))


if __name__ == "__main__":
    main()
