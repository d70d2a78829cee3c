"""The fixed cost of a build: builds of the demo's log, beside dbt on a project of one model in the same run.

    python benchmarks/small_builds.py --repeat 3
    eval "$(bash scripts/install_dbt_v2)" && python benchmarks/small_builds.py --repeat 3

It measures, with the dbt that ``passk build`` runs:

- dbt on a project of one model: the first build, which parses, and a later one;
- the same project with the package, all of it and its core alone: the first build and a later one;
- ``passk build`` with its data tests: with nothing kept from before, with the parsed project of another database, after a new run,
  and with nothing new.

CPU is that of the process and of those it started. Each figure is the median of the repetitions; read the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

from peek import PASSK, Cost, cost_of

from passk_py.demo.log_files import write_log

ROOT = Path(__file__).resolve().parents[1]
DBT = [os.environ.get("PASSK_DBT") or str(Path(sys.executable).with_name("dbt"))]
PROFILE = {
    "small": {
        "target": "dev",
        "outputs": {"dev": {"type": "duckdb", "path": "small.duckdb", "threads": 2}},
    }
}


def write_project(folder: Path, log: Path, with_package: bool) -> None:
    """Write a project of one model, which may install the package."""
    (folder / "models").mkdir(parents=True)
    (folder / "models" / "one.sql").write_text("select 1 as one\n", "utf-8")
    project = {"name": "small", "version": "1.0", "profile": "small", "vars": {}}
    if with_package:
        project["vars"] = {"passk": {"passk_attempts_files": str(log)}}
        packages = {"packages": [{"local": str(ROOT)}]}
        (folder / "packages.yml").write_text(json.dumps(packages), "utf-8")
    (folder / "dbt_project.yml").write_text(json.dumps(project), "utf-8")
    (folder / "profiles.yml").write_text(json.dumps(PROFILE), "utf-8")


def project_costs(folder: Path, log: Path, with_package: bool, only: list[str]) -> list[Cost]:
    """Build a project twice; the first build parses it."""
    write_project(folder, log, with_package)
    profile = ["--profiles-dir", "."]
    if with_package:
        cost_of([[*DBT, "deps", *profile]], folder)
    return [cost_of([[*DBT, "build", *profile, *only]], folder) for _ in range(2)]


def passk_costs(folder: Path, log: Path) -> list[Cost]:
    """Build a database without a cache, a second one with it, the second after a new run, and again."""
    folder.mkdir()
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    lines = log.read_text("utf-8").splitlines(keepends=True)
    new_run = json.loads(lines[-1])["run_id"]
    old, new = folder / "old.jsonl", folder / "new.jsonl"
    for path, is_new in ((old, False), (new, True)):
        path.write_text(
            "".join(line for line in lines if (json.loads(line)["run_id"] == new_run) == is_new),
            "utf-8",
        )
    found = []
    for loaded, database in (
        (log, "a.duckdb"),
        (old, "b.duckdb"),
        (new, "b.duckdb"),
        (None, "b.duckdb"),
    ):
        where = ["--database", database]
        if loaded:
            cost_of([[*PASSK, "load", str(loaded), *where]], folder)
        found.append(cost_of([[*PASSK, "build", *where]], folder))
    return found


def main() -> None:
    """Repeat all of it, and print the medians beside those of the project of one model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    found: dict[str, list[float]] = {}
    for _ in range(asked.repeat):
        with tempfile.TemporaryDirectory(prefix="passk-benchmark-") as made:
            folder = Path(made)
            log = folder / "log.jsonl"
            write_log(log)
            ways = {
                "one model": project_costs(folder / "bare", log, False, []),
                "with the package": project_costs(folder / "all", log, True, []),
                "with its core": project_costs(
                    folder / "core", log, True, ["--select", "one", "+tag:passk_core"]
                ),
            }
            for way, (first, later) in ways.items():
                found.setdefault(f"{way}, first build", []).append(first.cpu)
                found.setdefault(f"{way}, later", []).append(later.cpu)
            kinds = ("nothing kept", "parsed project kept", "a new run", "nothing new")
            for kind, cost in zip(kinds, passk_costs(folder / "passk", log), strict=True):
                found.setdefault(f"passk build, {kind}", []).append(cost.cpu)
    bare = statistics.median(found["one model, first build"])
    for name, cpus in found.items():
        cpu = statistics.median(cpus)
        least = statistics.median(found["one model, later"]) if name.endswith("later") else bare
        print(f"  {name:34} {cpu:6.2f} s CPU {cpu / bare:6.2f} x {cpu - least:+6.2f} s")


if __name__ == "__main__":
    main()
