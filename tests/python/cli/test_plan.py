"""``passk plan``: what the next run needs, from a run or a guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import passk_py as pk
from passk_py.warehouse.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Demo, Said

    Passk = Callable[..., Said]

MARCH = "scout-2026-03"
GUESS = ("--pass-rate", 0.6, "--heterogeneity", 0.4)


def test_a_run_is_the_pilot(passk: Passk, demo: Demo) -> None:
    said = passk("plan", MARCH, "--database", demo.database)
    assert (said.code, said.err) == (0, "")
    first, blank, *rest = said.out.splitlines()
    assert first.startswith(f"{MARCH} · puzzles · pass^4 of ")
    assert " · 48 tasks, " in first
    assert blank == ""
    assert rest[0].split() == ["attempts", "10", "points", "wide:", "drop", "of", "5", "points:"]
    assert [line.split()[0] for line in rest[3:7]] == ["4", "8", "16", "32"]
    for words in (
        "* the fewest attempts in all.",
        "chance within tasks makes up",
        "The 48 tasks of the run",
        # 9 of 812. C(18, 3) .0111^3 x 303 tasks is .3, and C(17, 2) .0111^2 x 303 is 5.
        "1.1 % of the run's attempts were excluded. Make 18 of each task to keep 16: then, on "
        "average, fewer than one of 303 tasks ends up with less.",
        "is the 95 % interval for tasks like these. The drop is between two",
        "How certain: the numbers come from a sample of 48 tasks.",
    ):
        assert words in said.out.replace("\n  ", " ")


def test_json_holds_the_rows_of_the_table(passk: Passk, demo: Demo) -> None:
    said = passk("plan", MARCH, "--k", 2, "--database", demo.database, "--json").json
    table = read_table("passk_plans", database=demo.database, run_id=MARCH, k=2)
    expected = table.filter(pl.col("metric") == "pass_hat_k").to_dicts()
    assert len(said["plans"]) == len(expected) == 5
    for row, other in zip(said["plans"], expected, strict=True):
        for name, value in row.items():
            assert value == (
                pytest.approx(other[name], rel=1e-8) if isinstance(value, float) else other[name]
            ), name
    assert (said["run_id"], said["width"], said["power"]) == (MARCH, 0.1, 0.8)


def test_options_change_what_is_asked_for(passk: Passk, demo: Demo) -> None:
    words = ("plan", MARCH, "--database", demo.database, "--metric", "pass_at_k", "--k", 3)
    asked = ("--width", 0.2, "--difference", 0.1, "--power", 0.9, "--attempts", 6, "--attempts", 3)
    rows = passk(*words, *asked, "--json").json["plans"]
    assert [(row["metric"], row["k"], row["attempts"]) for row in rows] == [
        ("pass_at_k", 3, 6),
        ("pass_at_k", 3, 3),
    ]
    before = passk(*words, "--attempts", 6, "--json").json["plans"][0]
    assert rows[0]["tasks_for_width"] < before["tasks_for_width"]
    assert rows[0]["tasks_for_difference"] < before["tasks_for_difference"]
    assert "20 points wide" in passk(*words, *asked).out


def test_a_guess_needs_no_database(passk: Passk, tmp_path: Path) -> None:
    said = passk("plan", *GUESS)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("a guess · pass^4 of 32.7\n")
    assert "How certain: only as certain as the guess." in said.out
    rows = passk("plan", *GUESS, "--k", 2, "--attempts", 8, "--json").json["plans"]
    expected = pk.plan_guess(0.6, 0.4, ks=[2], attempts_per_task=[8])
    wanted = expected.filter(pl.col("metric") == "pass_hat_k").to_dicts()
    assert rows == [{"suite": None, **row} for row in wanted]


def test_a_k_beyond_the_planned_attempts_has_attempts_of_its_own(passk: Passk) -> None:
    rows = passk("plan", *GUESS, "--k", 40, "--json").json["plans"]
    assert [row["attempts"] for row in rows] == [40, 80, 160]


@pytest.mark.long
def test_tasks_that_all_pass_can_not_tell_a_drop(
    passk: Passk, make_log: Callable[..., Path]
) -> None:
    log = make_log("log.jsonl", [("r", f"t{task}", "PPPPPPPP") for task in range(12)])
    assert passk("load", log).code == 0
    assert passk("build", "--select", "resource_type:model").code == 0
    said = passk("plan", "r")
    assert said.code == 0
    assert "No figure for a drop: no task could come out differently in another run." in said.out


def test_few_attempts_are_fitted(passk: Passk, letters: Path) -> None:
    said = passk("plan", "old", "--k", 4)
    assert said.code == 0
    assert (
        "How certain: not very. Some task of the run has fewer than 2k attempts"
        in said.out.replace("\n  ", " ")
    )


@pytest.mark.long
def test_nothing_to_plan_from_is_said_by_the_exit_code_too(
    passk: Passk, models_only: tuple[str, str], make_log: Callable[..., Path]
) -> None:
    log = make_log("log.jsonl", [("single", "task", "P"), ("void", "task", "XX")])
    assert passk("load", log).code == 0
    assert passk("build", *models_only).code == 0
    assert passk("plan", "single").out.splitlines()[0].endswith(" · 1 task, 1 attempt each")
    for run, reason in (("single", "n < 2 in 1 of 1 tasks"), ("void", "")):
        said = passk("plan", run)
        assert said.code == 2
        assert "No plan is possible from" in said.out
        assert reason in said.out
        said = passk("plan", run, "--json")
        assert said.code == 2
        assert {row["basis"] for row in said.json["plans"]} <= {None}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Name a measured run, or guess with --pass-rate and --heterogeneity."),
        (("--pass-rate", 0.5), "Name a measured run, or guess"),
        (("old", *GUESS), "Give either a run or a guess, not both."),
        ((*GUESS, "--suite", "x"), "--suite needs the name of a run."),
        (("gone",), "There is no run gone; the runs are "),
        (("old", "--suite", "x"), "There is no suite x; the suites are letters."),
        (("old", "--k", 4, "--attempts", 2), "k = 4 needs at least 4 attempts of each task."),
        (("old", "--width", 1), "Invalid value for '--width'"),
        (("old", "--power", 0.5), "Invalid value for '--power'"),
        (("--pass-rate", 1, "--heterogeneity", 0.5), "Invalid value for '--pass-rate'"),
    ],
)
def test_what_can_not_be_planned(
    passk: Passk, letters: Path, words: tuple[object, ...], said: str
) -> None:
    done = passk("plan", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: {said}")


def test_the_tables_can_be_shown(passk: Passk, letters: Path) -> None:
    rows = passk("show", "passk_plans", "--run", "old", "--k", 1, "--json").json["rows"]
    assert [row["attempts"] for row in rows] == [1, 2, 4, 8, 16, 32] * 2
    assert passk("show", "passk_contamination", "--suite", "letters", "--json").json["rows"] == []
