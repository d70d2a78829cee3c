"""`passk build` with dbt v2, a program: what it is told, what is made of what it says, and which dbt builds.

The program is one of these tests, which says what dbt v2 does. tests/python/engines has the real one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib import metadata
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.common.errors import PasskError
from passk_py.warehouse.building import NodeReport, as_program, build
from passk_py.warehouse.building.find_dbt import Dbt, find_dbt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Said

    Passk = Callable[..., Said]

Event = dict[str, Any]

PROGRAM = """#!{python}
import json, os, pathlib, sys, time
here = pathlib.Path(__file__).parent
if sys.argv[1:] == ["--version"]:
    print((here / "version").read_text())
    sys.exit()
told = {{
    "arguments": sys.argv[1:], "database": os.environ["PASSK_DATABASE"], "process": os.getpid()
}}
# Whole or not there, because a test ends this program as soon as it is.
(here / "told.part").write_text(json.dumps(told))
(here / "told.part").rename(here / "told.json")
print((here / "events").read_text(), flush=True)
if (here / "waits").exists():
    time.sleep(60)
sys.exit((here / "events").read_text().count('"status": "error"') > 0 or (here / "fails").exists())
"""
STACK = "\n   0: <unknown>\n   1: start_thread\n             at ./nptl/pthread_create.c:442:8\n"


def event(name: str, level: str = "info", msg: str = "", **data: Any) -> Event:
    return {"info": {"name": name, "level": level, "msg": msg}, "data": data}


def node(key: str) -> dict[str, str]:
    return {"unique_id": key, "node_name": key.split(".")[2]}


def finished(key: str, status: str, failures: int = 0) -> list[Event]:
    """The lines of dbt v2 on a node that starts and ends."""
    kind = {"model": "LogModelResult", "seed": "LogSeedResult"}.get(
        key.split(".", maxsplit=1)[0], "LogTestResult"
    )
    return [
        event("LogStartLine", node_info=node(key)),
        event(kind, node_info=node(key), status=status, num_failures=failures),
    ]


class Fake:
    """A program that says what it is given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "dbt"
        self.path.write_text(PROGRAM.format(python=sys.executable), encoding="utf-8")
        self.path.chmod(0o755)
        (folder / "version").write_text("dbt-core 2.0.0-alpha.4\n", encoding="utf-8")

    def says(self, *events: Event, **files: str) -> None:
        """Say these events; other files tell it how to end."""
        lines = [json.dumps(one) for one in events]
        (self.folder / "events").write_text("\n".join(lines), encoding="utf-8")
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")

    @property
    def told(self) -> dict[str, Any]:
        """The command line that it got, and its database."""
        found: dict[str, Any] = json.loads((self.folder / "told.json").read_text(encoding="utf-8"))
        return found


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    folder = tmp_path / "a program"
    folder.mkdir()
    made = Fake(folder)
    monkeypatch.setenv("PASSK_DBT", str(made.path))
    return made


def test_what_dbt_says_becomes_the_report(fake: Fake, letters: Path) -> None:
    gate = "passk gate hard: fail, old, letters\n    rule: pass^2 at least 0.9"
    fake.says(
        event("Generic", "warn", "[warning] [SomethingOld (dbt1157)]: old"),
        *finished("seed.passk.facts", "success"),
        *finished("model.passk.one", "success"),
        *finished("model.passk.two", "success"),
        *finished("test.passk.good.1", "pass"),
        *finished("test.passk.odd.2", "warn", 1),
        event(
            "JinjaLogInfo", "info", gate, node_info={"unique_id": "test.passk.passk_gates_hold.3"}
        ),
        *finished("test.passk.passk_gates_hold.3", "fail", 2),
        *finished("unit_test.passk.sums", "fail", 2),
        event(
            "Generic",
            "error",
            "[error] [DbDriverFailed (dbt1308)]: Database Error in model three (models/three.sql)\n"
            "  Conversion Error: no number\n\n  LINE 3: x\n  (in run/three.sql:1:6)" + STACK,
            node_info={"unique_id": "model.passk.three"},
        ),
        *finished("model.passk.three", "error"),
        *finished("model.passk.four", "skipped"),
        event("CommandCompleted", elapsed=1.5, success=False),
    )
    seen: list[tuple[str, int, int]] = []
    report = build(
        letters,
        full_refresh=True,
        select=["+passk_runs"],
        variables={"passk_ks": [1]},
        progress=lambda *step: seen.append(step),
    )
    assert (report.models, report.tests, report.skipped, report.seconds) == (2, 1, 1, 1.5)
    odd = "Got 1 result, configured to warn if != 0"
    assert report.warned == (NodeReport("odd", "test", "warn", odd),)
    assert report.failed == (
        NodeReport("passk_gates_hold", "test", "fail", gate),
        NodeReport("sums", "unit_test", "fail", "Got 2 results, configured to fail if != 0"),
        NodeReport("three", "model", "error", "Conversion Error: no number\nLINE 3: x"),
    )
    assert report.exit_code == 2
    assert seen[:2] == [("facts", 1, 0), ("one", 2, 0)]
    told = fake.told
    assert told["database"] == str(letters)
    assert told["arguments"][0] == "build"
    for wanted in (["--vars", "{passk_ks: [1]}"], ["--select", "+passk_runs"]):
        place = told["arguments"].index(wanted[0])
        assert told["arguments"][place : place + 2] == wanted
    assert "--full-refresh" in told["arguments"]


