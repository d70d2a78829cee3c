"""Write what `integration_tests` builds on DuckDB as the seeds that every other engine is held against.

The golden rows are DuckDB's. Their worth comes from elsewhere: DuckDB's numbers are held against exact rationals and a
second computation in polars, and `passk validate` recomputes these very tables before a row is written here.

    python scripts/golden_tables.py          # write the log, build it, write the golden rows
    python scripts/golden_tables.py --check  # say whether the files are what would be written
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import TYPE_CHECKING, Final

import duckdb
import yaml  # type: ignore[import-untyped]

from passk_py.validation.check_all import validate_tables
from passk_py.warehouse.catalog import PUBLIC_TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from passk_py.warehouse.catalog import PublicTable

ROOT: Final = Path(__file__).resolve().parents[1]
PROJECT: Final = ROOT / "integration_tests"
LOG: Final = PROJECT / "seeds" / "eval_results.csv"
GOLDEN: Final = PROJECT / "seeds" / "golden"
SEED: Final = 20261122

COLUMNS: Final = (
    "release", "benchmark", "case_id", "trial", "is_resolved", "error_kind", "difficulty", "line", "assistant", "version",
    "began", "seconds", "price", "tokens", "draw", "answer", "points",
)  # fmt: skip

BY_HAND: Final = {
    "v1": {"refund": "PPPP", "dispute": "PFPP", "invoice": "FFFF"},
    "v2": {"refund": "PPFP", "dispute": "PPFP", "invoice": "PFPX"},
}
"""The benchmark `billing`, whose estimates a test works out by hand."""

STRANGE: Final = (
    "O'Neil's case", "Zebra", "zebra", "ärger", "emoji 🦆", 'a "quoted" one', "comma, semicolon;", "{{ not jinja }}", "007", "%_%",
)  # fmt: skip

NOT_COMPARED: Final = {("passk_rejected_attempts", "raw")}
"""Columns that engines may write in ways of their own: `raw` shows tags as the engine writes its type of a map."""

TEXT_TYPE: Final = (
    "{{ {'spark': 'string', 'databricks': 'string', 'bigquery': 'string', 'clickhouse': 'Nullable(String)', "
    "'redshift': 'varchar(65535)'}.get(target.type, 'varchar') }}"
)
"""Golden rows are text on every engine, so that no engine guesses at their types."""

Row = dict[str, object]


def log() -> list[Row]:
    """Give the attempts of `integration_tests`: a benchmark worked by hand, and others with everything that an engine may trip over."""
    generator = random.Random(SEED)  # noqa: S311 - the same log every time
    rows: list[Row] = []
    for release, by_hand in BY_HAND.items():
        for case, letters in by_hand.items():
            for trial, letter in enumerate(letters, 1):
                why = "rate_limited" if letter == "X" else ""
                why = why or ("timeout" if (release, case, trial) == ("v1", "invoice", 1) else "")
                rows.append(
                    {
                        "release": release,
                        "benchmark": "billing",
                        "case_id": case,
                        "trial": trial,
                        "is_resolved": letter == "P",
                        "error_kind": why,
                        "difficulty": "easy" if case == "refund" else "hard",
                    }
                )
    for number in (1, 2, 3):
        for benchmark, cases in (("search", STRANGE), ("search, held out", STRANGE[:6])):
            rows += _attempts(generator, f"finder {number}", str(number), benchmark, cases, number)
    # More attempts than a mask of bits holds.
    rows += _attempts(generator, "marathon", "1", "long", ("up", "down"), 0, trials=(130, 131))
    rows += _broken()
    for line, row in enumerate(rows, 2):
        row["line"] = line
    return rows


def _attempts(
    generator: random.Random,
    release: str,
    version: str,
    benchmark: str,
    cases: Sequence[str],
    number: int,
    *,
    trials: Sequence[int] = (6, 7, 8),
) -> list[Row]:
    rows: list[Row] = []
    clock = 0
    for i, case in enumerate(cases):
        chance = generator.choice([0.0, 0.35, 0.6, 0.9, 1.0])
        for trial in range(1, generator.choice(trials) + 1):
            clock += generator.randrange(5, 90)
            passed = generator.random() < chance
            why = "" if passed else generator.choice(["", "timeout", "rate_limited"])
            if generator.random() < 0.02:
                why, passed = "no verdict", False
            day, rest = divmod(clock, 86_400)
            answer = f"{case}{generator.randrange(5)}"
            rows.append(
                {
                    "release": release,
                    "benchmark": benchmark,
                    "case_id": case,
                    "trial": trial,
                    "is_resolved": "" if why == "no verdict" else passed,
                    "error_kind": "" if why == "no verdict" else why,
                    "difficulty": ("easy", "hard", "it's odd")[i % 3],
                    "assistant": "finder",
                    "version": version,
                    "began": f"2026-03-{1 + number + day:02} {rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}",
                    "seconds": round(generator.uniform(0, 300), 3),
                    "price": round(generator.uniform(0, 2), 4),
                    "tokens": generator.randrange(10**6),
                    "draw": generator.randrange(30),
                    "answer": hashlib.sha256(answer.encode()).hexdigest()[:16],
                    "points": generator.choice([0.25, 0.5, 1e-7, 12345.75]),
                }
            )
    return rows


def _broken() -> list[Row]:
    """Give rows that break the contract, and duplicates: an attempt told twice, alike and not."""
    good: Row = {"release": "broken", "benchmark": "billing", "trial": 1, "is_resolved": True}
    rows: list[Row] = [
        {**good, "case_id": case, **wrong}
        for case, wrong in (
            ("zero", {"trial": 0}),
            ("none", {"trial": ""}),
            ("before", {"seconds": -1.5}),
            ("fine", {}),
            ("fine", {"trial": 2, "is_resolved": False}),
            ("alike", {}),
            ("alike", {}),
            ("unlike", {}),
            ("unlike", {"is_resolved": False}),
        )
    ]
    return [*rows, {**good, "case_id": ""}]


def as_csv(columns: Sequence[str], rows: Iterable[Row]) -> str:
    """Write rows as a seed; what a row does not say is empty, which dbt reads as null."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {
                name: str(value).lower() if isinstance(value, bool) else value
                for name, value in row.items()
            }
        )
    return text.getvalue()


