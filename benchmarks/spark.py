"""What a build costs on Spark, beside one on DuckDB from the same attempts.

    SPARK_REMOTE=sc://localhost:15002 python benchmarks/spark.py --dbt .venv-spark/bin/dbt --attempts 1000000 10000000

The same log is made in SQL on both engines: 10 runs over one suite, every column filled, 2 % of the attempts excluded. Then each
is built whole by `dbt run` in a process of its own. "build" is the wall time of that process, with dbt's start and parsing, "bare"
that of one `group by` of the log to a table. That the metrics of both are equal is checked, not measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

ROOT = Path(__file__).resolve().parent.parent
RUNS = 10
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


def log(attempts: int, run_tasks: int, *, on_spark: bool) -> str:
    """Give the query of the log, in numbers that both engines compute alike."""
    tasks, tries = run_tasks // RUNS, attempts // run_tasks
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
            'canonical_parquet' as source_format, timestamp '2026-02-01 00:00:00' as loaded_at
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
                    {number} {whole} {tasks * tries} as run,
                    {number} % {tasks} as task,
                    ({number} {whole} {tasks}) % {tries} + 1 as attempt,
                    ({number} * 2654435761) % 4294967291 as draw
                from range({attempts})
            ) as numbered
        ) as drawn
    """


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
) -> float:
    """Seconds of a whole build."""
    started = time.perf_counter()
    done = subprocess.run(
        [
            dbt, "--no-use-colors", "run", "--full-refresh", "--target", target, "--project-dir", str(ROOT),
            "--profiles-dir", str(ROOT), "--target-path", str(folder / "target"), "--log-path", str(folder / "logs"),
            "--vars", json.dumps(variables),
        ],
        env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", **environment}, cwd=folder,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError((done.stdout + done.stderr)[-3000:])
    return time.perf_counter() - started


def on_duckdb(folder: Path, attempts: int, run_tasks: int) -> tuple[dict[str, float], Any]:
    """Seconds on DuckDB."""
    database = folder / "bench.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute("set threads = 2")
        connection.execute("create schema landing")
        connection.execute(
            f"create table landing.attempts as {log(attempts, run_tasks, on_spark=False)}"
        )
        connection.execute(
            "create table landing.removed_tasks (run_id varchar, suite varchar, task_id varchar, removed_at timestamp)"
        )
        started = time.perf_counter()
        connection.execute(BARE.format(schema="landing"))
        connection.execute("checkpoint")
        bare = time.perf_counter() - started
    dbt = str(Path(sys.executable).with_name("dbt"))
    seconds = build(dbt, "duckdb", folder, {"PASSK_DATABASE": str(database)})
    with duckdb.connect(str(database), read_only=True) as connection:
        check = connection.execute(CHECK.format(schema="main")).fetchone()
    database.unlink()
    return {"bare": bare, "build": seconds}, check


def on_spark(folder: Path, attempts: int, run_tasks: int, dbt: str) -> tuple[dict[str, float], Any]:
    """Seconds on Spark."""
    python = str(Path(dbt).with_name("python"))
    schema, built = f"passk_bench_{attempts}", f"passk_bench_{attempts}_built"
    made = [schema, built, f"{built}_passk_internal"]
    ask_spark(python, *(f"drop schema if exists {name} cascade" for name in made))
    answers = ask_spark(
        python,
        f"create schema {schema}",
        f"create table {schema}.attempts using parquet as {log(attempts, run_tasks, on_spark=True)}",
        f"create table {schema}.removed_tasks (run_id string, suite string, task_id string, removed_at timestamp) using parquet",
        BARE.format(schema=schema),
    )
    seconds = build(
        dbt, "spark", folder, {"PASSK_SPARK_SCHEMA": built}, passk_landing_schema=schema
    )
    check = ask_spark(python, CHECK.format(schema=built))[0][1][0]
    ask_spark(python, *(f"drop schema if exists {name} cascade" for name in made))
    return {"bare": answers[-1][0], "build": seconds}, check


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--attempts", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--tries", type=int, default=100, help="attempts of each task in each run")
    parser.add_argument("--dbt", required=True, help="dbt of an environment with dbt-spark")
    options = parser.parse_args()
    print(
        "| attempts | engine | bare, s | build, s | build, microseconds an attempt |\n|---|---|---|---|---|"
    )
    for attempts in options.attempts:
        run_tasks = attempts // options.tries
        found = []
        for engine in ("DuckDB", "Spark"):
            with tempfile.TemporaryDirectory() as folder:
                if engine == "DuckDB":
                    seconds, check = on_duckdb(Path(folder), attempts, run_tasks)
                else:
                    seconds, check = on_spark(Path(folder), attempts, run_tasks, options.dbt)
            found.append(check)
            print(
                f"| {attempts:,} | {engine} | {seconds['bare']:.1f} | {seconds['build']:.0f} "
                f"| {seconds['build'] / attempts * 1e6:.2f} |",
                flush=True,
            )
        ours, theirs = found
        if any(
            abs(one - other) > 1e-12 * abs(one) for one, other in zip(ours, theirs, strict=True)
        ):
            raise SystemExit(f"The engines differ: {ours} and {theirs}.")


if __name__ == "__main__":
    main()