def test_a_second_build_starts_no_program(passk: Passk, fake: Fake, letters: Path) -> None:
    fake.says(*finished("model.passk.one", "success"))
    assert passk("build").out.startswith("1 model built, in ")
    (fake.folder / "told.json").unlink()
    assert passk("build").out.startswith("Nothing is new")
    assert not (fake.folder / "told.json").exists()
    # Another dbt may make other tables.
    (fake.folder / "version").write_text("dbt-core 2.0.1\n", encoding="utf-8")
    assert passk("build").out.startswith("1 model built")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            "[error] [JinjaError (dbt1501)]: Failed to render SQL invalid operation: Compilation Error "
            "for operation.passk.on-run-start from ./dbt_project.yml: passk: 1 var is wrong.\n"
            "  - passk_ks holds 0.\n(in ./dbt_project.yml:20:1)\n  --> macros/x.sql:3:5" + STACK,
            "Error: 1 var is wrong.\n- passk_ks holds 0.\nCorrect --vars and build again.\n",
        ),
        (
            "[error] [DbDriverFailed (dbt1308)]: Failed to create schema 'main': Failed to load "
            "`duckdb` driver from name, then failed to load it from the CDN." + STACK,
            "Error: dbt 2.0.0-alpha.4 has no driver for DuckDB.\nThe variable ADBC_DRIVER_PATH",
        ),
        (
            "[error] [DbDriverFailed (dbt1308)]: IO Error: Could not set lock on file" + STACK,
            "is in use by another process.\nClose it there, or wait until it is done.\n",
        ),
        (
            "[error] [DbDriverFailed (dbt1308)]: Parser Error: syntax error\nLINE 4: x" + STACK,
            "Error: dbt could not run: Parser Error: syntax error\nLINE 4: x\nThe full output of dbt",
        ),
    ],
)
def test_what_is_wrong_before_the_first_node_is_said(
    passk: Passk, fake: Fake, letters: Path, error: str, said: str
) -> None:
    fake.says(event("Generic", "error", error), fails="")
    found = passk("build", "--full-refresh")
    assert (found.code, found.out) == (2, "")
    assert said in found.err
    assert "<unknown>" not in found.err


def test_a_program_that_breaks_down_says_why(passk: Passk, fake: Fake, letters: Path) -> None:
    fake.says(fails="")
    (fake.folder / "events").write_text("thread 'main' panicked", encoding="utf-8")
    found = passk("build", "--full-refresh")
    assert found.code == 2
    assert found.err.startswith("Error: dbt could not run: thread 'main' panicked\n")


def test_a_program_that_is_killed_has_built_nothing_whole(
    passk: Passk, fake: Fake, letters: Path
) -> None:
    fake.says(*finished("model.passk.one", "success"), fails="")
    found = passk("build", "--full-refresh")
    assert found.code == 2
    assert "Error: dbt could not run: it ended with the exit code 1\n" in found.err
    (fake.folder / "fails").unlink()
    assert passk("build").out.startswith("1 model built")


