"""Killed at any moment, a load leaves the database as before or as after."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Landing

ROWS = 60_000
LOAD = (
    "import sys; from passk_py.ingest.landing import load; print('loaded', flush=True); "
    "load(sys.argv[1], database=sys.argv[2], parquet=(sys.argv + [None])[3]); print('done', flush=True)"
)


@pytest.mark.long
@pytest.mark.parametrize(
    ("broken", "parquet"),
    [(False, False), (True, False), (True, True)],
    ids=["fast", "careful", "parquet"],
)
def test_killed_at_any_moment(landing: Landing, broken: bool, parquet: bool) -> None:
    seed = 20260131
    dice = random.Random(seed)

    def write(version: int) -> None:
        rows = [
            json.dumps({"run_id": "r", "task_id": f"{version}-{n % 100}", "attempt": n, "score": 1})
            for n in range(1, ROWS + 1 - version)
        ]
        landing.write("log.jsonl", "\n".join(rows) + "\n" + "broken\n" * broken)

    def state() -> tuple[int, int, int, list[tuple[str]]]:
        counts = [
            landing.query(f"select count(*) from landing.{table}")[0][0]
            for table in ("attempts", "rejected", "removed_tasks")
        ]
        versions = landing.query(
            "select distinct split_part(task_id, '-', 1) from landing.attempts"
        )
        return (*counts, versions)  # type: ignore[return-value]

    def expected(version: int, removed: int) -> tuple[int, int, int, list[tuple[str]]]:
        return ROWS - version, int(broken), removed, [(str(version),)]

    write(0)
    command = [sys.executable, "-c", LOAD, str(landing.folder / "log.jsonl"), str(landing.database)]
    command += [str(landing.folder / "lake")] * parquet
    started = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    whole = time.monotonic() - started
    assert state() == expected(0, 0)

    current, removed = 0, 0
    for version in range(1, 6):
        write(version)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "loaded\n"
        time.sleep(dice.uniform(0, whole * 0.8))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if state() != expected(current, removed):
            current, removed = version, removed + 100
        assert state() == expected(current, removed), f"round {version}, seed {seed}"

    report = landing.load_one(landing.folder / "log.jsonl")
    if current < 5:
        assert report.status == "replaced"
        removed += 100
    assert state() == expected(5, removed)
    # Nothing is left behind that no table knows of.
    assert len(list(landing.folder.glob("lake/*/*/*"))) == int(parquet)


@pytest.mark.long
def test_a_first_load_that_is_killed_is_made_again(landing: Landing) -> None:
    dice = random.Random(20261122)
    rows = [
        json.dumps({"run_id": "r", "task_id": "t", "attempt": n, "score": 1})
        for n in range(1, ROWS)
    ]
    log = landing.write("log.jsonl", "\n".join(rows) + "\n")
    folder = landing.folder / "kept"
    command = [sys.executable, "-c", LOAD, str(log), str(landing.database), str(folder)]
    for _ in range(4):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "loaded\n"
        time.sleep(dice.uniform(0, 0.6))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    landing.load(log, parquet=folder)
    assert landing.query("select count(*) from landing.attempts") == [(ROWS - 1,)]
    assert len(list(folder.glob("*/*/*"))) == 1
