"""Measure a build, and one after a new run, on Spark and on DuckDB, from the same attempts.

    SPARK_REMOTE=sc://localhost:15002 python benchmarks/spark.py --dbt .venv-spark/bin/dbt --attempts 1000000 10000000
    python benchmarks/spark.py --attempts 10000000 --tries 10 --runs 100 --memory-limit 1GB

The same log is made in SQL on both engines: runs over one suite, every column filled, 2 % of the attempts excluded. Then each
is built whole by `dbt run`, and again after a new run with 1 % as many attempts. "build" and "new run" are the times that dbt's runs took,
without their start and parsing, which are the same on both, "bare" that of one `group by` of the log to a table, "peak" the memory
of dbt's process with DuckDB in it. Without `--dbt` there is DuckDB alone. That the metrics of both are equal after each build is
checked, not measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from memory import peak_mib

from passk_py.ingest.landing.schema import TABLES, ensure_landing

ROOT = Path(__file__).resolve().parent.parent
BARE = """
    create table {schema}.bare as
    select run_id, suite, task_id, count(*) as n, sum(case when outcome = 'passed' then 1 else 0 end) as c
    from {schema}.attempts
    group by run_id, suite, task_id
"""
CHECK = "select sum(pass_hat_k), sum(pass_at_k), count(*) from {schema}.passk_suite_metrics where slice_name = 'all'"
CLIENT = """
import json, sys, time
from pyspark.sql import SparkSession

session = SparkSession.builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
for statement in json.load(sys.stdin):
    started = time.perf_counter()
    rows = session.sql(statement)
    answer = [list(row) for row in rows.collect()] if statement.lstrip().startswith("select") else None
    print(json.dumps([time.perf_counter() - started, answer], default=float))
"""


@dataclass(frozen=True)
class Size:
    """How large a log is: every run tries each task equally often."""

    attempts: int
    tries: int
    runs: int

    @property
    def tasks(self) -> int:
        """How many tasks each run has."""
        return self.attempts // self.tries // self.runs

    @property
    def new_run(self) -> Size:
        """A run with 1 % of the attempts."""
        return Size(self.attempts // 100, self.tries, 1)


def log(size: Size, *, on_spark: bool, first_run: int = 0, month: int = 2) -> str:
    """Give the query of the log, in numbers that both engines compute alike; its runs are numbered from the first, and loaded in a month."""
    tasks, tries = size.tasks, size.tries
    text, domain = (
        ("string", "map('domain', {})") if on_spark else ("varchar", "map {{'domain': {}}}")
    )
    started = (
        "timestamp_seconds(1767225600 + {})"
        if on_spark
        else "make_timestamp((1767225600 + {}) * 1000000)"
    )
    number = "id" if on_spark else "range"
    whole = "div" if on_spark else "//"
    return f"""
        select
            concat('run-', lpad(cast(run as {text}), 4, '0')) as run_id, 'bench' as suite,
            concat('task-', lpad(cast(task as {text}), 7, '0')) as task_id, attempt, outcome,
            case outcome when 'excluded' then 'infra_error' end as outcome_reason,
            cast(case outcome when 'passed' then 1 when 'failed' then 0 end as double) as score,
            'agent' as agent, concat('v', cast(run as {text})) as agent_version, 'model' as model,
            draw as seed, {started.format(f"attempt * {tasks} + task")} as started_at,
            cast(draw % 1000 as double) / 100 as duration_s, cast(0.01 as double) as cost_usd,
            cast(1000 + task % 500 as bigint) as input_tokens, cast(200 as bigint) as output_tokens,
            md5(concat(cast(task as {text}), '/', cast(attempt as {text}))) as output_hash,
            {domain.format(f"concat('domain-', cast(task % 7 as {text}))")} as tags,
            '/logs/log.parquet' as source_file, attempt * {tasks} + task as source_line,
            'canonical_parquet' as source_format, timestamp '2026-{month:02d}-01 00:00:00' as loaded_at
        from (
            select
                *,
                case
                    when (draw {whole} 128) % 100 < 2 then 'excluded'
                    when (draw {whole} 16384) % 100 < task % 101 then 'passed'
                    else 'failed'
                end as outcome
            from (
                select
                    {first_run} + {number} {whole} {tasks * tries} as run,
                    {number} % {tasks} as task,
                    ({number} {whole} {tasks}) % {tries} + 1 as attempt,
                    ({number} * 2654435761) % 4294967291 as draw
                from range({size.attempts})
            ) as numbered
        ) as drawn
    """


def empty_tables(schema: str) -> list[str]:
    """Give the statements that make what else lands, without rows."""
    types = {"VARCHAR": "string"}
    return [
        f"create table {schema}.{table} ({', '.join(f'{name} {types.get(kind, kind)}' for name, kind in columns)}) using parquet"
        for table, columns in TABLES.items()
        if table != "attempts"
    ]


def ask_spark(python: str, *statements: str) -> list[tuple[float, Any]]:
    """Run statements on the server of SPARK_REMOTE: seconds and rows of each."""
    done = subprocess.run(
        [python, "-c", CLIENT],
        input=json.dumps(statements),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    return [(line[0], line[1]) for line in map(json.loads, done.stdout.splitlines())]


def build(
    dbt: str, target: str, folder: Path, environment: dict[str, str], **variables: str
) -> tuple[float, float]:
    """Seconds of a build, and the most megabytes that dbt's process took."""
    words = [
        dbt, "--no-use-colors", "run", "--target", target, "--project-dir", str(ROOT),
        "--profiles-dir", str(ROOT), "--target-path", str(folder / "target"), "--log-path", str(folder / "logs"),
        "--vars", json.dumps(variables),
    ]  # fmt: skip
    said = folder / "dbt.txt"
    peak = 0.0
    with (
        said.open("w") as output,
        subprocess.Popen(
            words, env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", **environment}, cwd=folder,
            stdout=output, stderr=subprocess.STDOUT,
        ) as process,
    ):  # fmt: skip
        try:
            while process.poll() is None:
                peak = max(peak, (peak_mib(process.pid) or 0.0) * 2**20 / 1e6)
                time.sleep(0.1)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise RuntimeError(said.read_text()[-3000:])
    results = json.loads((folder / "target" / "run_results.json").read_text())
    return float(results["elapsed_time"]), peak


