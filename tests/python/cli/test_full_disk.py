"""A full disk is named as such, in two lines: nothing is lost, and with room the next call succeeds."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import duckdb
import pytest

from passk_py.common.errors import PasskError
from passk_py.common.files import is_disk_full
from passk_py.ingest.landing.report_building import explained

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    OnSmallDisk = Callable[..., subprocess.CompletedProcess[str]]

ROWS = 200_000
PASSK = f"{sys.executable} -m passk_py"


@pytest.fixture
def on_small_disk(tmp_path: Path) -> OnSmallDisk:
    """Runs a script in a folder that has a disk of its own, where a user may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def run(kilobytes: int, script: str) -> subprocess.CompletedProcess[str]:
        mount = f"mount -t tmpfs -o size={kilobytes}k none {folder} && cd {folder}"
        return subprocess.run(
            ["unshare", "--map-root-user", "--mount", "bash", "-c", f"{mount} && {script}"],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip

    if shutil.which("unshare") is None or run(100, "true").returncode:
        pytest.skip("Nothing can be mounted here.")
    return run


@pytest.mark.parametrize(("kilobytes", "status"), [(100, "landed"), (800, "unchanged")])
def test_a_load_says_what_has_landed(
    on_small_disk: OnSmallDisk, tmp_path: Path, kilobytes: int, status: str
) -> None:
    log = tmp_path / "log.jsonl"
    row = {"run_id": "r", "suite": "s", "outcome": "passed"}
    rows = ({**row, "task_id": f"t{n % 997}", "attempt": 1 + n // 997} for n in range(ROWS))
    log.write_text("".join(f"{json.dumps(one)}\n" for one in rows), encoding="utf-8")
    load = f"{PASSK} load {log}"
    again = f"mount -o remount,size=9m . && {load} --json"
    done = on_small_disk(kilobytes, f"{load} > {tmp_path}/said; echo $?; {again}")
    code, *said = done.stdout.splitlines()
    assert code == "2"
    assert done.stderr == (
        f"Error: The disk was full before {log} was noted as landed.\n"
        "Free some room, then run the command again: a log has landed whole or not at all, and one "
        "that has landed is unchanged.\n"
    )
    (file,) = json.loads("".join(said))["files"]
    assert (file["status"], file["rows_landed"]) == (status, ROWS)


@pytest.mark.long
def test_a_build_prints_no_traceback(on_small_disk: OnSmallDisk, letters: Path) -> None:
    room = letters.stat().st_size // 1024 + 300
    done = on_small_disk(room, f"cp {letters} . && {PASSK} build --full-refresh --no-tests")
    assert done.returncode == 2
    first, second = done.stderr.splitlines()
    assert first.startswith("Error: There is no space left on the disk of passk.duckdb: ")
    assert second == "Free some room, then build again: each table is as before or new."


@pytest.mark.parametrize(
    ("words", "safe"),
    [
        ("publish -o bi", "The last copy is still there, or the new one. Publish again."),
        ("export --all --format csv -o .", "Nothing is lost, and no file is half written."),
        ("export passk_runs -o a.arrow", "Nothing is lost, and no file is half written."),
        ("card new --json -o a.md", "Nothing is lost, and no file is half written."),
    ],
)
def test_files_are_whole_or_missing(
    on_small_disk: OnSmallDisk, letters: Path, words: str, safe: str
) -> None:
    done = on_small_disk(4, f"{PASSK} {words} --database {letters}; code=$?; ls -A >&2; exit $code")
    assert done.returncode == 2
    first, second = done.stderr.splitlines()
    assert first.startswith("Error: ")
    assert re.search("The disk is full.$|: No space left on device", first)
    assert second == f"Free some room. {safe}"
    if "--json" in words:
        assert json.loads(done.stdout)["hint"] == second


def test_the_error_behind_an_error_is_found() -> None:
    full = OSError(28, os.strerror(28))
    for error in (full, PasskError("a can't be written."), RuntimeError("stopped")):
        assert is_disk_full(error) == (error is full)
    later = duckdb.TransactionException("no transaction is active")
    later.__context__ = full
    assert is_disk_full(later)


def test_a_value_that_speaks_of_a_full_disk_is_no_full_disk() -> None:
    with pytest.raises(duckdb.ConversionException) as raised:
        duckdb.execute("select cast('No space left on device' as integer)").fetchall()
    assert not is_disk_full(raised.value)
    assert not is_disk_full(f"Runtime Error in model passk_runs: {raised.value}")
    assert is_disk_full(duckdb.IOException(f"IO Error: Could not write file: {os.strerror(28)}"))


def test_logs_after_a_full_disk_are_not_called_damaged() -> None:
    message, hint = explained("b.jsonl", duckdb.FatalException("database has been invalidated"))
    assert message == "b.jsonl was not read: DuckDB had stopped."
    assert "run the command again" in hint
