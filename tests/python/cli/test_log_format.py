"""``--log-format json``: stderr is one JSON object a line, and stdout stays as it is."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from passk_py.cli import progress
from passk_py.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Said

    Passk = Callable[..., Said]

AS_JSON = ("--log-format", "json")
LEVELS = {"info", "warning", "error"}


def lines_of(text: str) -> list[dict[str, Any]]:
    """Read the log, each line of which must say when, how bad and what."""
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        assert datetime.fromisoformat(line["time"]).utcoffset() == timedelta(0)
        assert line["level"] in LEVELS
        assert line["event"]
    return lines


def events(said: Said, event: str) -> list[dict[str, Any]]:
    """Give the lines of an event without what all lines have."""
    common = {"time", "level", "event", "command"}
    return [
        {key: value for key, value in line.items() if key not in common}
        for line in lines_of(said.err)
        if line["event"] == event
    ]


def test_load_logs_every_file(passk: Passk, tmp_path: Path) -> None:
    good = '{"run_id": "a", "task_id": "t", "attempt": 1, "outcome": "passed"}\n'
    (tmp_path / "a.jsonl").write_text(good + good.replace('"passed"', '"oops"'), encoding="utf-8")
    said = passk(*AS_JSON, "load", "a.jsonl", "no.jsonl")
    assert [(line["event"], line["level"]) for line in lines_of(said.err)] == [
        ("started", "info"),
        ("progress", "info"),
        ("file", "warning"),
        ("file", "error"),
        ("finished", "info"),
    ]
    assert {line["command"] for line in lines_of(said.err)} == {"load"}
    landed, failed = events(said, "file")
    assert landed["file"] == str(tmp_path / "a.jsonl")
    assert [landed[f"rows_{rows}"] for rows in ("read", "landed", "rejected")] == [2, 1, 1]
    assert (failed["status"], failed["message"]) == ("failed", "no.jsonl does not exist.")
    assert failed["hint"]
    (finished,) = events(said, "finished")
    assert (finished["exit_code"], said.code) == (2, 2)
    assert 0 < finished["seconds"] < 60


@pytest.mark.long
def test_stdout_is_that_of_the_text_log(
    passk: Passk, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("gate", "--database", built, "--metric", "pass_at_k", "--k", 2, "--min", 0.01)
    for more in ((), ("--json",)):
        as_text = passk(*words, *more)
        assert as_text.err == ""
        said = passk(*AS_JSON, *words, *more)
        assert (said.code, said.out) == (as_text.code, as_text.out)
        monkeypatch.setenv("PASSK_LOG_FORMAT", "json")
        assert events(passk(*words, *more), "gate") == events(said, "gate")
        assert passk("--log-format", "text", *words, *more) == as_text
        monkeypatch.delenv("PASSK_LOG_FORMAT")
    gates = events(said, "gate")
    assert [gate["run_id"] for gate in gates] == [gate["run_id"] for gate in said.json["gates"]]
    assert {gate["result"] for gate in gates} <= {"pass", "fail", "inconclusive"}


@pytest.mark.long
def test_build_validate_and_publish(
    passk: Passk, make_log: Callable[..., Path], models_only: tuple[str, str]
) -> None:
    make_log("a.jsonl", [("a", "t", "PF")])
    assert passk("load", "a.jsonl").code == 0
    said = passk(*AS_JSON, "build", *models_only)
    (done,) = events(said, "built")
    started = events(said, "building")
    assert len(started) == done["models"] == started[-1]["total"]
    assert done["failed"] == done["rejected"] == 0
    assert passk("build", "--select", "passk_runs", "--no-tests").err == ""
    (checked,) = events(passk(*AS_JSON, "validate"), "validated")
    assert checked == {"runs": 1, "attempts": 2, "different": 0}
    (copy,) = events(passk(*AS_JSON, "publish", "-o", "bi"), "published")
    assert copy["runs"] == 1


@pytest.mark.long
def test_failed_test_of_a_build_is_one_line(passk: Passk, make_log: Callable[..., Path]) -> None:
    make_log("a.jsonl", [("a", f"t{task}", 8 * "F") for task in range(6)])
    assert passk("load", "a.jsonl").code == 0
    rule = "{name: always, type: threshold, metric: pass_at_k, k: 1, min: 0.9, scope: suite}"
    words = ("--select", "+passk_gates", "--vars", f"{{passk_gates: [{rule}]}}")
    said = passk(*AS_JSON, "build", *words)
    assert said.code == 1
    (node,) = events(said, "node")
    assert node["kind"] == "test"
    assert "always" in node["message"]
    (error,) = [line for line in lines_of(said.err) if line["event"] == "node"]
    assert error["level"] == "error"


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (["validate"], "There is no database passk.duckdb.", 2),
        (["laod"], "No such command 'laod'. Did you mean load?", 2),
        (["gate", "--oops"], "No such option '--oops'.", 3),
        (["peek", "a.jsonl", "--gate=g.yml", "--oops"], "No such option '--oops'.", 3),
        (["--oops"], "No such option '--oops'.", 2),
    ],
)
def test_errors(passk: Passk, words: list[str], message: str, code: int) -> None:
    said = passk(*AS_JSON, *words)
    (error,) = events(said, "error")
    assert error["message"].startswith(message)
    assert error["hint"]
    assert (error["exit_code"], said.code) == (code, code)


@pytest.mark.parametrize(("command", "code"), [("gate", 3), ("load", 2), ("peek", 2)])
def test_unknown_format_is_no_verdict(
    passk: Passk, command: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSK_LOG_FORMAT", "xml")
    said = passk(command)
    assert said.code == code
    assert "PASSK_LOG_FORMAT" in said.err
    assert "'xml'" in said.err


def test_debug_adds_the_traceback(passk: Passk) -> None:
    (error,) = events(passk(*AS_JSON, "show", "--debug"), "error")
    assert error["traceback"].startswith("Traceback")
    (error,) = events(passk(*AS_JSON, "show"), "error")
    assert "traceback" not in error


def test_no_secret_is_logged(passk: Passk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSK_SECRET", "hunter2-env")
    row = {"run_id": "a", "task_id": "t", "attempt": 1, "outcome": "oops", "prompt": "hunter2-row"}
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    paths = ("postgres://me:hunter2-address@host/db", "https://host/log?api_key=hunter2-key&x=1")
    for words in (
        ["load", "a.jsonl", *paths],
        ["build", "--vars", "{token: hunter2-var, oops: 1}"],
    ):
        said = passk(*AS_JSON, *words, "--debug")
        assert said.code == 2
        assert "hunter2" not in said.err
        lines_of(said.err)
    (tmp_path / "hunter2.jsonl").touch()
    # A value that is no secret is named.
    assert "hunter2.jsonl" in passk(*AS_JSON, "load", "hunter2.jsonl").err


def test_progress_is_paced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 4.9, 5.0, 5.1, 5.2, 10.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.reading(Session(log_as_json=True, started=0.0)) as tell:
        assert tell is not None
        for done, file in enumerate(("a", "a", "a", "a", "b", "a")):
            tell(file, done, 6, 10 * done)
    logged = lines_of(capsys.readouterr().err)
    assert [(line["file"], line["rows"], line["seconds"]) for line in logged] == [
        ("a", 0, 0.0),
        ("a", 20, 5.0),
        ("b", 40, 0.0),
        ("a", 50, 10.0),
    ]


def test_lines_are_ascii(passk: Passk) -> None:
    said = passk(*AS_JSON, "load", "é\n.jsonl")
    assert said.err.isascii()
    (file,) = events(said, "file")
    assert file["file"] == "é\\n.jsonl"
