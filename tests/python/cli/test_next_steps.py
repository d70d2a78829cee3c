"""A command that is shown can be copied and run from here."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from passk_py.cli.next_steps import command_line

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment of its own, in which passk is installed, below the current folder."""
    made = tmp_path / ".venv" / "bin" / "passk"
    made.parent.mkdir(parents=True)
    made.write_text("#!/bin/sh\n")
    made.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PASSK_DATABASE", raising=False)
    return made


def shown(tmp_path: Path) -> str:
    return command_line("show", database=tmp_path / "my runs.duckdb")


@pytest.mark.parametrize("absolute", [False, True])
def test_called_by_its_path(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, absolute: bool
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setattr(sys, "argv", [str(program) if absolute else ".venv/bin/passk", "demo"])
    assert shown(tmp_path) == f".venv/bin/passk show --database '{tmp_path / 'my runs.duckdb'}'"


def test_called_by_its_path_from_elsewhere(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setattr(sys, "argv", [str(program), "demo"])
    assert shown(tmp_path).startswith(f"{program} show ")


def test_on_the_path_its_name_is_enough(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr(sys, "argv", [str(program), "demo"])
    assert shown(tmp_path).startswith("passk show ")


def test_another_passk_on_the_path_is_not_this_one(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other" / "passk"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(other.parent))
    monkeypatch.setattr(sys, "argv", [str(program), "demo"])
    assert shown(tmp_path).startswith(".venv/bin/passk show ")
