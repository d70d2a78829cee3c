"""``passk diagnose``: warnings first, then what is fine, then what can't be known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from passk_py.metrics.diagnostic_words import WORDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Said

    Passk = Callable[..., Said]


@pytest.fixture(scope="module")
def sticky_built(build_log: Callable[..., Path]) -> Path:
    """Two runs, of which one passes and fails in streaks."""
    streaks = [("sticky", f"t{i}", "FFFFPPPP" if i % 2 else "PPPPFFFF") for i in range(20)]
    mixed = [("mixed", f"t{i}", "FPFPFFPP" if i % 2 else "PFPPFPFF") for i in range(20)]
    return build_log("sticky", streaks + mixed)


@pytest.fixture
def sticky(sticky_built: Path, copy_built: Callable[[Path], Path]) -> Path:
    """A copy of their database, in the working directory."""
    return copy_built(sticky_built)


def test_warnings_come_first_with_meaning_and_advice(passk: Passk, sticky: Path) -> None:
    said = passk("diagnose", "sticky")
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0].startswith("sticky · letters: ")
    assert lines[2] == "  serial_dependence"
    text = " ".join(said.out.split())
    # One switch each, where 2 * 4 * 4 / 8 = 4 are expected.
    assert "The verdict changes 20 times within 20 tasks, where chance gives 80.0" in text
    assert "After correction, p < 0.001." in text
    words = WORDS["serial_dependence"]
    assert f"{words.sign}. {words.effect}" in text
    assert f"To do: {WORDS['serial_dependence'].advice}" in text
    assert text.index("serial_dependence") < text.index(" Fine: ") < text.index(" Not known: ")
    assert "duplicate_seeds (no task has two attempts with a seed)" in text
    assert "an effect that all attempts of a task share" in text
    assert "sticky" not in passk("diagnose", "mixed").out


def test_json_has_every_diagnostic_of_every_run(passk: Passk, sticky: Path) -> None:
    values = passk("diagnose", "--json").json
    assert [run["run_id"] for run in values["runs"]] == ["mixed", "sticky"]
    for run in values["runs"]:
        assert [row["diagnostic"] for row in run["diagnostics"]] == list(WORDS)
        warnings = [row for row in run["diagnostics"] if row["verdict"] == "warning"]
        assert run["warnings"] == len(warnings)
    by_name = {row["diagnostic"]: row for row in values["runs"][1]["diagnostics"]}
    assert by_name["serial_dependence"]["p"] < by_name["serial_dependence"]["p_adjusted"] < 0.001
    assert by_name["duplicate_seeds"]["p"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nope"], "There is no run nope; the runs are mixed, sticky."),
        (["--suite", "nope"], "There is no suite nope; the suites are letters."),
    ],
)
def test_what_is_not_there(passk: Passk, sticky: Path, words: list[str], message: str) -> None:
    said = passk("diagnose", *words)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"Error: {message}")


@pytest.mark.long
def test_tables_without_diagnostics_say_how_to_get_them(passk: Passk, sticky: Path) -> None:
    assert passk("build", "--vars", "{passk_diagnostics: false}").code == 0
    said: Any = passk("diagnose")
    assert said.code == 2
    assert "built without diagnostics" in said.err
    assert "passk_diagnostics: true" in said.err
