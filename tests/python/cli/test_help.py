"""The command line as a whole: help, versions, how fast it starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from passk_py.cli.group import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Said

    Passk = Callable[..., Said]

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_json_and_examples(passk: Passk, command: str) -> None:
    said = passk(command, "--help")
    assert said.code == 0
    assert "--json" in said.out
    assert "Examples:" in said.out or "To switch it on:" in said.out


def test_help_lists_the_commands_in_the_order_of_their_use(passk: Passk) -> None:
    out = passk("--help").out
    places = [out.index(f"\n  {command} ") for command in COMMANDS]
    assert places == sorted(places)
    assert "..." not in out.partition("Commands:")[2].partition("Start here")[0]


def test_without_a_command_help_is_shown(passk: Passk) -> None:
    assert passk().code == 0
    assert passk().out == passk("--help").out


def test_version_is_that_of_the_dbt_project(passk: Passk) -> None:
    project = (ROOT / "dbt_project.yml").read_text(encoding="utf-8")
    said = passk("--version")
    assert said.out.startswith("passk ")
    assert f"\nversion: {said.out.split()[1]}\n" in project


@pytest.mark.parametrize("words", [["--help"], ["load", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    code = (
        "import sys\n"
        "from passk_py.cli import cli\n"
        "try:\n"
        f"    cli.main({words!r})\n"
        "except SystemExit:\n"
        "    pass\n"
        "heavy = {'duckdb', 'polars', 'dbt', 'rich', 'yaml'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_import_of_the_package_is_lazy_and_complete() -> None:
    code = (
        "import sys, passk_py as pk\n"
        "assert not {'duckdb', 'polars', 'click'} & set(sys.modules), sorted(sys.modules)\n"
        "missing = [name for name in pk.__all__ if getattr(pk, name) is None]\n"
        "assert not missing, missing\n"
        "assert set(pk.__all__) <= set(dir(pk))\n"
        "assert pk.__version__\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_module_runs_as_the_command(passk: Passk) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "passk_py", "--version"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == passk("--version").out


@pytest.mark.parametrize("shell", ["zsh", "fish", "bash"])
def test_completion_prints_a_script_for_the_shell(passk: Passk, shell: str) -> None:
    said = passk("completion", shell)
    assert said.code == 0
    assert "_PASSK_COMPLETE" in said.out
    assert passk("completion", shell, "--json").json["shell"] == shell


def test_completion_without_a_known_shell_asks_for_one(
    passk: Passk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    said = passk("completion")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "Error: Name the shell: bash, zsh, fish.\n`passk completion --help` shows the usage.\n"
    )


def test_formats_lists_each_reader_and_explains_one(passk: Passk) -> None:
    from passk_py.ingest.formats import FORMATS

    listed = passk("formats")
    explained = passk("formats", "tau-bench")
    assert [line.split()[0] for line in listed.out.splitlines()[: len(FORMATS)]] == [
        one.name for one in FORMATS
    ]
    assert "reward" in explained.out
    assert len(passk("formats", "--json").json["formats"]) == len(FORMATS)


def test_formats_knows_no_other(passk: Passk) -> None:
    said = passk("formats", "yaml")
    assert said.code == 2
    assert said.err.startswith("Error: There is no format 'yaml'.\nThe formats are ")
