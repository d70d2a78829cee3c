"""How soon ``passk watch`` shows an attempt that a harness has written, and what watching costs.

    python benchmarks/watch.py --seconds 300

A harness appends one attempt a second to a log of about the demo's size. It is killed twice in the middle of a row, and resumed; the
resumed one cuts off the half row first. Beside it runs ``passk watch --json``. For each attempt, the delay is the time from its newline to
the first answer that counts it. In the end the landed rows must be exactly those that were written. Last, a watch of the finished log says
what an idle one costs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread
from typing import Any

import duckdb
import psutil

HARNESS = """
import json, sys, time
path, rows = sys.argv[1], int(sys.argv[2])
with open(path, "r+b") as log:
    text = log.read()
    log.truncate(text.rfind(b"\\n") + 1)
with open(path, "ab") as log:
    for number in range(text.count(b"\\n"), rows):
        row = json.dumps({"run_id": "live", "task_id": f"task-{number % 48}", "attempt": number // 48 + 1,
                          "passed": number % 7 > 0}).encode() + b"\\n"
        log.write(row[:30]); log.flush()
        time.sleep(float(sys.argv[3]) / 2)
        log.write(row[30:]); log.flush()
        print(number + 1, time.time(), flush=True)
        time.sleep(float(sys.argv[3]) / 2)
"""
PASSK = (sys.executable, "-m", "passk_py")
IDLE_SECONDS = 20


def run_harness(log: Path, rows: int, wait: float, written: dict[int, float], kills: int) -> None:
    """Write the rest of the log, and kill the harness so many times on the way."""
    start = log.read_bytes().count(b"\n")
    for turn in range(kills + 1):
        words = [sys.executable, "-c", HARNESS, str(log), str(rows), str(wait)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as harness:
            for line in harness.stdout or ():
                number, at = line.split()
                written[int(number)] = float(at)
                if turn < kills and int(number) >= start + (rows - start) * (turn + 1) // (
                    kills + 1
                ):
                    # In the middle of the next row.
                    time.sleep(wait * 0.75)
                    harness.kill()


def watch(log: Path, database: Path, rows: int, args: argparse.Namespace) -> None:
    """Watch the harness, and print the delays and the cost."""
    written: dict[int, float] = {}
    start = log.read_bytes().count(b"\n")
    words = [
        *PASSK,
        "watch",
        str(log),
        "--database",
        str(database),
        "--until-quiet",
        "10",
        "--json",
    ]
    words += ["--build-every", str(args.build_every)]
    shown: list[tuple[int, float]] = []
    builds: list[float] = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        cost = psutil.Process(process.pid)
        began, before = time.time(), 0.0
        harness = Thread(target=run_harness, args=(log, rows, args.wait, written, args.kills))
        cpu = 0.0
        for line in process.stdout or ():
            event: dict[str, Any] = json.loads(line)
            if event["event"] == "answer":
                shown.append((event["attempts"], time.time()))
                if not harness.ident:
                    # The first answer is there: the imports are not part of any delay.
                    before = sum(cost.cpu_times()[:2])
                    began = time.time()
                    harness.start()
                if event["is_partial"]:
                    cpu = sum(cost.cpu_times()[:2]) - before
                    wall = time.time() - began
            elif event["event"] == "built":
                builds.append(event["seconds"])
        harness.join()
    if process.returncode:
        sys.exit("the watch failed")
    delays = [
        next(at for attempts, at in shown if attempts >= number) - written[number]
        for number in range(start + 1, rows + 1)
    ]
    print(f"{rows - start} attempts in {wall:.0f} s, harness killed and resumed {args.kills} times")
    print(
        f"delay from the newline to the answer: median {statistics.median(delays):.2f} s, "
        f"95 % within {sorted(delays)[int(len(delays) * 0.95)]:.2f} s, worst {max(delays):.2f} s"
    )
    print(f"CPU of the watch until the last attempt: {cpu:.0f} s, {cpu / wall:.0%} of a core")
    print(f"builds: {', '.join(f'{seconds:.0f} s' for seconds in builds)} of dbt")


def check(log: Path, database: Path) -> None:
    """Compare the landed rows with those of the file."""
    rows = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    key = ("run_id", "task_id", "attempt")
    said = sorted(
        (*(row[name] for name in key), "passed" if row["passed"] else "failed") for row in rows
    )
    with duckdb.connect(str(database), read_only=True) as connection:
        landed = connection.execute(
            f"select {', '.join(key)}, outcome from landing.attempts order by all"
        ).fetchall()
    if landed != said:
        sys.exit("the landed rows are not those of the log")
    print(f"rows exact: {len(landed):,} landed, as written")


def idle(log: Path, database: Path) -> None:
    """Watch a log to which nothing comes."""
    words = [*PASSK, "watch", str(log), "--database", str(database), "--no-build", "--json"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        time.sleep(8)
        cost = psutil.Process(process.pid)
        before = sum(cost.cpu_times()[:2])
        time.sleep(IDLE_SECONDS)
        used = sum(cost.cpu_times()[:2]) - before
        process.terminate()
    print(f"idle: {used:.2f} s of CPU in {IDLE_SECONDS} s, {used / IDLE_SECONDS:.1%} of a core")


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=300, help="write for so long")
    parser.add_argument("--wait", type=float, default=1.0, help="seconds between two attempts")
    parser.add_argument("--before", type=int, default=3000, help="attempts in the log at the start")
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--build-every", type=float, default=600.0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        log, database = Path(made, "log.jsonl"), Path(made, "passk.duckdb")
        log.touch()
        run_harness(log, args.before, 0.0, {}, 0)
        print(f"load average at the start: {', '.join(f'{one:.1f}' for one in os.getloadavg())}")
        watch(log, database, args.before + int(args.seconds / args.wait), args)
        check(log, database)
        idle(log, database)
        print(f"load average at the end: {', '.join(f'{one:.1f}' for one in os.getloadavg())}")


if __name__ == "__main__":
    main()
