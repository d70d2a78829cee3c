"""The cost of many runs, as ratios to few runs with as many attempts in the same run.

    python benchmarks/runs.py --shapes 10x10000x20 10x1000x200 1000x100x20

A shape is runs x tasks x attempts of each task; the first is what the others are compared with. For each, the log of
``build.py`` is landed. Then, each in a process of its own:

- ``passk build`` with its tests, and with rules of each type that judge every run;
- ``passk build --full-refresh --no-tests`` of the same;
- ``passk show``, ``passk report``, ``passk gate`` of the declared rules, ``passk gate`` of one rule that is not declared, about every
  run, and ``passk validate``.

CPU is that of the process and of those it started. Each figure is the least of the repetitions; read the ratios.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
from pathlib import Path
from typing import Any

from build import make
from peek import Cost, cost_of

RULE: dict[str, Any] = {"run": "all", "severity": "ignore", "inconclusive": "ignore"}
RULES: list[dict[str, Any]] = [
    {"name": "floor", "type": "threshold", "metric": "pass_hat_k", "k": 4, "min": 0.3},
    {"name": "every-task", "type": "each_task", "metric": "pass_at_k", "k": 4, "min": 0.1},
    {"name": "no-worse", "type": "drop", "metric": "pass_hat_k", "k": 4, "max_drop": 0.03},
    {"name": "since-first", "type": "drop", "metric": "pass_hat_k", "k": 4, "max_drop": 0.03, "baseline": "run-0000"},
    {"name": "no-task-worse", "type": "regressed_tasks", "max": 1},
    {"name": "few-excluded", "type": "coverage", "metric": "excluded_attempts", "max": 0.05},
    {"name": "sound-log", "type": "diagnostics", "diagnostics": "all"},
]  # fmt: skip
VARIABLES = json.dumps({"passk_gates": [rule | RULE for rule in RULES]})
COMMANDS = {
    "build": ["build", "--vars", VARIABLES],
    "build, no tests": ["build", "--full-refresh", "--no-tests", "--vars", VARIABLES],
    "show": ["show"],
    "report": ["report"],
    "gate": ["gate"],
    "gate, a rule": ["gate", "--run", "all", "--metric", "pass_hat_k", "--k", "4", "--min", "0.3"],
    "validate": ["validate"],
}
RESULTS = {"gate", "gate, a rule"}
"""Commands whose exit code tells the result of a rule."""


def costs(shape: tuple[int, int, int], chosen: list[str], repeat: int) -> dict[str, Cost]:
    """Land the log of a shape, and measure the commands one after the other."""
    runs, tasks, tries = shape
    found: dict[str, list[Cost]] = {}
    with tempfile.TemporaryDirectory(prefix="passk-benchmark-") as made:
        folder = Path(made)
        for number in range(repeat):
            database = folder / f"{number}.duckdb"
            # In a process of its own: the peak memory of a child begins with what its parent had.
            size = (database, runs * tasks * tries, runs * tasks, runs)
            maker = multiprocessing.get_context("spawn").Process(target=make, args=size)
            maker.start()
            maker.join()
            for name in chosen:
                command = [
                    sys.executable,
                    "-m",
                    "passk_py",
                    *COMMANDS[name],
                    "--database",
                    str(database),
                ]
                results = {0, 1, 2} if name in RESULTS else {0}
                found.setdefault(name, []).append(cost_of([command], folder, results))
            database.unlink()
    return {name: Cost(*map(min, zip(*all_of, strict=True))) for name, all_of in found.items()}


def main() -> None:
    """Measure each shape, and print a table of it beside the first."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--shapes", nargs="+", default=["10x10000x20", "10x1000x200", "1000x100x20"]
    )
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--repeat", type=int, default=1)
    asked = parser.parse_args()
    base: dict[str, Cost] = {}
    for text in asked.shapes:
        runs, tasks, tries = map(int, text.split("x"))
        print(f"{runs:,} runs of {tasks:,} tasks, {tries} attempts each", flush=True)
        found = costs((runs, tasks, tries), asked.commands, asked.repeat)
        base = base or found
        for name, cost in found.items():
            ratio = f"{cost.cpu / base[name].cpu:6.2f} x CPU {cost.peak_mib / base[name].peak_mib:6.2f} x memory"
            print(f"  {name:16} {cost} {ratio}", flush=True)


if __name__ == "__main__":
    main()
