"""The cost of landing canonical logs, as ratios to DuckDB's ``create table as`` from the same file.

    python benchmarks/landing.py --attempts 1000000

A log is written as JSON lines, CSV and Parquet, once with the five fields that a log needs and once with every field of the
contract. Then, each in a process of its own:

- ``create table as`` of the file, with the types that DuckDB finds,
- ``insert`` of the same rows, unchecked, into a table with the columns of ``landing.attempts``: what the storage alone costs,
- ``passk load`` of the file into a new database.

Each process loads a small log before the clock starts, so that nothing is imported while it runs. CPU seconds and peak memory
are medians of the repetitions, which take turns; read the ratios.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from memory import peak_mib

FORMATS = ("jsonl", "csv", "parquet")
WAYS = ("create table as", "insert", "passk load")
FEW = """
'run-' || (i // 250000) as run_id, 'task-' || (i // 20 % 12500) as task_id, i % 20 + 1 as attempt,
hash(i) % 3 > 0 as passed, 'agent-' || (i // 250000 % 2) as agent
"""
# passed is the outcome, as a word.
ALL = """
* exclude (passed), if(passed, 'passed', 'failed') as outcome, 'suite' as suite, if(passed, null, 'wrong_answer') as
outcome_reason, hash(i, 1) % 1000 / 1000 as score, '1.2' as agent_version, 'model-a' as model, i % 100 as seed,
timestamp '2026-01-01' + to_seconds(i) as started_at, hash(i, 2) % 100000 / 1000 as duration_s,
hash(i, 3) % 10000 / 10000 as cost_usd, (hash(i, 4) % 20000)::bigint as input_tokens,
(hash(i, 5) % 2000)::bigint as output_tokens, md5(i::varchar) as output_hash
"""


def write_logs(folder: Path, attempts: int) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(f"create table few as select i, {FEW} from range({attempts}) as t(i)")
        connection.execute(f"create view every as select {ALL} from few")
        for name, table in (("few", "few"), ("all", "every")):
            for kind in FORMATS:
                how = "format json" if kind == "jsonl" else f"format {kind}"
                path = folder / f"{name}.{kind}"
                connection.execute(f"copy (select * exclude (i) from {table}) to '{path}' ({how})")
        path = folder / "small.jsonl"
        connection.execute(
            f"copy (select * exclude (i) from few limit 9) to '{path}' (format json)"
        )


def statements(way: str, path: Path) -> list[str]:
    from passk_py.common.contract import LANDING_COLUMNS

    if way == "create table as":
        return [f"create table log as from '{path}'"]
    columns = ", ".join(f"{column.name} {column.duckdb_type}" for column in LANDING_COLUMNS)
    few = "* exclude (passed), 'default' as suite, if(passed, 'passed', 'failed') as outcome"
    said = "*" if path.stem == "all" else few
    batch = f"'{path}' as source_file, 'log' as source_format, now()::timestamp as loaded_at"
    return [
        f"create table log ({columns})",
        f"insert into log by name select {said}, {batch} from '{path}'",
    ]


def run(way: str, path: Path) -> None:
    """Be the process that is measured."""
    import duckdb

    from passk_py.ingest.landing import load

    with tempfile.TemporaryDirectory() as folder:
        load(path.with_name("small.jsonl"), database=Path(folder) / "small.duckdb")
        database = Path(folder) / "log.duckdb"
        before = cpu_seconds()
        if way == "passk load":
            rows = load(path, database=database).rows_landed
        else:
            with duckdb.connect(str(database)) as connection:
                for statement in statements(way, path):
                    connection.execute(statement)
                rows = connection.execute("select count(*) from log").fetchall()[0][0]
        print(json.dumps([cpu_seconds() - before, peak_mib(), rows]))


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measured(way: str, path: Path, attempts: int) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--run", way, "--path", str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    cpu, peak, rows = json.loads(done.stdout)
    if rows != attempts:
        raise SystemExit(f"{way}: {rows} rows of {attempts}")
    return cpu, peak


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--attempts", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--run", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        run(given.run, given.path)
        return
    with tempfile.TemporaryDirectory(prefix="passk-benchmark-") as made:
        folder = Path(made)
        write_logs(folder, given.attempts)
        for name in ("few", "all"):
            for kind in FORMATS:
                path = folder / f"{name}.{kind}"
                found = [
                    [measured(way, path, given.attempts) for way in WAYS]
                    for _ in range(given.repeat)
                ]
                print(f"{given.attempts:,} attempts, {name} fields, {kind}")
                base = None
                for place, way in enumerate(WAYS):
                    cpu, peak = (
                        statistics.median(one[place][n] for one in found) for n in range(2)
                    )
                    base = base or (cpu, peak)
                    print(
                        f"  {way:16} {cpu:6.2f} s CPU {cpu / base[0]:5.1f} x"
                        f" {peak:6.0f} MiB {peak / base[1]:5.1f} x",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
