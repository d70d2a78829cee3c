"""After Ctrl-C or a request to end, a command ends at once and says what is safe."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from passk_py.warehouse.project import state_dir

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Said

    Passk = Callable[..., Said]

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def started(*words: object, **options: object) -> subprocess.Popen[str]:
    """Start a command in a process of its own."""
    command = [sys.executable, "-m", "passk_py", *map(str, words)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("number", SIGNALS, ids=str)
def test_a_command_that_waits_ends_and_leaves_nothing(tmp_path: Path, number: int) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    environment = {**os.environ, "TMPDIR": str(folder)}
    with started("peek", "-", stdin=subprocess.PIPE, env=environment) as process:
        while not list(folder.glob("*/stdin")):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
        said = process.communicate()[1]
    assert process.returncode == 130
    assert said.lstrip() == "Error: Interrupted.\nNothing is lost, and no file is half written.\n"
    assert list(folder.iterdir()) == []


@pytest.mark.long
@pytest.mark.skipif(
    "PASSK_COVERAGE" in os.environ, reason="it does not end where coverage.py traces it"
)
@pytest.mark.timeout(120)
def test_a_python_model_ends_too(passk: Passk, letters: Path) -> None:
    """A thousand million draws take hours: dbt waits for its threads, which must be told."""
    log = state_dir(letters) / "logs" / "dbt.log"
    log.unlink()
    draws = "{passk_bootstrap: 1000000000}"
    with started("build", "--no-tests", "--select", "passk_suite_bootstrap", "--vars", draws) as it:
        while "START python table model" not in (log.read_text("utf-8") if log.exists() else ""):
            assert it.poll() is None
            time.sleep(0.1)
        time.sleep(0.5)
        it.terminate()
        said = it.communicate()[1]
    assert it.returncode == 130, said
    assert said.lstrip() == (
        "Error: Interrupted.\n"
        "Each table is whole, old or new. The next `passk build` updates the old ones.\n"
    )
    assert passk("show", "passk_runs", "--csv").code == 0


@pytest.mark.parametrize(
    ("words", "place", "safe"),
    [
        (("load", "log.jsonl"), "ingest.landing.load", "Each log has landed whole or not at all."),
        (("build",), "cli.build_output.run_build", "The next `passk build` updates the old ones."),
        (("publish", "-o", "bi"), "warehouse.publishing.publish", "The last copy is still there"),
        (("export", "passk_runs", "-o", "a.csv"), "warehouse.exporting.export_tables", "no file"),
        (("report", "-o", "r.html"), "common.files.write_report", "no file is half written"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_each_command_says_what_is_safe(
    passk: Passk,
    letters: Path,
    make_log: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    place: str,
    safe: str,
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    assert letters.exists()
    make_log("log.jsonl", [("r", "t", "PF")])
    monkeypatch.setattr(f"passk_py.{place}", stop)
    said = passk(*words, "--json")
    assert said.code == 130
    assert said.json["error"] == "Interrupted."
    assert safe in said.json["hint"]
