"""Measure the cost of a build, as ratios to a bare ``group by`` of the same log in the same run.

    python benchmarks/build.py --attempts 10000000 --run-tasks 100000
    python benchmarks/build.py --attempts 10000000 --tries 20 100 200 1000 4000

A synthetic log is landed: 10 runs over one suite, every column filled, attempts in rounds over the tasks as a harness
executes them, 2 % excluded. Then, each in a process of its own so that peak memory is its own:

- the bare query: attempts and passes by run, suite and task, written to a table;
- the first build of a database, without the metrics that need the order of attempts, without the diagnostics of the log, without
  either, and with both; after each its full refresh;
- a full build by another revision of the project, with ``--other FOLDER``, a checkout of it;
- a build with nothing new, and builds by increment: after a new run, 1 % of all attempts, and after the late half of the attempts of
  2 % of the tasks, in one run and in all others, also by the other revision;
- the same over a log of 1,600 attempts, which is what the statements themselves cost.

"SQL" is the time inside the database, summed over all statements that dbt sends and the checkpoint at their end, so that
both sides have written their tables whole, "CPU" the processor's time of that on all threads; "wall" is the whole process after
its imports. Medians of the repetitions.
Other work on the machine shows in all rows alike, so read the ratios.

With ``--tries``, only the bare query and the first build of logs with so many attempts of each task, all with as many attempts in all.
With ``--models``, only one ``group by`` by hand, bare, with all sums of the scan and with its masks, beside the costliest models of the
first build, with the costs of attempts and without (``passk_costs: []``).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import duckdb

ROOT = Path(__file__).resolve().parent.parent
RUNS = 10
MODELS = 15
SMALL: dict[str, Any] = {"attempts": 1_600, "run_tasks": 100}
COUNTS = "count(*) as n, count(*) filter (outcome = 'passed') as c"
SUMS = f"""
    {COUNTS}, count(*) filter (outcome = 'excluded') as excluded, min(started_at) as started_at, max(started_at) as last_started_at,
    sum(duration_s) as duration_s, sum(cost_usd) as cost_usd, count(cost_usd) as attempts_with_cost,
    sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, max(loaded_at) as loaded_at
"""
ORDER = f"""
    {SUMS}, bit_or(1::hugeint << attempt - 1) as attempt_mask,
    bit_or(1::hugeint << attempt - 1) filter (outcome = 'passed') as pass_mask,
    bit_or(1::hugeint << attempt - 1) filter (outcome = 'failed') as fail_mask
"""
BY_HAND = {"bare": COUNTS, "sums": SUMS, "order": ORDER}
"""One ``group by`` of the log, written by hand: attempts and passes, all sums of the scan, and its masks too."""


def make(database: Path, attempts: int, run_tasks: int, runs: int = RUNS) -> None:
    """Land the synthetic log."""
    from passk_py.ingest.landing import ensure_landing

    tasks, tries = run_tasks // runs, attempts // run_tasks
    with duckdb.connect(str(database)) as connection:
        ensure_landing(connection)
        for run in range(runs):
            # Every fiftieth task has half of its attempts: the others come late.
            for last, keep in ((tries, "task % 50 <> 0"), (tries // 2, "task % 50 = 0")):
                connection.execute(_rows(f"run-{run:04d}", "2026-02-01", tasks, 1, last, run, keep))


def _rows(
    run_id: str, loaded_at: str, tasks: int, first: int, last: int, salt: int, keep: str = "true"
) -> str:
    """SQL that lands attempts ``first`` to ``last`` of the run's tasks for which ``keep`` holds."""
    return f"""
        insert into landing.attempts by name
        select
            '{run_id}' as run_id, 'bench' as suite, 'task-' || lpad(task::varchar, 7, '0') as task_id,
            attempt, outcome, case outcome when 'excluded' then 'infra_error' end as outcome_reason,
            case outcome when 'passed' then 1.0 when 'failed' then 0.0 end as score,
            'agent' as agent, 'v{salt}' as agent_version, 'model' as model, hash(task, attempt, {salt}) // 2 as seed,
            timestamp '2026-01-01' + to_seconds(attempt * {tasks} + task) as started_at,
            (hash(task, attempt) % 1000) / 100.0 as duration_s, 0.01 as cost_usd,
            1000 + hash(task) % 500 as input_tokens, 200 as output_tokens,
            md5(task::varchar || '/' || attempt::varchar) as output_hash,
            map {{'domain': 'domain-' || (task % 7)}} as tags,
            '/logs/{run_id}.parquet' as source_file, attempt * {tasks} + task as source_line,
            'canonical-parquet' as source_format, timestamp '{loaded_at}' as loaded_at
        from (
            select
                task, attempt,
                case
                    when hash(task, attempt, {salt}, 1) % 100 < 2 then 'excluded'
                    when hash(task, attempt, {salt}, 2) % 100 < task % 101 then 'passed'
                    else 'failed'
                end as outcome
            from range({first}, {last} + 1) as rounds (attempt)
            cross join range({tasks}) as tasks (task)
            where {keep}
            order by attempt, task
        )
    """


