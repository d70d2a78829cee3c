"""``passk load --labels`` and ``--verdicts``, and what the answer, the page and the card say of them."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pytest

import passk_py as pk
from passk_py.common.words import percent

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Said

    Passk = Callable[..., Said]


def write_log() -> None:
    """Write two runs whose grader flips one verdict in ten, labels of a third, and a judge's verdicts."""
    dice, again = random.Random(4), random.Random(5)
    rows, labels, verdicts = [], [], []
    for run in ("old", "new"):
        for task in range(30):
            rate = dice.betavariate(6, 1)
            for attempt in range(1, 5):
                truly = dice.random() < rate
                key = {"run_id": run, "suite": "s", "task_id": f"t{task}", "attempt": attempt}
                rows.append({**key, "passed": truly != (dice.random() < 0.1)})
                labels.append({**key, "verdict": "pass" if truly else "fail"})
                verdicts += [
                    {**key, "judge": "gpt", "verdict": truly != (again.random() < 0.1)}
                    for _ in range(2)
                ]
    pl.DataFrame(rows).write_ndjson("log.jsonl")
    odd = [{**labels[0], "task_id": "nowhere"}, {**labels[0], "labelled_at": "soon"}]
    chosen = [*dice.sample(labels[1:], 120), *odd]
    pl.DataFrame(chosen, infer_schema_length=None).write_csv("labels.csv")
    pl.DataFrame(verdicts).write_csv("verdicts.csv")


@pytest.fixture
def logged(passk: Passk) -> None:
    write_log()
    assert passk("load", "log.jsonl").code == 0


def test_labels_are_loaded_once(passk: Passk, logged: None) -> None:
    said = passk("load", "--labels", "labels.csv")
    assert said.code == 0
    assert said.out.startswith("labels.csv: landed, 121 labels landed, 1 rejected.")
    again = passk("load", "--labels", "labels.csv", "--json")
    assert [file["status"] for file in again.json["files"]] == ["unchanged"]
    said = passk("unload", "--source-file", "labels.csv")
    assert "Removed 122 verdicts of the file labels.csv." in said.out


def test_the_first_rejected_row_is_said(passk: Passk) -> None:
    Path("odd.csv").write_text("run_id,task_id,attempt,verdict\nr,t,1,unsure\n", encoding="utf-8")
    said = passk("load", "--labels", "odd.csv")
    assert said.code == 0
    assert "the first rejected is row 1, unknown_verdict: verdict is unsure" in said.err


def test_verdicts_are_loaded_once(passk: Passk, logged: None) -> None:
    said = passk("load", "--verdicts", "verdicts.csv")
    assert said.code == 0
    assert said.out.startswith("verdicts.csv: landed, 480 verdicts landed, 0 rejected.")
    Path("copy.csv").write_bytes(Path("verdicts.csv").read_bytes())
    again = passk("load", "--verdicts", "verdicts.csv", "copy.csv", "--json")
    assert [file["status"] for file in again.json["files"]] == ["unchanged", "copy"]


@pytest.mark.parametrize("kind", ["--labels", "--verdicts"])
@pytest.mark.parametrize("option", ["--run-id", "--format", "--tag"])
def test_labels_take_no_options_of_logs(option: str, kind: str, passk: Passk, logged: None) -> None:
    said = passk("load", kind, "labels.csv", option, "a=b")
    assert said.code == 2
    assert f"{kind} can't be combined with {option}." in said.err


def test_a_file_has_either_labels_or_verdicts(passk: Passk) -> None:
    said = passk("load", "--labels", "--verdicts", "labels.csv")
    assert said.code == 2
    assert "--labels can't be combined with --verdicts." in said.err


def test_a_file_that_is_not_there(passk: Passk) -> None:
    said = passk("load", "--labels", "nothing.csv")
    assert said.code == 2
    assert "There is no file nothing.csv." in said.err


@pytest.fixture(scope="session")
def labelled(make_once: Callable[[str, Callable[[Path], None]], Path], passk: Passk) -> Path:
    """A database of the log and its labels, loaded and built."""

    def fill(folder: Path) -> None:
        with contextlib.chdir(folder):
            write_log()
            assert passk("load", "log.jsonl").code == 0
            assert passk("load", "--labels", "labels.csv").code == 0
            assert passk("load", "--verdicts", "verdicts.csv").code == 0
            said = passk("build", "--no-tests")
            assert said.code == 0, said.err

    return make_once("labelled", fill) / "passk.duckdb"


