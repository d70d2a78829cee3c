"""``passk compare``: the verdict, the numbers and the tasks, from the tables or computed."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

import pytest

from passk_py.warehouse.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Demo, Said

    Passk = Callable[..., Said]

FEBRUARY, MARCH = "scout-2026-02", "scout-2026-03"


def test_the_demos_hidden_regression_is_named(passk: Passk, demo: Demo) -> None:
    said = passk("compare", FEBRUARY, MARCH, "--database", demo.database)
    assert (said.code, said.err) == (0, "")
    first, *names, blank, sentence = said.out.splitlines()[:5]
    assert first == "puzzles · 48 tasks in both runs"
    assert (names, blank) == ([f"baseline   {FEBRUARY}", f"candidate  {MARCH}"], "")
    # The sentence is in points, as the table below it.
    assert re.fullmatch(
        r"pass\^4 fell by 1\d\.\d points \(\d\.\d to \d\d\.\d\): fewer tasks succeed 4 times in a row\. "
        r"pass@1 hides it: it rose by \d\.\d points\.",
        sentence,
    )
    lines = {line.split()[0]: line for line in said.out.splitlines() if line}
    assert lines["pass^4"].endswith("regression (hidden)")
    assert lines["pass@1"].endswith("improvement")
    assert lines["No"].startswith("No figures from k = 16 on: n < 16 in ")
    assert lines["sat-14"].endswith("fell")


def test_intervals_are_drawn_where_there_is_room(
    passk: Passk, demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    lines = passk("compare", FEBRUARY, MARCH, "--database", demo.database).out.splitlines()
    (header,) = [line for line in lines if "difference" in line and "verdict" in line]
    low, high = (int(end) / 100 for end in header.split()[-2:])
    start = header.index("verdict") + header[header.index("verdict") :].index(f"{100 * low:+.0f}")
    rows = passk("compare", FEBRUARY, MARCH, "--database", demo.database, "--json").json
    step = (high - low) / 24
    seen = set()
    for row in rows["comparisons"]:
        called = {"pass_at_k": "pass@", "pass_hat_k": "pass^"}[row["metric"]] + str(row["k"])
        if row["difference"] is None or called == "pass^1":
            continue
        (drawn,) = [line[start:] for line in lines if line.startswith(f"{called} ") and "●" in line]
        for mark, name in (("├", "_suite_lower"), ("●", ""), ("┤", "_suite_upper")):
            place = low + drawn.index(mark) * step
            assert abs(place - row[f"difference{name}"]) <= step / 2 + 1e-9
        ends = (row["difference_suite_lower"], row["difference_suite_upper"])
        at_zero = drawn[round(-low / step)]
        seen.add(at_zero)
        if at_zero in "├●┤":
            # An end or the difference stands in the cell of 0.
            assert min(map(abs, (*ends, row["difference"]))) <= step
        else:
            assert at_zero == ("┼" if ends[0] < 0 < ends[1] else "┊")
    # The demo has a difference near 0, and one whose interval excludes it.
    assert seen == {"●", "┊"}
    monkeypatch.setenv("COLUMNS", "100")
    assert "●" not in passk("compare", FEBRUARY, MARCH, "--database", demo.database).out


def test_json_holds_the_rows_of_the_tables(passk: Passk, demo: Demo) -> None:
    said = passk("compare", FEBRUARY, MARCH, "--k", 4, "--database", demo.database, "--json").json
    table = read_table("passk_comparisons", database=demo.database, k=4).drop("loaded_at")
    assert said["comparisons"] == table.to_dicts()
    assert [row["hidden_regression"] for row in said["comparisons"]] == [None, True]
    tasks = read_table("passk_task_comparisons", database=demo.database)
    assert sorted(said["tasks"], key=lambda row: row["task_id"]) == tasks.to_dicts()
    ps = [row["p_adjusted"] for row in said["tasks"]]
    assert ps == sorted(ps)
    assert said["source"] == "passk_comparisons"


def test_a_pair_that_is_not_in_the_tables_is_computed(passk: Passk, demo: Demo) -> None:
    said = passk("compare", MARCH, FEBRUARY, "--database", demo.database)
    assert said.code == 0
    assert "\npass^4 rose by 1" in said.out
    assert said.err.startswith("This pair is not in the tables, so it was compared")
    assert f"{{passk_pairs: [{{baseline: {MARCH}, candidate: {FEBRUARY}}}]}}" in said.err
    back, there = (
        passk("compare", *runs, "--database", demo.database, "--json").json
        for runs in ((MARCH, FEBRUARY), (FEBRUARY, MARCH))
    )
    assert back["source"] == "passk_attempts"
    for row, other in zip(back["comparisons"], there["comparisons"], strict=True):
        assert (row["metric"], row["k"]) == (other["metric"], other["k"])
        for name in ("difference", "z"):
            if row[name] is None:
                assert other[name] is None
            else:
                assert math.isclose(row[name], -other[name], rel_tol=1e-9)
    moved = [{r["task_id"] for r in s["tasks"] if r["moved"]} for s in (back, there)]
    assert moved[0] == moved[1] != set()


def test_few_tasks_have_no_verdict(passk: Passk, letters: Path) -> None:
    said = passk("compare", "old", "new", "--k", 1)
    assert said.code == 0
    assert "No verdict on pass@1: only 3 of 3 tasks could come out differently" in said.out
    assert "None of 3 tasks moved beyond chance" in said.out


def test_no_figures_at_all(passk: Passk, letters: Path) -> None:
    said = passk("compare", "old", "new", "--k", 4)
    assert said.code == 0
    assert "No verdict on pass^4: n < 4 in 1 of 3 tasks of both runs, in the candidate." in said.out
    assert "verdict" not in said.out.splitlines()


@pytest.mark.long
def test_runs_without_a_common_task_leave_nothing_to_compare(
    passk: Passk, models_only: tuple[str, str], make_log: Callable[..., Path]
) -> None:
    log = make_log("apart.jsonl", [("left", "one", "PF"), ("right", "two", "PP")])
    assert passk("load", log).code == 0
    assert passk("build", *models_only).code == 0
    said = passk("compare", "left", "right")
    assert said.code == 2
    assert "No verdict on pass@1: no task is in both runs." in said.out
    said = passk("compare", "left", "right", "--json")
    assert said.code == 2
    assert {row["null_reason"] for row in said.json["comparisons"]} == {"no task is in both runs"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("old", "old"), "The run old can't be compared with itself."),
        (("old", "gone"), "There is no run gone; the runs are "),
        (("old", "new", "--suite", "x"), "The two runs have no suite x in common."),
        (("old", "new", "--k", 7), "The tables have no k = 7."),
    ],
)
def test_what_can_not_be_compared(
    passk: Passk, letters: Path, words: tuple[object, ...], said: str
) -> None:
    done = passk("compare", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: {said}")


def test_rows_of_a_run_are_those_on_either_side(passk: Passk, letters: Path) -> None:
    for run in ("old", "new"):
        rows = passk("show", "passk_comparisons", "--run", run, "--k", 1, "--json").json["rows"]
        assert [row["metric"] for row in rows] == ["pass_at_k", "pass_hat_k"]


@pytest.mark.long
def test_a_computed_pair_knows_of_families_as_a_stored_one_does(
    passk: Passk, tmp_path: Path, models_only: tuple[str, str]
) -> None:
    log = tmp_path / "log.jsonl"
    rows = [
        {
            "run_id": run, "task_id": f"{family}-{task}", "attempt": attempt, "agent": run,
            "passed": (family * 7 + task * attempt + len(run)) % 5 > 1,
        }
        for run in ("one", "other")
        for family in range(6)
        for task in range(1 + family % 3)
        for attempt in (1, 2, 3, 4)
    ]  # fmt: skip
    log.write_text("\n".join(json.dumps(row) for row in rows))
    variables = {
        "passk_cluster": {"name": "family", "expression": "split_part(task_id, '-', 1)"},
        "passk_pairs": [{"baseline": "one", "candidate": "other"}],
        "passk_ks": [1, 2],
        "passk_deployment_k": 2,
    }
    passk("load", log)
    assert passk("build", *models_only, "--vars", json.dumps(variables)).code == 0
    stored, computed = (
        passk("compare", *pair, "--json").json for pair in (("one", "other"), ("other", "one"))
    )
    assert (stored["source"], computed["source"]) == ("passk_comparisons", "passk_attempts")
    for row, other in zip(stored["comparisons"], computed["comparisons"], strict=True):
        assert row["families"] == other["families"] == 6
        assert row["baseline_agent"] == other["candidate_agent"] == "one"
        assert math.isclose(row["difference_lower"], -other["difference_upper"], abs_tol=1e-9)
