"""Where the transcripts of landed attempts lie: beside what duplicates agree on, and without folders in copies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import duckdb
import pytest

from passk_py.ingest.landing import load
from passk_py.validation.check_all import validate_tables
from passk_py.warehouse.catalog import shared_columns

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Project

ROW: Final = {"run_id": "r", "suite": "s", "task_id": "t", "attempt": 1, "passed": True}
ATTEMPTS: Final = ("+passk_attempts", "+passk_rejected_attempts")


def written(path: Path, **more: object) -> Path:
    path.write_text(json.dumps(ROW | more) + "\n", encoding="utf-8")
    return path


@pytest.mark.long
def test_copies_that_differ_only_in_the_transcript_are_duplicates(project: Project) -> None:
    first = written(project.folder / "first.jsonl", transcript="first.json")
    second = written(project.folder / "second.jsonl", transcript="second.json")
    other = written(project.folder / "other.jsonl", task_id="u", transcript="u.json")
    for log in (first, second, other):
        load(log, database=project.database)
    project.run()
    assert project.query("select task_id, transcript from passk_attempts order by 1") == [
        ("t", f"{project.folder}/first.json"),
        ("u", f"{project.folder}/u.json"),
    ]
    rejected = "select reason_code, source_file from passk_rejected_attempts"
    assert project.query(rejected) == [("duplicate", str(second))]
    assert validate_tables(project.database).examples == []


def test_attempts_of_a_version_without_transcripts_are_built(project: Project) -> None:
    project.execute("alter table landing.attempts drop column transcript")
    project.execute(
        "insert into landing.attempts by name select 'r' as run_id, 's' as suite, 't' as task_id, "
        "1 as attempt, 'passed' as outcome, 'log' as source_file, timestamp '2026-01-01' as loaded_at"
    )
    project.run(select=ATTEMPTS)
    assert project.query("select run_id, transcript from passk_attempts") == [("r", None)]


@pytest.mark.parametrize(
    ("place", "shared"),
    [
        ("https://traces.example/runs/7?x=1#s/2", "https://traces.example/runs/7?x=1#s/2"),
        ("/home/me/logs/x.eval#samples/a/b_epoch_2.json", "x.eval#samples/a/b_epoch_2.json"),
        ("/home/me/logs/run.json#/results/results/7", "run.json#/results/results/7"),
        ("/home/me/job/hello__cW4V4hX", "hello__cW4V4hX"),
        ("/home/me#1/logs/x.eval#samples/7", "x.eval#samples/7"),
        ("C:\\Users\\me\\x.json", "x.json"),
        ("/home/me\n/x.json", "x.json"),
        ("s3://bucket/me/x.json", "x.json"),
        ("x.json#L7", "x.json#L7"),
        (None, None),
    ],
)
def test_a_copy_has_no_folder_of_a_transcript(place: str | None, shared: str | None) -> None:
    (sql,) = shared_columns(["transcript"], with_raw=False).values()
    with duckdb.connect() as connection:
        query = f"select {sql} from (select ?::varchar as transcript)"
        assert connection.execute(query, [place]).fetchall() == [(shared,)]
    assert shared_columns(["transcript"], with_raw=True) == {"transcript": "transcript"}
