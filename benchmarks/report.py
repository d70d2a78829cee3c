"""Measure the cost of a report of many tasks, beside one look at all of them.

    python benchmarks/report.py --tasks 1000000 --runs 20

A synthetic log is landed and built without the metrics that need order and without diagnostics. Then, each in a process of its own so
that peak memory is its own:

- one query over the whole of ``passk_tasks``: how many tasks of each run are of which class;
- ``passk report`` of it all, as HTML.

Seconds are those of the whole process after its imports. Other work on the machine shows in both, so read the ratio.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
from memory import peak_mib

LOOK = "select run_id, task_class, count(*) from passk_tasks group by all"


def make(database: Path, tasks: int, runs: int, tries: int) -> None:
    """Land the log and build the tables."""
    from passk_py import build
    from passk_py.ingest.landing import ensure_landing

    with duckdb.connect(str(database)) as connection:
        ensure_landing(connection)
        for run in range(runs):
            connection.execute(
                f"""
                insert into landing.attempts by name
                select
                    'run-{run:03d}' as run_id, 'bench' as suite, 'task-' || task as task_id, attempt,
                    case
                        when hash(task, attempt, {run}, 1) % 100 < 2 then 'excluded'
                        when hash(task, attempt, {run}, 2) % 100 < task % 101 then 'passed'
                        else 'failed'
                    end as outcome,
                    'agent {run % 4}' as agent, 'v{run}' as agent_version,
                    timestamp '2026-01-01' + to_days({run}) as started_at,
                    'log-{run}' as source_file, row_number() over () as source_line,
                    'canonical-parquet' as source_format, timestamp '2026-03-01' as loaded_at
                from range({tasks}) as x (task), range(1, {tries} + 1) as y (attempt)
                """
            )
    build(
        database,
        variables={
            "passk_ks": [1, 2],
            "passk_deployment_k": 2,
            "passk_min_eligible_share": 0,
            "passk_ordered_metrics": False,
            "passk_diagnostics": False,
        },
    )


def look(database: Path, _out: Path) -> None:
    """Look at all tasks once."""
    with duckdb.connect(str(database), read_only=True) as connection:
        connection.execute(LOOK).fetchall()


def page(database: Path, out: Path) -> None:
    """Make the report."""
    from passk_py import report

    out.write_text(report(database).html(), encoding="utf-8")


PARTS = {"look": look, "report": page}


def measured(part: str, database: Path, out: Path) -> dict[str, Any]:
    """Run a part in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--part", part, "--database", str(database), "--out", str(out)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--tries", type=int, default=2)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--database", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.part:
        import passk_py.reports.report.page  # noqa: F401 - imports are not what is measured

        start = time.perf_counter()
        PARTS[given.part](given.database, given.out)
        seconds = time.perf_counter() - start
        print(json.dumps({"seconds": seconds, "peak_mib": peak_mib()}))
        return
    with tempfile.TemporaryDirectory() as folder:
        database, out = Path(folder) / "log.duckdb", Path(folder) / "report.html"
        start = time.perf_counter()
        make(database, given.tasks, given.runs, given.tries)
        print(f"{given.runs} runs of {given.tasks:,} tasks, {given.tries} attempts each")
        print(f"landed and built in {time.perf_counter() - start:.0f} s")
        base = measured("look", database, out)
        found = measured("report", database, out)
        size = out.stat().st_size / 1e6
        print(f"one look  {base['seconds']:6.2f} s  {base['peak_mib']:6.0f} MiB")
        print(
            f"report    {found['seconds']:6.2f} s  {found['peak_mib']:6.0f} MiB  {size:.2f} MB of HTML"
        )
        print(f"ratio     {found['seconds'] / base['seconds']:6.1f}")


if __name__ == "__main__":
    main()
