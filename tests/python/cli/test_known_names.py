"""A name that is nearly one that there is: the question whether that was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Demo, Said

    Passk = Callable[..., Said]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("show", "--run", "olt"), "old"),
        (("show", "passk_runs", "--run", "NEW"), "new"),
        (("show", "--suite", "leters"), "letters"),
        (("show", "passk_task"), "passk_tasks"),
        (("show", "passk_runs", "--columns", "run_ids"), "run_id"),
        (("export", "passk_runz", "-o", "out"), "passk_runs"),
        (("export", "passk_runs", "--run", "olt", "-o", "out"), "old"),
        (("publish", "--without", "passk_gate", "-o", "bi"), "passk_gates"),
        (("compare", "olt", "new"), "old"),
        (("plan", "olt"), "old"),
        (("plan", "old", "--metric", "pass_hatk"), "pass_hat_k"),
        (("diagnose", "olt"), "old"),
        (("card", "olt"), "old"),
        (("report", "--run", "olt"), "old"),
        (("unload", "--run", "olt"), "old"),
    ],
)
def test_what_was_meant_is_asked(
    passk: Passk, letters: Path, words: tuple[str, ...], meant: str
) -> None:
    said = passk(*words)
    assert (said.code, said.out) == (2, "")
    assert said.err.splitlines()[0].endswith(f" Did you mean {meant}?")


def test_a_gate_that_was_meant(passk: Passk, demo: Demo) -> None:
    said = passk("gate", "--gate", "runs-unatended", "--database", demo.database)
    assert said.err.startswith(
        "Error: There is no gate runs-unatended. Did you mean runs-unattended?\n"
    )


@pytest.mark.parametrize("words", [("show", "--run", "nobody"), ("show", "zzz")])
def test_nothing_is_asked_where_no_name_is_near(
    passk: Passk, letters: Path, words: tuple[str, ...]
) -> None:
    said = passk(*words)
    assert said.code == 2
    assert "Did you mean" not in said.err
