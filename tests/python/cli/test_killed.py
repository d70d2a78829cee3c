"""Killed at any moment, a command leaves the state before it or after it, and the next one completes.

`PASSK_KILLS` is the number of kills, `PASSK_KILLS_SEED` the seed. The builds are those of dbt v2 if
`PASSK_DBT` names it.
"""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest

from passk_py.common.contract import CONTRACT_COLUMNS
from passk_py.warehouse.catalog import PUBLIC_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Said

    Passk = Callable[..., Said]

KILLS: Final = 6
OPERATIONS: Final = {
    "load": ("load", "logs"),
    "increment": ("build", "--no-tests"),
    "refresh": ("build", "--no-tests", "--full-refresh"),
    "publish": ("publish", "-o", "bi"),
    "export": ("export", "--all", "-o", "tables"),
    "report": ("report", "-o", "report.html"),
}
KEY: Final = "run_id, suite, task_id, attempt"


def write_logs(folder: Path, number: int, dice: random.Random) -> None:
    """Write a log with a broken line, and correct an older one."""
    folder.mkdir(exist_ok=True)
    for name in {number, dice.randrange(number + 1)}:
        rows = [
            json.dumps(
                {
                    "run_id": f"r{name}",
                    "suite": "s",
                    "task_id": f"t{task}",
                    "attempt": n,
                    # Without it, runs are compared in the order in which they landed last.
                    "started_at": f"{2000 + name}-01-01T00:00:00Z",
                    "outcome": dice.choice(["passed", "failed", "excluded"]),
                }
            )
            for task in range(60)
            for n in range(1, 9)
        ]
        text = "\n".join([*rows[:100], "broken", *rows[100:], ""])
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def landed(database: Path) -> set[tuple[object, ...]]:
    """Give the landed rows; the sums of what was read must hold, and no row may be there twice."""
    columns = ", ".join(column.name for column in CONTRACT_COLUMNS)
    with duckdb.connect(str(database), read_only=True) as connection:
        rows = connection.execute(f"select {columns}, source_file from landing.attempts").fetchall()
        ((doubled,),) = connection.execute(
            f"select count(*) - count(distinct ({KEY})) from landing.attempts"
        ).fetchall()
        sums = connection.execute(
            """
            select files.source_file, rows_read, rows_landed, rows_rejected,
                (select count(*) from landing.attempts where source_file = files.source_file),
                (select count(*) from landing.rejected where source_file = files.source_file)
            from landing.files
            """
        ).fetchall()
    assert doubled == 0
    for _, read, said_landed, said_rejected, is_landed, is_rejected in sums:
        assert (said_landed, said_rejected) == (is_landed, is_rejected)
        assert read == is_landed + is_rejected
    assert len(rows) == sum(one[4] for one in sums)
    return {tuple(map(str, row)) for row in rows}