def build(folder: Path, log_text: str) -> Path:
    """Build a copy of the project, without its golden rows, and give the database; stop if polars does not agree with it."""
    project = folder / "integration_tests"
    copytree(
        PROJECT,
        project,
        ignore=ignore_patterns("dbt_packages", "target", "logs", "*.duckdb*", "golden"),
    )
    (project / "packages.yml").write_text(f"packages:\n  - local: {ROOT}\n")
    (project / "seeds" / LOG.name).write_text(log_text, encoding="utf-8")
    database = folder / "golden.duckdb"
    for command in ("deps", "build"):
        done = subprocess.run(
            [
                str(Path(sys.executable).with_name("dbt")),
                "--quiet",
                command,
                "--profiles-dir",
                ".",
            ],
            cwd=project,
            env=os.environ | {"PASSK_INTEGRATION_DATABASE": str(database)},
            check=False,
        )
        if done.returncode:
            sys.exit(done.returncode)
    report = validate_tables(database)
    if report.different:
        sys.exit(f"polars does not agree with DuckDB: {report.examples}")
    return database


def golden_rows(connection: duckdb.DuckDBPyConnection, table: PublicTable) -> tuple[list[str], str]:
    """Give a table's columns and its rows as CSV."""
    schema = "analytics_reliability"
    described = connection.execute(f"describe {schema}.{table.name}").fetchall()
    names = [name for name, *_ in described if (table.name, name) not in NOT_COMPARED]
    # Of tags, the one that the log has.
    picked = ["tags['difficulty'] as tags" if name == "tags" else f'"{name}"' for name in names]
    keys = ", ".join(table.key)
    found = connection.execute(
        f"select {', '.join(picked)} from {schema}.{table.name} order by {keys}"
    ).fetchall()
    for row in found:
        for name, value in zip(names, row, strict=True):
            if value in ("", "null"):
                raise ValueError(f"{table.name}.{name} is {value!r}, which a seed reads as null")
    rows: list[Row] = [dict(zip(names, row, strict=True)) for row in found]
    return names, as_csv(names, rows)


def properties(columns: dict[PublicTable, list[str]]) -> str:
    """Write the YAML of the golden seeds: text throughout, and the test that compares each with its table."""
    seeds = [
        {
            "name": f"golden_{table.name}",
            "description": f"What DuckDB has in {table.name}. One row per {table.grain}.",
            "config": {
                "column_types": dict.fromkeys(names, "*text"),
                "meta": {"keys": list(table.key)},
            },
            "data_tests": [
                {
                    "is_golden": {
                        "name": f"{table.name}_is_golden",
                        "arguments": {"table": table.name},
                    }
                }
            ],
        }
        for table, names in columns.items()
    ]
    head = "# Written by scripts/golden_tables.py.\n"
    dumped = str(yaml.safe_dump({"seeds": seeds}, sort_keys=False, width=1000))
    aliased = dumped.replace("'*text'", "*text")
    return head + aliased.replace("*text", f'&text "{TEXT_TYPE}"', 1)


def wanted() -> dict[Path, str]:
    """Give each file with what it must hold."""
    log_text = as_csv(COLUMNS, log())
    files = {LOG: log_text}
    columns: dict[PublicTable, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="passk-golden-") as folder:
        database = build(Path(folder), log_text)
        with duckdb.connect(str(database), read_only=True) as connection:
            for table in PUBLIC_TABLES:
                names, text = golden_rows(connection, table)
                # Your own table says nothing of attempts that were to be made.
                if text.count("\n") > 1:
                    columns[table] = names
                    files[GOLDEN / f"golden_{table.name}.csv"] = text
    files[GOLDEN / "_golden.yml"] = properties(columns)
    return files


def main() -> None:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(description="Golden rows of integration_tests.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a file would change"
    )
    check = parser.parse_args().check
    changed = []
    for path, text in wanted().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            changed.append(str(path.relative_to(ROOT)))
            if not check:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
    if check and changed:
        sys.exit(f"not up to date, run scripts/golden_tables.py: {', '.join(changed)}")
    print(f"{'checked' if check else 'written'}: {len(changed)} changed")


if __name__ == "__main__":
    main()
