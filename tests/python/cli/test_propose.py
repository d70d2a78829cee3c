"""``passk formats --propose``: the line that may read a file, and what it would land."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import duckdb
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Said

    Passk = Callable[..., Said]

TASKS = [{"id": "a", "runs": [{"ok": True}, {"ok": False}]}, {"id": "b", "runs": [{"ok": True}]}]


def test_the_proposed_line_lands_the_rows_that_were_shown(passk: Passk, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps({"tasks": TASKS}), "utf-8")
    said = passk("formats", "--propose", "mine.json")
    line, _, heading, _, *rows = said.out.splitlines()
    assert heading.split() == ["run", "task", "attempt", "verdict", "score"]
    assert [row.split() for row in rows] == [
        ["mine", "a", "1", "passed"],
        ["mine", "a", "2", "failed"],
        ["mine", "b", "1", "passed"],
        ["3", "attempts", "would", "land."],
    ]
    assert (said.code, said.err) == (0, "")
    # Nothing has landed yet.
    assert [path.name for path in tmp_path.iterdir()] == ["mine.json"]
    assert passk(*shlex.split(line)[1:], "--json").json["files"][0]["rows_landed"] == 3
    found = passk("formats", "--propose", "mine.json", "--json").json
    assert found["command"] == line
    assert found["mapping"]["rows"] == "$.tasks[*].runs"
    assert [row["outcome"] for row in found["rows"]] == ["passed", "failed", "passed"]


def test_names_that_are_nowhere_are_left_to_the_reader(passk: Passk, tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text('{"a": {"x": "y"}}', "utf-8")
    said = passk("formats", "--propose", "odd.json")
    assert said.code == 0
    assert "$.TASK" in said.out
    assert "$.KEY, $.TASK and $.VERDICT are: write the right paths there" in said.err


def test_a_known_file_needs_no_mapping(passk: Passk, tmp_path: Path) -> None:
    row = {"run_id": "r", "task_id": "t", "attempt": 1, "outcome": "passed"}
    (tmp_path / "log.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    said = passk("formats", "--propose", "log.jsonl", "--json").json
    assert (said["command"], said["format"], said["mapping"]) == (
        "passk load log.jsonl",
        "jsonl",
        {},
    )
    assert len(said["rows"]) == 1


def test_rows_without_numbers_are_numbered_in_their_order(passk: Passk, tmp_path: Path) -> None:
    rows = [{"run_id": "r", "task_id": "t", "passed": ok} for ok in (True, False)]
    (tmp_path / "log.json").write_text(json.dumps(rows), "utf-8")
    assert "`passk formats --propose` writes a line" in passk("load", "log.json").err
    said = passk("formats", "--propose", "log.json", "--json").json
    assert said["mapping"]["attempt"] == "in_order"
    found = [(row["run_id"], row["attempt"], row["outcome"]) for row in said["rows"]]
    assert found == [("r", 1, "passed"), ("r", 2, "failed")]


def test_no_mapping_reads_text(passk: Passk, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello", "utf-8")
    said = passk("formats", "--propose", "notes.txt")
    assert (said.code, said.out) == (2, "")
    assert "notes.txt is text that starts with 'hello', for which there is no mapping." in said.err
    (tmp_path / "wide.csv").write_text("task,ok\na,true\n", "utf-16")
    assert "Convert the file to UTF-8." in passk("formats", "--propose", "wide.csv").err
    assert passk("formats", "--propose", "no.json").code == 2
    assert passk("formats", "jsonl", "--propose", "notes.txt").code == 2


def test_each_spelling_of_a_pass_is_a_pass(passk: Passk, tmp_path: Path) -> None:
    def found(*words: str) -> dict[str, str]:
        rows = [{"task_id": str(place), "status": word} for place, word in enumerate(words)]
        (tmp_path / "mine.json").write_text(json.dumps(rows), "utf-8")
        said = passk("formats", "--propose", "mine.json", "--json").json
        return {words[int(row["task_id"])]: row["outcome"] for row in said["rows"]}

    assert found("Passed", "passed", "FAILED") == {
        "Passed": "passed",
        "passed": "passed",
        "FAILED": "failed",
    }
    assert found("C", "c", "I") == {"C": "passed", "c": "passed", "I": "failed"}
    assert found("OK", "NOK", "wrong_answer") == {
        "OK": "passed",
        "NOK": "failed",
        "wrong_answer": "failed",
    }
    # An error is a failure where no other word is one.
    assert found("ok", "error") == {"ok": "passed", "error": "failed"}
    assert found("PASS", "FAIL", "ERROR", "timeout") == {
        "PASS": "passed",
        "FAIL": "failed",
        "ERROR": "excluded",
        "timeout": "failed",
    }
    # A word of another kind beside them keeps the others from being verdicts as little.
    assert found("ok", "failed", "skipped", "n/a", "it's dead: 3") == {
        "ok": "passed",
        "failed": "failed",
        "skipped": "excluded",
        "n/a": "excluded",
        "it's dead: 3": "excluded",
    }


@pytest.mark.parametrize(
    "columns",
    [
        {"task": {"0": "a", "1": "a"}, "passed": {"0": True, "1": False}},
        {"task": ["a", "a"], "passed": [True, False]},
    ],
)
def test_columns_are_no_rows(passk: Passk, tmp_path: Path, columns: object) -> None:
    (tmp_path / "frame.json").write_text(json.dumps(columns), "utf-8")
    said = passk("formats", "--propose", "frame.json")
    assert (said.code, said.out) == (2, "")
    assert "frame.json holds columns, one after the other" in said.err
    assert "to_json(orient='records')" in said.err


def test_a_file_that_cannot_be_read_is_an_error(passk: Passk, tmp_path: Path) -> None:
    (tmp_path / "twice.csv").write_text("task,task,ok\na,b,true\n", "utf-8")
    said = passk("formats", "--propose", "twice.csv")
    assert said.code == 2
    assert "more than one column task" in said.err


def test_doubts_are_said(passk: Passk, tmp_path: Path) -> None:
    def noted(text: str) -> str:
        (tmp_path / "mine.csv").write_text(text, "utf-8")
        return " ".join(passk("formats", "--propose", "mine.csv").err.split())

    assert noted("task,trial,ok\na,1,1\na,2,0\n") == ""
    twice = noted("task,part,trial,ok\na,x,1,1\na,y,1,0\n")
    assert "Several rows are attempt 1 of task a in run mine: name their runs" in twice
    left_out = noted("task,status\na,passed\na,failed\na,stuck\n")
    assert "with the reason stuck have no verdict and do not count." in left_out
    assert "add --policy stuck=failed" in left_out
    assert "The scores go up to 85, and all from 1 on pass" in noted("task,score\na,85\na,20\n")


def test_rows_without_numbers_keep_all_else_that_they_say(passk: Passk, tmp_path: Path) -> None:
    known = {"run_id": "r", "task_id": "t", "cost_usd": 0.5, "tags": {"domain": "air", "a b": "c"}}
    ends = [("passed", None), ("failed", "timeout"), ("excluded", "env")]
    rows = [{**known, "outcome": outcome, "outcome_reason": why} for outcome, why in ends]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    line = passk("formats", "--propose", "log.jsonl", "--json").json["command"]
    assert passk(*shlex.split(line)[1:]).code == 0
    columns = "attempt, outcome, outcome_reason, cost_usd, tags"
    with duckdb.connect(str(tmp_path / "passk.duckdb"), read_only=True) as connection:
        found = connection.execute(
            f"select {columns} from landing.attempts order by attempt"
        ).fetchall()
    tags = {"a b": "c", "domain": "air"}
    assert found == [(n, *end, 0.5, tags) for n, end in enumerate(ends, 1)]