def built(database: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Give the rows of all public tables, in order, without the times of loading."""
    tables = {}
    with duckdb.connect(str(database), read_only=True) as connection:
        for table in PUBLIC_TABLES:
            names = [
                name
                for (name, *_) in connection.execute(f"describe {table.name}").fetchall()
                if name != "loaded_at"
            ]
            rows = connection.execute(f"select {', '.join(names)} from {table.name}").fetchall()
            tables[table.name] = sorted(
                rows, key=lambda row: [str(one) for one in row if not isinstance(one, float)]
            )
    return tables


def differing(found: list[tuple[Any, ...]], expected: list[tuple[Any, ...]]) -> list[Any]:
    """Name what differs; sums of the same numbers in another order differ in the last digits."""
    if len(found) != len(expected):
        return [len(found), len(expected)]
    return [
        (one, other)
        for row, wanted in zip(found, expected, strict=True)
        for one, other in zip(row, wanted, strict=True)
        if (
            not math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
            if isinstance(one, float) and isinstance(other, float)
            else one != other
        )
    ]


def files_are_whole(folder: Path) -> None:
    """Read every file that a command has written."""
    copies = [*folder.glob("bi/passk.duckdb")]
    for copy in copies:
        with duckdb.connect(str(copy), read_only=True) as connection:
            for name in ["passk_published", *(table.name for table in PUBLIC_TABLES)]:
                connection.execute(f"from {name}").fetchall()
    for path in [*folder.glob("bi/parquet/*.parquet"), *folder.glob("tables/*.parquet")]:
        duckdb.read_parquet(str(path)).fetchall()
    for page in folder.glob("report.html"):
        assert page.read_text("utf-8").rstrip().endswith("</html>")


def drafts(folder: Path) -> Iterator[Path]:
    """Find the drafts of killed commands."""
    for pattern in (".passk-*.tmp", "*/.passk-*.tmp", "*/.passk-publish-*"):
        yield from folder.glob(pattern)


@pytest.mark.long
@pytest.mark.timeout(0)
def test_killed_at_any_moment(passk: Passk, tmp_path: Path) -> None:
    kills = int(os.environ.get("PASSK_KILLS", KILLS))
    seed = int(os.environ.get("PASSK_KILLS_SEED", "20261126"))
    dice = random.Random(seed)
    database, logs = tmp_path / "passk.duckdb", tmp_path / "logs"
    write_logs(logs, 0, dice)
    for words in OPERATIONS.values():
        assert passk(*words).code == 0
    # In a process of its own Python and dbt are imported too.
    lasts = dict.fromkeys(OPERATIONS, 1.5) | {"increment": 6.0, "refresh": 6.0}
    hits = dict.fromkeys(OPERATIONS, 0)
    for number in range(1, kills + 1):
        name = [*OPERATIONS][number % len(OPERATIONS)]
        words = OPERATIONS[name]
        where = f"kill {number} in {name}, seed {seed}"
        write_logs(logs, number, dice)
        if name == "increment":
            assert passk("load", "logs").code == 0
        before = landed(database)
        command = [sys.executable, "-m", "passk_py", *words]
        started = time.monotonic()
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        ) as process:
            try:
                process.wait(dice.uniform(0.05, 0.95) * lasts[name])
                lasts[name] = time.monotonic() - started
            except subprocess.TimeoutExpired:
                # With what it has started, as where memory or power is out.
                os.killpg(process.pid, signal.SIGKILL)
                hits[name] += 1
        after = landed(database)
        if name != "load":
            assert after == before, where
        files_are_whole(tmp_path)
        for left in drafts(tmp_path):
            os.utime(left, (0, 0))
        started = time.monotonic()
        if name not in ("load", "increment", "refresh") and number % 2:
            assert passk("build", "--no-tests").code == 0
        again = subprocess.run(command, capture_output=True, text=True, check=False)
        lasts[name] = time.monotonic() - started
        # A broken line is no error of a load.
        assert again.returncode == 0, f"{where}: {again.stderr}"
        if name == "load":
            whole = landed(database)
            changed = {row[-1] for row in before ^ whole}
            for log in changed:
                rows = {row for row in after if row[-1] == log}
                states = [{row for row in state if row[-1] == log} for state in (before, whole)]
                assert rows in states, where
        files_are_whole(tmp_path)
        assert not list(drafts(tmp_path)), where
    print(f"killed {sum(hits.values())} of {kills}: {hits}")
    assert passk("load", "logs").code == 0
    assert passk("build", "--no-tests").code == 0
    clean = tmp_path / "clean.duckdb"
    assert passk("load", "logs", "--database", clean).code == 0
    assert landed(database) == landed(clean)
    # Which run came before which follows from the loads, so the tables are those of the same ones.
    shutil.copyfile(database, clean)
    assert passk("build", "--no-tests", "--full-refresh", "--database", clean).code == 0
    found, expected = built(database), built(clean)
    for table in PUBLIC_TABLES:
        odd = differing(found[table.name], expected[table.name])
        assert not odd, f"{table.name}, seed {seed}: {odd[:4]}"
        assert len(found[table.name]) == len(expected[table.name]), table.name
    assert sum(hits.values()) > kills / 2
