"""Every error is said in two lines, with exit code 2, and never as a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Said

    Passk = Callable[..., Said]

ROOT = Path(__file__).resolve().parents[3]

READING = [
    ["show"],
    ["show", "passk_runs"],
    ["validate"],
    ["export", "--all", "-o", "out"],
    ["publish", "-o", "out"],
]


@pytest.mark.parametrize("words", READING)
def test_missing_database(passk: Passk, words: list[str]) -> None:
    said = passk(*words)
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "Error: There is no database passk.duckdb.\n"
        "Make it with `passk load FILE`, or name another one with --database.\n"
    )


def test_a_hint_names_the_database_that_was_given(
    passk: Passk, monkeypatch: pytest.MonkeyPatch
) -> None:
    hint = "Make it with `passk load FILE%s`, or name another one with --database.\n"
    given = ("show", "passk_runs", "--database")
    assert passk(*given, "my runs.duckdb").err.endswith(hint % " --database 'my runs.duckdb'")
    assert passk(*given, "passk.duckdb").err.endswith(hint % "")
    # The commands that follow take that of the environment.
    monkeypatch.setenv("PASSK_DATABASE", "other.duckdb")
    assert passk("show", "passk_runs").err.endswith(hint % "")
    assert passk(*given, "passk.duckdb").err.endswith(hint % " --database passk.duckdb")


def test_missing_database_for_build_and_unload(passk: Passk) -> None:
    assert passk("build").err == (
        "Error: There is no database passk.duckdb.\n"
        "Load a log first with `passk load FILE`, or name another one with --database.\n"
    )
    assert passk("unload", "--run", "a").err == (
        "Error: There is no database passk.duckdb.\nName the database with --database.\n"
    )
    assert not Path("passk.duckdb").exists()


@pytest.mark.parametrize("words", [*READING, ["doctor"], ["build"], ["unload", "--run", "a"]])
def test_an_empty_file_is_said_to_be_no_database(passk: Passk, words: list[str]) -> None:
    Path("passk.duckdb").touch()
    said = passk(*words)
    assert said.code == 2
    first, second = said.err.splitlines()
    assert first == "Error: The file passk.duckdb is empty: it is no DuckDB database."
    assert second.startswith("Remove it")
    assert "--database" in second


def test_another_file_is_said_to_be_no_database(passk: Passk) -> None:
    Path("passk.duckdb").write_text("run_id,task_id\n", encoding="utf-8")
    assert passk("show").err == (
        "Error: passk.duckdb is not a DuckDB database.\n"
        "Give the path of a database with --database.\n"
    )


@pytest.mark.parametrize("words", READING)
def test_error_as_json_is_one_object_on_stdout(passk: Passk, words: list[str]) -> None:
    said = passk(*words, "--json")
    assert said.code == 2
    assert said.json == {
        "error": "There is no database passk.duckdb.",
        "hint": "Make it with `passk load FILE`, or name another one with --database.",
    }
    assert said.err.startswith("Error: ")


def test_database_of_the_environment_is_named(
    passk: Passk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSK_DATABASE", "nightly.duckdb")
    assert "There is no database nightly.duckdb." in passk("show").err
    assert "There is no database other.duckdb." in passk("show", "--database", "other.duckdb").err


@pytest.mark.parametrize("words", [*READING, ["build"]])
def test_file_that_is_no_database(passk: Passk, words: list[str]) -> None:
    Path("passk.duckdb").write_text("run_id,task_id\n" * 100, encoding="utf-8")
    said = passk(*words)
    assert (said.code, said.out) == (2, "")
    assert len(said.err.splitlines()) == 2
    assert "passk.duckdb" in said.err
    assert "--database" in said.err


@pytest.mark.parametrize("words", READING)
def test_database_that_is_a_folder(passk: Passk, words: list[str]) -> None:
    Path("passk.duckdb").mkdir()
    said = passk(*words)
    assert said.code == 2
    assert said.err == (
        "Error: The database passk.duckdb is a folder.\nGive the path of a file with --database.\n"
    )


@pytest.fixture
def holder(letters: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that writes to the database."""
    code = (
        "import duckdb, sys\n"
        f"connection = duckdb.connect({str(letters)!r})\n"
        "print('open', flush=True)\n"
        "sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.communicate("")


@pytest.mark.parametrize(
    "words", [*READING, ["build"], ["unload", "--run", "old"], ["load", "a.jsonl"]]
)
def test_database_in_use(passk: Passk, words: list[str], holder: subprocess.Popen[str]) -> None:
    said = passk(*words)
    assert (said.code, said.out) == (2, "")
    first, second = said.err.splitlines()
    assert first.startswith("Error: The database passk.duckdb is in use by process ")
    assert str(holder.pid) in first
    assert second == "Close it there, or wait until it is done."


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (["nope"], "No such command 'nope'.", "`passk --help` shows the usage."),
        (
            ["biuld"],
            "No such command 'biuld'. Did you mean build?",
            "`passk --help` shows the usage.",
        ),
        (
            ["show", "passk_attempts", "--json", "--csv"],
            "Give either --csv or --json, not both.",
            "`passk show --help` shows the usage.",
        ),
        (
            ["show", "--limit", "3"],
            "--limit needs the name of a table.",
            "`passk show --help` shows the usage.",
        ),
        (
            ["show", "passk_runs", "--k", "2"],
            "passk_runs has no k to filter by.",
            "`passk show --help` shows the usage.",
        ),
        (
            ["export", "-o", "x"],
            "Name the tables to export, or give --all.",
            "`passk export --help` shows the usage.",
        ),
        (
            ["export", "passk_runs", "--all", "-o", "x"],
            "Give either --all or the names of tables, not both.",
            "`passk export --help` shows the usage.",
        ),
        (
            ["load", "a.jsonl", "--tag", "split"],
            "--tag is 'split', but must be a name and a value: K=V.",
            "`passk load --help` shows the usage.",
        ),
        (
            ["unload"],
            "Give either --run or --source-file.",
            "`passk unload --help` shows the usage.",
        ),
    ],
)
def test_usage(passk: Passk, words: list[str], error: str, hint: str) -> None:
    said = passk(*words)
    assert said.code == 2
    assert said.err == f"Error: {error}\n{hint}\n"
    if "--json" in words:
        assert json.loads(said.out) == {"error": error, "hint": hint}


def test_unexpected_error_is_no_traceback_but_with_debug(
    passk: Passk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: object, **__: object) -> None:
        raise RuntimeError("the disk\nis on fire")

    monkeypatch.setattr("passk_py.cli.answer_output.print_answer", explode)
    said = passk("show")
    assert said.code == 2
    assert said.err == (
        "Error: passk failed because of a bug: RuntimeError: the disk\n"
        "Run the command again with --debug and report the output.\n"
    )
    assert "Traceback" in passk("show", "--debug").err


def test_reader_of_a_pipe_may_leave(letters: Path) -> None:
    command = f"{sys.executable} -m passk_py show passk_task_metrics --csv --database {letters}"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("run_id,suite,")


def test_interrupt_ends_quietly(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("passk_py.cli.answer_output.print_answer", interrupt)
    said = passk("show")
    assert (said.code, said.out) == (130, "")
    assert said.err.lstrip().startswith("Error: Interrupted.\n")