def add_new_run(database: Path, attempts: int, run_tasks: int) -> None:
    """1 % new attempts: a run over a tenth of the suite."""
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            _rows("run-new", "2026-03-01", run_tasks // RUNS // 10, 1, attempts // run_tasks, 99)
        )


def add_late_attempts(
    database: Path, attempts: int, run_tasks: int, runs: range, loaded_at: str
) -> None:
    """The second half of every fiftieth task of some runs; each load has a time of its own, by which a build sees it."""
    tries = attempts // run_tasks
    with duckdb.connect(str(database)) as connection:
        for run in runs:
            connection.execute(
                _rows(
                    f"run-{run:04d}",
                    loaded_at,
                    run_tasks // RUNS,
                    tries // 2 + 1,
                    tries,
                    run,
                    "task % 50 = 0",
                )
            )


def measure_by_hand(database: Path, values: str) -> dict[str, float]:
    """Seconds of one query by hand, written to a table."""
    with duckdb.connect(str(database)) as connection:
        connection.execute("set threads = 2")
        started, work = time.perf_counter(), time.process_time()
        connection.execute(
            f"create table by_hand as select run_id, suite, task_id, {values} "
            "from landing.attempts group by run_id, suite, task_id"
        )
        connection.execute("checkpoint")
        seconds, worked = time.perf_counter() - started, time.process_time() - work
        connection.execute("drop table by_hand")
    return {"sql": seconds, "cpu": worked, "wall": seconds}


def measure_build(
    database: Path,
    project: Path,
    *,
    full_refresh: bool,
    ordered: bool = True,
    diagnosed: bool = True,
    costs: bool = True,
) -> dict[str, Any]:
    """Seconds inside the database, and of the whole run, of one dbt run in this process."""
    os.environ["PASSK_DATABASE"] = str(database)
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager
    from dbt.adapters.duckdb.environments.local import DuckDBCursorWrapper
    from dbt.cli.main import dbtRunner

    spent: list[float] = []
    worked: list[float] = []
    models: dict[str, float] = defaultdict(float)
    wrapper: Any = DuckDBCursorWrapper
    execute = wrapper.execute

    def timed(self: Any, sql: str, bindings: Any = None) -> Any:  # noqa: ANN401 -- dbt's own signature
        started, work = time.perf_counter(), time.process_time()
        try:
            return execute(self, sql, bindings)
        finally:
            spent.append(time.perf_counter() - started)
            worked.append(time.process_time() - work)
            # dbt names the model in a comment.
            found = re.search(r'"node_id": "(?:\w+\.)*(\w+)"', sql)
            models[found[1] if found else "other statements"] += worked[-1]

    wrapper.execute = timed
    work = database.parent
    arguments = [
        "--quiet",
        "run",
        "--project-dir",
        str(project),
        "--profiles-dir",
        str(project),
        "--target",
        "duckdb",
        "--target-path",
        str(work / "target"),
        "--log-path",
        str(work / "logs"),
        "--threads",
        "1",
        "--vars",
        json.dumps(
            {"passk_ordered_metrics": ordered, "passk_diagnostics": diagnosed}
            | ({} if costs else {"passk_costs": []})
        ),
    ]
    started = time.perf_counter()
    result = dbtRunner().invoke(arguments + (["--full-refresh"] if full_refresh else []))
    if not result.success:
        raise SystemExit(f"the build failed: {result.exception or result.result}")
    wall = time.perf_counter() - started
    # Closing writes what is still in the write-ahead log only.
    started, work_at_end = time.perf_counter(), time.process_time()
    manager: Any = DuckDBConnectionManager
    manager._ENV.close()  # noqa: SLF001 -- dbt has no other way, short of ending the process
    manager.close_all_connections()
    written = time.perf_counter() - started
    worked.append(time.process_time() - work_at_end)
    return {
        "sql": sum(spent) + written,
        "cpu": sum(worked),
        "wall": wall + written,
        "statements": len(spent),
        "models": dict(sorted(models.items(), key=lambda one: -one[1])[:MODELS]),
    }


