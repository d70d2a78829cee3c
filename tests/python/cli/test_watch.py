"""``passk watch``: every complete row of a log that is being written, once, and its answer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Said

    Passk = Callable[..., Said]

WRITER = """
import json, sys, time
path, first, last, wait = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
with open(path, "a", encoding="utf-8") as log:
    for number in range(first, last):
        row = {"run_id": "live", "task_id": f"t{number % 5}", "attempt": number // 5 + 1,
               "passed": number % 3 > 0}
        text = json.dumps(row)
        # In two pieces, so that looks find half rows.
        log.write(text[:20]); log.flush(); time.sleep(wait / 2)
        log.write(text[20:] + "\\n"); log.flush(); time.sleep(wait / 2)
    time.sleep(60 if len(sys.argv) > 5 else 0)
"""
SEQUENTIAL = "- {name: g, type: threshold, metric: pass_hat_k, k: 2, min: %s, sequential: true}\n"


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("passk_py.cli.watch._LOOK_EVERY", 0.02)


def write(log: Path, first: int, last: int, wait: float, *more: str) -> subprocess.Popen[bytes]:
    """Start a harness that writes the attempts with these numbers."""
    words = map(str, (log, first, last, wait, *more))
    return subprocess.Popen([sys.executable, "-c", WRITER, *words])


def lines(said: Said) -> list[dict[str, Any]]:
    return [json.loads(line) for line in said.out.splitlines()]


def landed(database: Path) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(database), read_only=True) as connection:
        return connection.execute(
            "select task_id, attempt, outcome, source_file from landing.attempts "
            "order by attempt, task_id"
        ).fetchall()


def expected(log: Path, rows: int) -> list[tuple[Any, ...]]:
    made = [
        (f"t{n % 5}", n // 5 + 1, "passed" if n % 3 > 0 else "failed", str(log))
        for n in range(rows)
    ]
    return sorted(made, key=lambda row: (row[1], row[0]))


def test_a_run_that_is_killed_and_resumed_counts_once(passk: Passk, tmp_path: Path) -> None:
    log, database = tmp_path / "log.jsonl", tmp_path / "passk.duckdb"
    harness = write(log, 0, 12, 0.02, "then hang")
    while not log.exists() or log.read_bytes().count(b"\n") < 12:
        time.sleep(0.02)
    harness.kill()
    harness.wait()
    with write(log, 12, 30, 0.05):
        said = passk("watch", log, "--until-quiet", 1, "--no-build", "--json")
    assert said.code == 0, said.err
    *answers, end = lines(said)
    assert end == {"event": "end", "reason": "quiet", "exit_code": 0}
    attempts = [one["attempts"] for one in answers]
    assert attempts == sorted(attempts)
    assert len(attempts) > 2
    assert attempts[-1] == 30
    assert [one["is_partial"] for one in answers] == [*[True] * (len(answers) - 1), False]
    assert landed(database) == expected(log, 30)
    # The file itself is what has landed.
    assert passk("load", log, "--json").json["files"][0]["status"] == "unchanged"
    # And the answer is that of the file.
    peeked = passk("peek", log, "--json").json
    assert answers[-1]["suites"] == peeked["suites"]


def test_the_last_line_waits_and_lands_at_the_end(passk: Passk, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    row = {"run_id": "r", "task_id": "t", "passed": True}
    log.write_text(json.dumps(row | {"attempt": 1}) + "\n" + json.dumps(row | {"attempt": 2}))
    said = passk(
        "watch", log, "--until-quiet", 0.1, "--no-build", "--json", "--expected-attempts", 3
    )
    first, last, _ = lines(said)
    assert (first["attempts"], first["missing_attempts"]) == (1, 2)
    assert (last["attempts"], last["missing_attempts"]) == (2, 1)
    # One attempt never came.
    assert last["is_partial"]


def test_it_says_how_far_it_is_in_words(passk: Passk, make_log: Callable[..., Path]) -> None:
    log = make_log("log.jsonl", [("r", "a", "PPPF"), ("r", "b", "PPPP")])
    said = passk("watch", log, "--until-quiet", 0.1, "--no-build")
    assert said.code == 0
    assert "8 attempts: partial" in said.out
    assert "8 attempts: complete" in said.out
    assert said.out.count("letters · 1 run") == 2
    assert said.err == ""


def test_a_file_that_is_written_anew_replaces_its_rows(passk: Passk, tmp_path: Path) -> None:
    log, database = tmp_path / "log.jsonl", tmp_path / "passk.duckdb"
    with write(log, 0, 10, 0):
        pass
    passk("load", log)
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:4]))
    passk("watch", log, "--until-quiet", 0.1, "--no-build")
    assert landed(database) == expected(log, 4)


@pytest.mark.parametrize(("least", "code"), [(0.2, 0), (0.99, 1)])
def test_a_gate_ends_it_once_it_is_decided(
    passk: Passk, make_log: Callable[..., Path], tmp_path: Path, least: float, code: int
) -> None:
    log = make_log("log.jsonl", [("r", f"t{task}", "PP" if task % 5 else "FF") for task in range(60)])  # fmt: skip
    rules = tmp_path / "gates.yml"
    rules.write_text(SEQUENTIAL % least)
    stop = tmp_path / "stop"
    said = passk("watch", log, "--gate", rules, "--stop-file", stop, "--no-build", "--json")
    answer, end = lines(said)
    assert said.code == end["exit_code"] == answer["exit_code"] == code
    assert end["reason"] == "gate"
    told = json.loads(stop.read_text())
    assert (told["exit_code"], told["gates"][0]["gate"]) == (code, "g")
    # A harness that looks for it would stop at once.
    again = passk("watch", log, "--gate", rules, "--stop-file", stop, "--no-build")
    assert again.code == 3
    assert again.err.startswith(f"Error: The file {stop} exists already")


def test_an_open_gate_ends_with_its_code_when_nothing_comes(
    passk: Passk, make_log: Callable[..., Path], tmp_path: Path
) -> None:
    log = make_log("log.jsonl", [("r", "a", "PP"), ("r", "b", "PF")])
    rules = tmp_path / "gates.yml"
    rules.write_text(SEQUENTIAL % 0.8)
    stop = tmp_path / "stop"
    words = ("--until-quiet", 0.1, "--no-build", "--stop-file", stop)
    said = passk("watch", log, "--gate", rules, *words)
    assert said.code == 2
    assert not stop.exists()
    # A run of an earlier log is not the one that is watched.
    later = tmp_path / "later.jsonl"
    said = passk("watch", later, "--gate", rules, *words)
    assert said.code == 3
    assert "No attempt has come." in said.err
    # Nor does a rule that finds no run pass.
    rules.write_text((SEQUENTIAL % 0.01).replace("name: g", "name: g, run: other"))
    assert passk("watch", log, "--gate", rules, *words).code == 3


def test_a_gate_for_one_look_is_rejected(
    passk: Passk, make_log: Callable[..., Path], tmp_path: Path
) -> None:
    log = make_log("log.jsonl", [("r", "a", "PP")])
    rules = tmp_path / "gates.yml"
    rules.write_text((SEQUENTIAL % 0.8).replace(", sequential: true", ""))
    said = passk("watch", log, "--gate", rules)
    assert said.code == 3
    assert said.err.startswith("Error: The gate g is not sequential")
    assert passk("watch", log, "--stop-file", "x").code == 2


def test_nothing_came(passk: Passk, tmp_path: Path) -> None:
    said = passk("watch", tmp_path / "no.jsonl", "--until-quiet", 0.1)
    assert said.code == 2
    assert said.err.startswith(f"Waiting: {tmp_path / 'no.jsonl'} does not exist.")
    assert "Error: No attempt has come." in said.err
    assert not (tmp_path / "passk.duckdb").exists()


def test_it_waits_for_a_database_in_use(
    passk: Passk, make_log: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from passk_py.cli import watch
    from passk_py.common.errors import InUseError

    log = make_log("log.jsonl", [("r", "a", "PP")])
    calls: list[object] = []

    def busy(*words: object, **options: Any) -> object:
        calls.append(words)
        if len(calls) < 3:
            raise InUseError("The database passk.duckdb is in use.")
        return read(*words, **options)

    read: Any = watch.read_logs
    monkeypatch.setattr(watch, "read_logs", busy)
    said = passk("watch", log, "--until-quiet", 0.5, "--no-build", "--json")
    assert said.code == 0
    assert said.err == "The database passk.duckdb is in use. passk waits for it.\n"
    assert lines(said)[-2]["attempts"] == 2


def test_vars_that_it_cannot_follow_are_an_error(passk: Passk, tmp_path: Path) -> None:
    said = passk("watch", tmp_path, "--vars", "{passk_cluster: family}")
    assert said.code == 2
    assert "passk_cluster" in said.err


def test_ctrl_c_ends_it_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "passk_py", "watch", "log.jsonl"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("Waiting: ")
        process.send_signal(signal.SIGINT)
        assert process.wait(5) == 130
        assert "The same `passk watch` goes on from there." in process.stderr.read()


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_killed_watch_leaves_whole_rows(tmp_path: Path) -> None:
    """Kill it at moments of all kinds; the next one goes on, and each row is there once."""
    log, database = tmp_path / "log.jsonl", tmp_path / "passk.duckdb"
    command = [sys.executable, "-m", "passk_py", "watch", str(log), "--database", str(database)]
    harness = write(log, 0, 200, 0.2)
    for number in range(12):
        watch = subprocess.Popen([*command, "--no-build"], stdout=subprocess.DEVNULL)
        time.sleep(1.5 + number * 0.17)
        os.kill(watch.pid, signal.SIGKILL)
        watch.wait()
        if database.exists():
            rows = landed(database)
            assert rows == expected(log, len(rows))
    harness.wait()
    subprocess.run([*command, "--no-build", "--until-quiet", "1"], check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    assert landed(database) == expected(log, 200)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_tables_follow(passk: Passk, make_log: Callable[..., Path]) -> None:
    log = make_log("log.jsonl", [("r", "a", "PPPF"), ("r", "b", "PPPP")])
    said = passk("watch", log, "--until-quiet", 1, "--build-every", 0.1, "--json")
    assert said.code == 0, said.err
    events = lines(said)
    assert [one["event"] for one in events] == ["answer", "built", "answer", "built", "end"]
    shown = passk("show", "--json").json
    assert shown["stale"] is None
    built, answered = (
        [
            (one["k"], one["null_reason"], one["pass_at_k"], one["pass_hat_k"])
            for one in said["suites"][0]["runs"][0]["metrics"]
            if one["pass_hat_k"] is not None
        ]
        for said in (shown, events[2])
    )
    assert [k for k, *_ in built] == [1, 2, 3, 4]
    for one, other in zip(built, answered, strict=True):
        assert one[:2] == other[:2]
        assert one[2:] == pytest.approx(other[2:], rel=1e-12, abs=1e-15)
