"""How many attempts there should be: of rows, of the command line, of a harness, of a mapping."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from passk_py.common.errors import PasskError
from passk_py.ingest.formats.mappings.mapping import mapping_from

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Landing

ROWS = [
    {"run_id": "r", "task_id": task, "attempt": attempt, "passed": True, "expected_attempts": said}
    for task, attempt, said in [("a", 1, 4), ("a", 2, 4), ("b", 1, None)]
]
SAID = (
    "select run_id, suite, task_id, expected_attempts from landing.expected_attempts order by all"
)


def as_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def as_list(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text(json.dumps(rows), "utf-8")


def as_packed(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))


def as_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    pl.DataFrame(rows, infer_schema_length=None, strict=False).write_csv(path)


def as_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    pl.DataFrame(rows, infer_schema_length=None, strict=False).write_parquet(path)


WRITERS: dict[str, Callable[[Path, list[dict[str, Any]]], None]] = {
    "log.jsonl": as_lines,
    "log.json": as_list,
    "log.jsonl.gz": as_packed,
    "log.csv": as_csv,
    "log.parquet": as_parquet,
}


@pytest.mark.long
@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("odd", [False, True], ids=["good", "with a bad row"])
def test_rows_say_it_and_the_command_line_of_the_others(
    name: str, odd: bool, landing: Landing
) -> None:
    path = landing.folder / name
    # A row that is refused makes the file be read the careful way.
    rows = [*ROWS, {**ROWS[0], "attempt": 0}] if odd else ROWS
    WRITERS[name](path, rows)
    assert landing.load_one(path).rows_landed == 3
    assert landing.query(SAID) == [("r", "default", "a", 4)]
    again = landing.load_one(path, expected_attempts=2)
    assert (again.status, again.rows_landed) == ("replaced", 3)
    assert landing.query(SAID) == [("r", "default", "a", 4), ("r", "default", "b", 2)]
    assert landing.load_one(path, expected_attempts=2).status == "unchanged"


@pytest.mark.parametrize("name", WRITERS)
def test_rows_of_a_task_that_differ_are_told_of(name: str, landing: Landing) -> None:
    path = landing.folder / name
    WRITERS[name](path, [ROWS[0], {**ROWS[1], "expected_attempts": 3}])
    assert landing.load_one(path).message == (
        "expected_attempts differs within 1 task: task a of run r, for one, has 3 and 4. The most "
        "counts."
    )
    assert landing.query(SAID) == [("r", "default", "a", 4)]


@pytest.mark.parametrize(
    ("said", "code"),
    [(0, "out_of_range"), (-1, "out_of_range"), (2.5, "wrong_type"), ("many", "wrong_type"),
     (True, "wrong_type"), (1_000_001, "out_of_range")],
)  # fmt: skip
def test_what_is_no_number_of_attempts_is_refused(said: Any, code: str, landing: Landing) -> None:
    report = landing.load_one(landing.lines(ROWS[0], {**ROWS[1], "expected_attempts": said}))
    assert (report.rows_landed, report.reasons) == (1, {code: 1})


def test_an_option_that_is_no_number_of_attempts(landing: Landing) -> None:
    with pytest.raises(PasskError, match="--expected-attempts is 0, but must be from 1"):
        landing.load(landing.lines(ROWS[0]), expected_attempts=0)


def test_a_log_that_says_nothing_has_no_expectations(landing: Landing) -> None:
    landing.load_one(landing.lines({**ROWS[2], "expected_attempts": None}))
    assert landing.query(SAID) == []


@pytest.mark.parametrize("name", WRITERS)
def test_a_mapping_says_where_it_stands(name: str, landing: Landing) -> None:
    path = landing.folder / name
    rows = [{"task": "a", "ok": True, "planned": 3}, {"task": "b", "ok": False, "planned": 3}]
    WRITERS[name](path, rows)
    lines = ["task_id=$.task", "passed=$.ok", "attempt=in_order", "run_id=r"]
    mapping = mapping_from([*lines, "expected_attempts=$.planned"], None)
    assert landing.load_one(path, mapping=mapping).rows_landed == 2
    assert landing.query(SAID) == [("r", "default", "a", 3), ("r", "default", "b", 3)]


def test_what_a_harness_says_comes_before_the_command_line(landing: Landing) -> None:
    row = {"trial_id": "x", "status": "completed", "outcomes": [{"passed": True, "score": 1}]}
    trials = [{**row, "task_id": task, "run_index": 0} for task in "ab"]
    said = {"trials": [{**one, "total_runs": 3} for one in trials], "batch_id": "r"}
    silent = {"trials": trials, "batch_id": "s"}
    for name, document, wanted in (("said", said, 3), ("silent", silent, 2)):
        path = landing.write(f"{name}.json", json.dumps(document))
        landing.load_one(path, expected_attempts=2)
        found = landing.query(
            f"select task_id, expected_attempts from landing.expected_attempts "
            f"where source_file = '{path}' order by all"
        )
        assert found == [("a", wanted), ("b", wanted)]
