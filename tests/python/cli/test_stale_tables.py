"""Every command that reads the public tables says so where the log is newer than they are."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Said

    Passk = Callable[..., Said]

RULE = ("--metric", "pass_hat_k", "--k", 2, "--min", 0.01)
COMMANDS = {
    "gate": ("gate", "--run", "old", *RULE),
    "compare": ("compare", "old", "new"),
    "diagnose": ("diagnose", "old"),
    "plan": ("plan", "old", "--k", 2),
    "export": ("export", "passk_runs", "-o", "runs.csv"),
    "report": ("report", "-o", "report.md"),
    "card": ("card", "old"),
    "show": ("show",),
    "show TABLE": ("show", "passk_runs"),
    "show --csv": ("show", "passk_runs", "--csv"),
}
IN_JSON = ("gate", "compare", "diagnose", "plan", "export", "report")


@pytest.mark.parametrize("name", COMMANDS)
def test_what_landed_since_the_build_is_said_beside_the_result(
    passk: Passk, letters: Path, make_log: Callable[..., Path], name: str
) -> None:
    words = COMMANDS[name]
    before = passk(*words)
    late = make_log("late.jsonl", [("late", "task", "PP")])
    assert passk("load", late).code == 0
    sentence = "2 attempts have landed since the last build."
    said = passk(*words)
    assert f"{sentence} `passk build` takes that in.\n" in said.err
    assert "have landed since" not in before.err
    assert said.code == before.code
    if name in IN_JSON:
        said = passk(*words, "--json")
        assert sentence in said.err
        assert said.json["newer_than_built"] == sentence


def test_the_build_that_takes_it_in_is_of_the_same_database(
    passk: Passk, letters: Path, make_log: Callable[..., Path]
) -> None:
    shutil.copyfile(letters, "other.duckdb")
    late = make_log("late.jsonl", [("late", "task", "PP")])
    assert passk("load", late, "--database", "other.duckdb").code == 0
    for words in (("report", "-o", "report.md"), ("card", "old"), ("diagnose",)):
        said = passk(*words, "--database", "other.duckdb")
        assert "`passk build --database other.duckdb` takes that in.\n" in said.err


@pytest.mark.parametrize(
    "words", [("compare", "old", "late"), ("plan", "late"), ("diagnose", "late")]
)
def test_a_run_that_landed_since_is_not_only_said_to_be_missing(
    passk: Passk, letters: Path, make_log: Callable[..., Path], words: tuple[str, ...]
) -> None:
    assert passk("load", make_log("late.jsonl", [("late", "task", "PP")])).code == 0
    said = passk(*words)
    assert said.code == 2
    first, second = said.err.splitlines()[:2]
    assert first == "2 attempts have landed since the last build. `passk build` takes that in."
    assert second.startswith("Error: There is no run late;")


def test_a_guess_reads_no_tables(passk: Passk) -> None:
    said = passk("plan", "--pass-rate", 0.6, "--heterogeneity", 0.4, "--json")
    assert (said.code, said.err) == (0, "")
    assert "newer_than_built" not in said.json