def _in_own_process(
    step: str, database: Path, *, checkout: Path = ROOT, **options: object
) -> dict[str, Any]:
    """Run one step by itself, and take its figures and peak memory."""
    command = [sys.executable, __file__, "--step", step, "--database", str(database)]
    command += ["--project", str(checkout)]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"step {step} failed:\n{done.stdout}\n{done.stderr}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _step(arguments: argparse.Namespace) -> None:
    """One step in this process; figures as the last line of stdout."""
    database, attempts, run_tasks = arguments.database, arguments.attempts, arguments.run_tasks
    figures: dict[str, Any] = {}
    if arguments.step == "make":
        make(database, attempts, run_tasks)
    elif arguments.step == "new-run":
        add_new_run(database, attempts, run_tasks)
    elif arguments.step == "late-in-one":
        add_late_attempts(database, attempts, run_tasks, range(1), "2026-03-02")
    elif arguments.step == "late-in-others":
        add_late_attempts(database, attempts, run_tasks, range(1, RUNS), "2026-03-03")
    elif arguments.step in BY_HAND:
        figures = measure_by_hand(database, BY_HAND[arguments.step])
    else:
        figures = measure_build(
            database,
            arguments.project,
            full_refresh=arguments.step.startswith("full"),
            ordered="unordered" not in arguments.step,
            diagnosed="undiagnosed" not in arguments.step,
            costs="costless" not in arguments.step,
        )
    figures["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(figures))


def main() -> None:
    """Make the log, measure, print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--attempts", type=int, default=10_000_000)
    parser.add_argument("--run-tasks", type=int, default=100_000)
    parser.add_argument("--tries", type=int, nargs="+", help="attempts of a task")
    parser.add_argument("--models", action="store_true", help="name the costliest models")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--other", type=Path, help="a checkout of another revision")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--database", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--project", type=Path, default=ROOT, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        _step(arguments)
        return

    if arguments.tries:
        _by_tries(arguments.attempts, arguments.tries, arguments.repeat)
        return

    size: dict[str, Any] = {"attempts": arguments.attempts, "run_tasks": arguments.run_tasks}
    if arguments.models:
        _by_model(size, arguments.repeat)
        return

    with tempfile.TemporaryDirectory(prefix="passk-benchmark-") as folder:
        database = Path(folder) / "log.duckdb"
        _in_own_process("make", database, **size)
        rows: dict[str, list[dict[str, Any]]] = {}

        def measure(name: str, step: str, path: Path, checkout: Path = ROOT) -> None:
            rows.setdefault(name, []).append(_in_own_process(step, path, checkout=checkout))

        def copy_to(name: str, of: Path) -> Path:
            """Copy under the same name, which is part of the SQL of every view."""
            copy = Path(folder) / name / database.name
            copy.parent.mkdir(exist_ok=True)
            shutil.copy(of, copy)
            os.sync()  # else the first commit waits until the copy is on the disk
            return copy

        def increments(
            prefix: str, built: Path, log: dict[str, Any], checkout: Path = ROOT
        ) -> None:
            copy = copy_to("copy", built)
            measure(f"{prefix}nothing new", "increment", copy, checkout)
            for name, step in (
                ("a new run, 1 %", "new-run"),
                ("late attempts of one run", "late-in-one"),
                ("late attempts of all other runs", "late-in-others"),
            ):
                _in_own_process(step, copy, **log)
                measure(f"{prefix}{name}", "increment", copy, checkout)

        # The bare query between the others, so that a slow moment of the machine meets both.
        variants = [
            ("full, without ordered metrics", "full-unordered", ROOT),
            ("full, without diagnostics", "full-undiagnosed", ROOT),
            ("full, without either", "full-unordered-undiagnosed", ROOT),
            ("full", "full", ROOT),
        ]
        if arguments.other:
            variants.append(("full, by the other revision", "full", arguments.other))
        for _ in range(arguments.repeat):
            for name, step, checkout in variants:
                built = copy_to(name, database)
                measure("bare group by", "bare", database)
                measure(f"{name}, first build", step, built, checkout)
                measure(name, step, built, checkout)
        for _ in range(arguments.repeat):
            increments("", Path(folder) / "full" / database.name, size)
            if arguments.other:
                built = Path(folder) / "full, by the other revision" / database.name
                increments("by the other revision: ", built, size, arguments.other)

        small = Path(folder) / "small" / database.name
        small.parent.mkdir()
        _in_own_process("make", small, **SMALL)
        landed = copy_to("landed", small)
        for _ in range(arguments.repeat):
            shutil.copy(landed, small)
            measure("small log: full, first build", "full", small)
            measure("small log: full", "full", small)
            increments("small log: ", small, SMALL)
    _report(rows, size)


def _by_tries(attempts: int, tries: list[int], repeat: int) -> None:
    """Print the cost of the first build by the attempts of a task."""
    print(f"{attempts:,} attempts, DuckDB {duckdb.__version__}, 2 threads")
    print(f"{'tries':>8}{'bare CPU s':>12}{'CPU s':>8}{'/ bare':>8}{'SQL s':>8}{'peak MiB':>10}")
    for each in tries:
        with tempfile.TemporaryDirectory(prefix="passk-benchmark-") as folder:
            log = Path(folder) / "log.duckdb"
            _in_own_process("make", log, attempts=attempts, run_tasks=attempts // each)
            bare, built = [], []
            for number in range(repeat):
                copy = Path(folder) / str(number) / log.name
                copy.parent.mkdir()
                shutil.copy(log, copy)
                bare.append(_in_own_process("bare", log))
                built.append(_in_own_process("full", copy))
            least = min(built, key=lambda row: row["cpu"])
            floor = min(row["cpu"] for row in bare)
            print(
                f"{each:8}{floor:12.2f}{least['cpu']:8.2f}{least['cpu'] / floor:8.1f}"
                f"{least['sql']:8.2f}{least['peak_mib']:10.0f}",
                flush=True,
            )


def _by_model(size: dict[str, Any], repeat: int) -> None:
    """Print the CPU time of the first build by its models, with costs and without."""
    with tempfile.TemporaryDirectory(prefix="passk-benchmark-") as folder:
        log = Path(folder) / "log.duckdb"
        _in_own_process("make", log, **size)
        print(f"{size['attempts']:,} attempts, DuckDB {duckdb.__version__}, 2 threads")
        for step in BY_HAND:
            by_hand = [_in_own_process(step, log)["cpu"] for _ in range(repeat)]
            print(f"one group by, {step}: {min(by_hand):.2f} CPU s", flush=True)
        for step in ("full", "full-costless"):
            copy = Path(folder) / step / log.name
            copy.parent.mkdir()
            shutil.copy(log, copy)
            built = _in_own_process(step, copy)
            copy.unlink()
            print(f"{step}: {built['cpu']:.2f} CPU s, peak {built['peak_mib']:.0f} MiB")
            for name, seconds in built["models"].items():
                print(f"{seconds:8.2f} {name}", flush=True)


def _report(rows: dict[str, list[dict[str, Any]]], size: dict[str, int]) -> None:
    """Print medians and ratios."""

    def median(name: str, figure: str) -> float:
        return float(statistics.median(row[figure] for row in rows[name]))

    beside = {"bare": "bare group by", "first": "full, first build", "full": "full"}
    seconds = {heading: median(name, "sql") for heading, name in beside.items()}
    print(
        f"{size['attempts']:,} attempts in {size['run_tasks']:,} run-tasks, DuckDB {duckdb.__version__}, 2 threads"
    )
    headings = "".join(f"{'/ ' + heading:>9}" for heading in seconds)
    print(f"{'':58}{'SQL s':>8}{headings}{'CPU s':>9}{'wall s':>9}{'peak MiB':>10}")
    for name in rows:
        sql = median(name, "sql")
        ratios = "".join(f"{sql / other:9.2f}" for other in seconds.values())
        print(
            f"{name:58}{sql:8.3f}{ratios}{median(name, 'cpu'):9.3f}{median(name, 'wall'):9.2f}"
            f"{median(name, 'peak_mib'):10.0f}"
        )


if __name__ == "__main__":
    main()