@pytest.fixture
def built(labelled: Path, copy_built: Callable[[Path], Path]) -> None:
    copy_built(labelled)


@pytest.mark.long
def test_the_answer_says_how_often_the_grader_errs(passk: Passk, built: None) -> None:
    rates = pk.read_table("passk_graders").row(0, named=True)
    said = " ".join(passk("show").out.split())
    assert f"The grader passes {percent(rates['false_pass_rate'])}% (" in said
    assert "by 120 labels. Corrected pass^4 of " in said
    assert "not on the same tasks every time." in said
    answer = passk("show", "--json").json
    assert answer["suites"][0]["grader"][0].startswith("The grader passes ")
    for words in (
        ("report", "-o", "r.md"),
        ("report", "-o", "r.html"),
        ("card", "new", "-o", "c.md"),
    ):
        assert passk(*words).code == 0
        assert "The grader passes " in Path(words[-1]).read_text(encoding="utf-8")
    card = passk("card", "new", "--json").json
    assert card["grader"]["rates"]["suite"] == "s"
    assert [row["run_id"] for row in card["grader"]["corrected"]] == ["new"]


@pytest.mark.long
def test_the_answer_says_how_far_judges_agree(passk: Passk, built: None) -> None:
    table = pk.read_table("passk_judges")
    assert table.select("judge", "other_judge", "attempts").rows() == [
        ("gpt", "gpt", 240),
        ("gpt", "log", 240),
    ]
    least = table.sort("agreement").row(0, named=True)
    with_whom = "itself" if least["other_judge"] == "gpt" else "the log"
    wanted = f"The judge gpt agrees with {with_whom} on {percent(least['agreement'])}% ("
    share = f"; {percent(least['judges_share'])}% ("
    answer = passk("show", "--json").json
    (said,) = answer["suites"][0]["grader"][-1:]
    assert said.startswith(wanted)
    assert " of attempts, the least of 2 pairs in passk_judges" + share in said
    for words in (("report", "-o", "j.md"), ("card", "new", "-o", "j.card.md")):
        assert passk(*words).code == 0
        assert wanted in Path(words[-1]).read_text(encoding="utf-8")
    assert [row["judge"] for row in passk("card", "new", "--json").json["judges"]] == ["gpt"] * 2


@pytest.mark.long
def test_the_tables_agree_and_changes_are_found(passk: Passk, built: None) -> None:
    said = passk("validate", "--json")
    found = {table["table"]: table for table in said.json["tables"]}
    assert (said.code, found["passk_graders"]["rows"]) == (0, 1)
    assert found["passk_corrected_metrics"]["rows"] == 2 * 2 * 12
    assert found["passk_judges"]["rows"] == 2
    assert alter("passk_judges", "judges_share", passk) == ["passk_judges"]
    assert alter("passk_graders", "false_pass_rate", passk) == ["passk_graders"]
    assert alter("passk_corrected_metrics", "corrected", passk) == ["passk_corrected_metrics"]


def alter(name: str, column: str, passk: Passk) -> list[Any]:
    """Put a table with another value in the place of a view, and back; give the tables that differ."""
    with duckdb.connect("passk.duckdb") as connection:
        (sql,) = connection.execute(
            "select sql from duckdb_views() where view_name = ?", [name]
        ).fetchone() or ("",)
        connection.execute(f"create table altered as from {name}")
        connection.execute(f"update altered set {column} = {column} - 1e-6")
        connection.execute(f"drop view {name}")
        connection.execute(f"alter table altered rename to {name}")
    said = passk("validate", "--json")
    assert said.code == 1
    with duckdb.connect("passk.duckdb") as connection:
        connection.execute(f"drop table {name}")
        connection.execute(sql)
    return [table["table"] for table in json.loads(said.out)["tables"] if table["different"]]


@pytest.mark.long
def test_new_labels_are_built_and_nothing_new_is_not(
    passk: Passk, built: None, labelled: Path
) -> None:
    assert "Nothing is new" in passk("build", "--no-tests").out
    file = labelled.with_name("labels.csv")
    assert passk("unload", "--source-file", file).code == 0
    lines = file.read_text(encoding="utf-8").splitlines()
    Path("labels.csv").write_text("\n".join(lines[:60]) + "\n", encoding="utf-8")
    assert passk("load", "--labels", "labels.csv").code == 0
    assert "Nothing is new" not in passk("build", "--no-tests").out
    assert pk.read_table("passk_graders")["labels"].to_list() == [59]