def test_events_that_lack_something_are_passed_over(fake: Fake, letters: Path) -> None:
    strange: list[Any] = [
        None, [], {"info": {"name": "A"}}, {"info": {"name": "B"}, "data": None}, {"info": None},
        {"info": {"name": "LogStartLine", "level": "info"}, "data": {"node_info": None}},
        {"info": {"name": "LogModelResult"}, "data": {}},
        {"info": {"name": "CommandCompleted"}, "data": {}},
    ]  # fmt: skip
    fake.says(
        *strange,
        *finished("model.passk.one", "success"),
        # Of an error nothing was said.
        event("LogModelResult", node_info=node("model.passk.two")),
    )
    report = build(letters, full_refresh=True)
    assert (report.models, report.seconds) == (1, 0)
    assert report.failed == (NodeReport("two", "model", "error", ""),)


def test_a_request_to_end_ends_the_program_too(fake: Fake, letters: Path, tmp_path: Path) -> None:
    fake.says(*finished("model.passk.one", "success"), waits="")
    command = [
        sys.executable,
        "-m",
        "passk_py",
        "build",
        "--full-refresh",
        "--database",
        str(letters),
    ]
    with subprocess.Popen(command, cwd=tmp_path) as process:
        told = fake.folder / "told.json"
        for _ in range(600):
            if told.exists():
                break
            time.sleep(0.05)
        process.terminate()
        assert process.wait(30) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(fake.told["process"], 0)


def test_ctrl_c_stops_the_program(
    fake: Fake, letters: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(as_program, "_PATIENCE", 0.1)
    fake.says(*finished("model.passk.one", "success"), waits="")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    # A program that did not end would hold the test for a minute.
    with pytest.raises(KeyboardInterrupt):
        build(letters, full_refresh=True, progress=stop)


# ---------------------------------------------------------------------------------------------
# which dbt


def test_dbt_1_builds_where_nothing_else_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PASSK_DBT", raising=False)
    assert find_dbt() == Dbt(metadata.version("dbt-core"))


def test_the_program_that_is_named_goes_first(fake: Fake, passk: Passk) -> None:
    assert find_dbt() == Dbt("2.0.0-alpha.4", fake.path)
    said = passk("doctor", "--json").json
    assert said["builds_with"] == {"dbt": "2.0.0-alpha.4", "program": str(fake.path)}
    assert f"builds with dbt 2.0.0-alpha.4, {fake.path}\n" in passk("doctor").out


def test_without_dbt_1_the_program_on_the_path_builds(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: str) -> str:
        raise metadata.PackageNotFoundError

    monkeypatch.delenv("PASSK_DBT")
    monkeypatch.setattr(metadata, "version", missing)
    # The dbt beside Python is dbt 1 here.
    monkeypatch.setattr(sys, "executable", str(fake.folder / "python"))
    assert find_dbt() == Dbt("2.0.0-alpha.4", fake.path)
    fake.path.unlink()
    monkeypatch.setenv("PATH", str(fake.folder))
    with pytest.raises(PasskError, match=r"No dbt was found\.") as raised:
        find_dbt()
    assert raised.value.hint is not None
    assert "dbt 1.10 and 1.11" in raised.value.hint


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("Core:\n  - installed: 1.11.2\n", r"is not dbt v2; asked for its version, it says: Core:"),
        ("dbt-core 1.12.0", r"it says: dbt-core 1\.12\.0"),
        ("", r"it says: nothing"),
    ],
)
def test_a_program_that_is_no_dbt_v2(fake: Fake, version: str, said: str) -> None:
    (fake.folder / "version").write_text(version, encoding="utf-8")
    with pytest.raises(PasskError, match=said):
        find_dbt()


def test_a_program_that_is_not_there(
    passk: Passk, letters: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSK_DBT", "/no/such/dbt")
    for command in ("build", "doctor"):
        said = passk(command)
        assert said.code == 2
        assert "PASSK_DBT names /no/such/dbt, which can't be started as a program." in said.err
        assert "unset it to build with dbt 1." in said.err


def test_dbt_1_may_be_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PASSK_DBT", raising=False)
    monkeypatch.setattr(metadata, "version", lambda _: "1.9.4")
    with pytest.raises(PasskError, match=r"dbt 1\.9\.4 is too old\."):
        find_dbt()