def on_duckdb(folder: Path, size: Size, memory_limit: str | None) -> tuple[dict[str, float], Any]:
    """Seconds on DuckDB."""
    database = folder / "bench.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute("set threads = 2")
        ensure_landing(connection)
        connection.execute("drop table landing.attempts")
        connection.execute(f"create table landing.attempts as {log(size, on_spark=False)}")
        started = time.perf_counter()
        connection.execute(BARE.format(schema="landing"))
        connection.execute("checkpoint")
        bare = time.perf_counter() - started
    megabytes = database.stat().st_size / 1e6
    dbt = str(Path(sys.executable).with_name("dbt"))
    environment = {"PASSK_DATABASE": str(database)}
    if memory_limit:
        environment["PASSK_MEMORY_LIMIT"] = memory_limit
    checks: list[Any] = []

    def build_it() -> tuple[float, float]:
        measured = build(dbt, "duckdb", folder, environment)
        with duckdb.connect(str(database), read_only=True) as connection:
            checks.extend(connection.execute(CHECK.format(schema="main")).fetchone() or ())
        return measured

    seconds, peak = build_it()
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"insert into landing.attempts {new_run(size, on_spark=False)}")
    again, _ = build_it()
    database.unlink()
    return {
        "bare": bare, "build": seconds, "new run": again, "megabytes": megabytes, "peak": peak
    }, checks  # fmt: skip


def new_run(size: Size, *, on_spark: bool) -> str:
    """Give the query of the run that comes later."""
    return log(size.new_run, on_spark=on_spark, first_run=size.runs, month=3)


def on_spark(folder: Path, size: Size, dbt: str) -> tuple[dict[str, float], Any]:
    """Seconds on Spark."""
    python = str(Path(dbt).with_name("python"))
    schema, built = f"passk_bench_{size.attempts}", f"passk_bench_{size.attempts}_built"
    made = [schema, built, f"{built}_passk_internal"]
    ask_spark(python, *(f"drop schema if exists {name} cascade" for name in made))
    answers = ask_spark(
        python,
        f"create schema {schema}",
        f"create table {schema}.attempts using parquet as {log(size, on_spark=True)}",
        *empty_tables(schema),
        BARE.format(schema=schema),
    )
    checks: list[Any] = []

    def build_it() -> float:
        environment = {"PASSK_SPARK_SCHEMA": built}
        seconds, _ = build(dbt, "spark", folder, environment, passk_landing_schema=schema)
        checks.extend(ask_spark(python, CHECK.format(schema=built))[0][1][0])
        return seconds

    seconds = build_it()
    ask_spark(python, f"insert into {schema}.attempts {new_run(size, on_spark=True)}")
    again = build_it()
    ask_spark(python, *(f"drop schema if exists {name} cascade" for name in made))
    return {"bare": answers[-1][0], "build": seconds, "new run": again}, checks


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--attempts", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--tries", type=int, default=100, help="attempts of each task in each run")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--dbt", help="dbt of an environment with dbt-spark")
    parser.add_argument("--memory-limit", help="of DuckDB, such as 1GB")
    options = parser.parse_args()
    print(
        "| attempts | runs | tasks of each | engine | bare, s | build, s | build, microseconds an attempt "
        "| new run, s | of the build | log, MB | peak, MB |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for attempts in options.attempts:
        size = Size(attempts, options.tries, options.runs)
        found = []
        for engine in ("DuckDB", "Spark") if options.dbt else ("DuckDB",):
            with tempfile.TemporaryDirectory() as folder:
                if engine == "DuckDB":
                    measured, check = on_duckdb(Path(folder), size, options.memory_limit)
                else:
                    measured, check = on_spark(Path(folder), size, options.dbt)
            found.append(check)
            log_mb, peak_mb = (
                f"{measured[name]:,.0f}" if name in measured else ""
                for name in ("megabytes", "peak")
            )
            print(
                f"| {attempts:,} | {size.runs:,} | {size.tasks:,} | {engine} | {measured['bare']:.1f} | {measured['build']:.0f} "
                f"| {measured['build'] / attempts * 1e6:.2f} | {measured['new run']:.0f} "
                f"| {measured['new run'] / measured['build']:.0%} | {log_mb} | {peak_mb} |",
                flush=True,
            )
        ours, theirs = found[0], found[-1]
        if any(
            abs(one - other) > 1e-12 * abs(one) for one, other in zip(ours, theirs, strict=True)
        ):
            raise SystemExit(f"The engines differ: {ours} and {theirs}.")


if __name__ == "__main__":
    main()
