"""``passk show TABLE``: rows for a person, and for a program."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

from passk_py.common.words import DASH
from passk_py.warehouse.catalog import PUBLIC_TABLES
from passk_py.warehouse.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Said

    Passk = Callable[..., Said]

NAMES = [table.name for table in PUBLIC_TABLES]


@pytest.mark.long
@pytest.mark.parametrize("table", NAMES)
def test_every_table_is_shown_in_three_ways(table: str, passk: Passk, letters: Path) -> None:
    frame = read_table(table)
    assert passk("show", table).code == 0
    rows = passk("show", table, "--json").json
    assert rows["table"] == table
    assert len(rows["rows"]) == frame.height
    text = passk("show", table, "--csv").out
    lines = list(csv.reader(io.StringIO(text)))
    assert lines[0] == frame.columns
    assert len(lines) == frame.height + 1


def test_a_table_that_a_var_asks_for_is_missed_with_its_name(passk: Passk, letters: Path) -> None:
    said = passk("show", "passk_suite_bootstrap")
    assert said.code == 2
    assert "it is made where the var passk_bootstrap is set" in said.err
    assert "passk_suite_bootstrap" not in passk("show").out


def test_rows_are_filtered(passk: Passk, letters: Path) -> None:
    said = passk("show", "passk_suite_metrics", "--run", "old", "--k", 1, "--k", 2, "--json")
    rows = said.json["rows"]
    assert [(row["run_id"], row["k"]) for row in rows] == [("old", 1), ("old", 2)]
    assert rows[0]["pass_at_k"] == pytest.approx((1 + 0 + 1 / 4) / 3, rel=1e-15)


def test_table_says_once_what_is_the_same_in_every_row(passk: Passk, letters: Path) -> None:
    said = passk("show", "passk_tasks", "--run", "old")
    first, blank, head, *_ = said.out.splitlines()
    assert first == "suite = letters · run_id = old"
    assert blank == ""
    assert head.split()[:3] == ["task_id", "n", "c"]
    assert said.err.startswith("3 rows of passk_tasks. ")


def test_limit(passk: Passk, letters: Path) -> None:
    said = passk("show", "passk_attempts", "--limit", 2)
    assert said.err.startswith("2 of 24 rows of passk_attempts. --limit 0 shows all.")
    assert len(passk("show", "passk_attempts", "--limit", 2, "--json").json["rows"]) == 2
    assert passk("show", "passk_attempts", "--limit", 0).err.startswith("24 rows of")


def test_columns(passk: Passk, letters: Path) -> None:
    said = passk("show", "passk_runs", "--columns", "run_id, pass_rate", "--csv")
    assert said.out == "run_id,pass_rate\nnew,0.6363636363636364\nold,0.4166666666666667\n"
    table = passk("show", "passk_runs", "--columns", "c,run_id")
    assert table.out.splitlines()[0].split() == ["c", "run_id"]


def test_unknown_column_names_those_there_are(passk: Passk, letters: Path) -> None:
    said = passk("show", "passk_runs", "--columns", "run_id,x,y")
    assert (said.code, said.out) == (2, "")
    first, second = said.err.splitlines()
    assert first == "Error: passk_runs has no column x and no y."
    assert second.startswith("Its columns are run_id, suite, agent,")


def test_unknown_run_names_those_there_are(passk: Passk, letters: Path) -> None:
    said = passk("show", "passk_tasks", "--run", "nobody")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "Error: There is no run nobody; the runs are new, old.\n"
        "Name runs with --run as `passk show passk_runs` lists them.\n"
    )
    for words in ((), ("passk_tasks", "--csv"), ("passk_gates",), ("--run", "old")):
        again = passk("show", *words, "--run", "nobody")
        assert (again.code, again.out, again.err) == (2, "", said.err)
    as_json = passk("show", "passk_runs", "--run", "nobody", "--json")
    assert as_json.code == 2
    assert as_json.json["error"] == "There is no run nobody; the runs are new, old."


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--suite", "other"), "There is no suite other; the suites are letters."),
        (("passk_runs", "--suite", "other", "--json"), "There is no suite other;"),
        (("passk_task_metrics", "--k", 7), "There is no k 7; the ks are 1, 2, "),
    ],
)
def test_unknown_suite_or_k_names_those_there_are(
    passk: Passk, letters: Path, words: tuple[object, ...], message: str
) -> None:
    said = passk("show", *words)
    assert said.code == 2
    assert said.err.startswith(f"Error: {message}")


def test_a_run_of_which_every_row_was_rejected_is_known(
    passk: Passk, letters: Path, change: Callable[..., None]
) -> None:
    change(
        "create table refused as select * from passk_rejected_attempts",
        "insert into refused (run_id, suite, reason_code) values ('broken', 'letters', 'x')",
        "drop view passk_rejected_attempts",
        "alter table refused rename to passk_rejected_attempts",
    )
    said = passk("show", "--run", "broken")
    assert (said.code, said.err) == (0, "")
    assert said.out == (
        "passk.duckdb has no attempts of broken.\n"
        "  why 1 row was rejected  passk show passk_rejected_attempts\n"
    )
    assert passk("show", "passk_tasks", "--run", "broken").err == "0 rows of passk_tasks.\n"


def test_null_is_a_dash_and_null_in_json(passk: Passk, letters: Path) -> None:
    out = passk("show", "passk_task_metrics", "--k", 8).out
    assert DASH in out
    assert "n = 4 < k = 8" in out
    (row,) = passk("show", "passk_task_metrics", "--k", 8, "--limit", 1, "--json").json["rows"]
    assert row["pass_at_k"] is None


def test_maps_are_json_text_in_csv(passk: Passk, letters: Path) -> None:
    out = passk("show", "passk_attempts", "--limit", 1, "--columns", "tags", "--csv").out
    assert out == 'tags\n"{""kind"": ""n""}"\n'


def test_table_fits_a_narrow_terminal(
    passk: Passk, letters: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.console import Console

    from passk_py.cli.session import Session

    monkeypatch.setattr(
        Session,
        "console",
        lambda *_, **__: Console(width=60, force_terminal=True, color_system=None),
    )
    out = passk("show", "passk_rejected_attempts").out
    out += passk("show", "passk_attempts", "--limit", 3).out
    assert out
    assert all(len(line) <= 60 for line in out.splitlines())


def test_before_a_build_it_says_what_to_do(passk: Passk, make_log: Callable[..., Path]) -> None:
    assert passk("load", make_log("a.jsonl", [("r", "t", "P")])).code == 0
    for words in (["show"], ["show", "passk_runs"]):
        said = passk(*words)
        assert said.code == 2
        assert said.err.endswith(
            "Run `passk build`; before that, `passk load FILE` if no log is in yet.\n"
        )


def test_doctor_tells_the_next_step(passk: Passk, make_log: Callable[..., Path]) -> None:
    missing = passk("doctor", "--json")
    assert missing.code == 2
    assert missing.json["problem"] == "There is no database passk.duckdb."
    assert passk("load", make_log("a.jsonl", [("r", "t", "P")])).code == 0
    said = passk("doctor", "--json")
    assert said.code == 0
    assert said.json["landed"]["attempts"] == 1
    assert said.json["built"] is None
    assert said.json["next"] == "build"


def test_doctor_of_a_built_database(passk: Passk, letters: Path) -> None:
    said = passk("doctor")
    assert said.code == 0
    assert "landed      24 attempts of 1 file, 0 rejected rows; the last at " in said.out
    assert "built       2 runs of 1 suite, 24 attempts" in said.out
    assert said.out.endswith("  next  passk show\n")
    assert passk("doctor", "--json").json["versions"]["polars"]


def test_stale_tables_are_said_to_be(
    passk: Passk, letters: Path, make_log: Callable[..., Path]
) -> None:
    assert passk("load", make_log("late.jsonl", [("old", "late", "PP")])).code == 0
    said = passk("show")
    assert said.code == 0
    assert said.err == (
        "2 attempts have landed since the last build. `passk build` brings them up to date.\n"
    )
    assert "to build    2 attempts have landed since the last build." in passk("doctor").out
