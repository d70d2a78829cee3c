"""Files, globs and folders."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Landing

CHECK = "Check the path and the directory."


def names(landing: Landing) -> list[str]:
    found = landing.query("select source_file from landing.files order by 1")
    return [str(Path(file).relative_to(landing.folder)) for (file,) in found]


def test_folders_are_walked(landing: Landing, row: dict[str, Any]) -> None:
    for name in (
        "logs/a.jsonl",
        "logs/deep/er/b.JSON",
        "logs/c.ndjson",
        "logs/.hidden.jsonl",
        "logs/.git/d.jsonl",
        "logs/e.txt",
        "logs/f.jsonl.gz",
        "aside.jsonl",
    ):
        landing.lines(row, name=name)
    landing.write("logs/g.json", '{"some": "settings"}')
    (landing.folder / "logs/outside.jsonl").symlink_to(landing.folder / "aside.jsonl")
    (landing.folder / "logs/inside.jsonl").symlink_to(landing.folder / "logs/a.jsonl")
    (landing.folder / "logs/loop").symlink_to(landing.folder)
    os.mkfifo(landing.folder / "logs/pipe.jsonl")

    report = landing.load(landing.folder / "logs")

    assert names(landing) == [
        "logs/a.jsonl",
        "logs/c.ndjson",
        "logs/deep/er/b.JSON",
        "logs/f.jsonl.gz",
    ]
    assert [(Path(skipped.path).name, skipped.reason) for skipped in report.skipped] == [
        ("g.json", "a log of no format that passk knows: one JSON object with the keys some"),
        ("inside.jsonl", "a link, which is not followed"),
        ("outside.jsonl", "a link, which is not followed"),
        ("pipe.jsonl", "not a regular file"),
    ]
    assert report.exit_code == 0


def test_logs_whose_names_end_otherwise_are_told_of(landing: Landing, row: dict[str, Any]) -> None:
    landing.lines(row, name="logs/a.jsonl")
    landing.lines(row, name="logs/b.log")
    landing.lines({"step": 1}, {"step": 2}, name="logs/deep/c.out")
    landing.write("logs/d.report", json.dumps([row], indent=1))
    landing.write("logs/e.txt", "run_id,task_id,attempt,passed\nr,t,1,true\n")
    landing.write("logs/f.out.gz", gzip.compress(json.dumps({"some": "object"}).encode()))
    landing.write("logs/g.report", '<testsuite><testcase classname="a" name="t"/></testsuite>')
    # Files that are no logs, whatever they start with.
    landing.write("logs/plain.log", "[2026-01-31] INFO it went well\n")
    landing.write("logs/page.html", "<html></html>")
    landing.write("logs/screen.cast", '{"version": 2, "width": 80}\n[0.1, "o", "$"]\n')
    landing.write("logs/book.ipynb", '{"cells": []}')
    landing.write("logs/numbers.out", "[1, 2]")
    landing.write("logs/empty.out", "")
    landing.write("logs/.hidden.log", json.dumps(row))
    (landing.folder / "logs/link.log").symlink_to(landing.folder / "logs/b.log")

    report = landing.load(landing.folder / "logs")

    assert names(landing) == ["logs/a.jsonl"]
    assert [Path(path).name for path in report.passed_over] == [
        "b.log",
        "d.report",
        "e.txt",
        "f.out.gz",
        "g.report",
        "c.out",
    ]
    assert report.exit_code == 0
    # One that is named is read.
    named = landing.load(landing.folder / "logs" / "b.log")
    assert (named.rows_landed, named.passed_over) == (1, ())


def test_a_folder_without_a_log(landing: Landing) -> None:
    landing.write("logs/readme.md", "nothing")
    folder = landing.folder / "logs"
    report = landing.load_one(folder)
    assert report.message == (
        f"There is no log in the folder {folder}: no file in it ends with .csv, .eval, .json, "
        ".jsonl, .ndjson, .parquet, .pq, .tsv, .xml."
    )
    assert report.hint == "Name the file itself if its name ends otherwise."


def test_a_folder_with_other_things(landing: Landing) -> None:
    file = landing.write("logs/settings.json", "{}")
    folder = landing.folder / "logs"
    report = landing.load(folder)
    (failed,) = report.files
    assert failed.message == (
        f"There is no log in the folder {folder}: {file}, for one, is a log without fields."
    )
    assert failed.hint == "`passk formats` lists what passk reads."
    assert report.exit_code == 2


def test_globs(landing: Landing, row: dict[str, Any]) -> None:
    for name in ("a1.jsonl", "a2.jsonl", "b.jsonl", "in/a3.jsonl"):
        landing.lines(row, name=name)
    landing.load(f"{landing.folder}/a*.jsonl")
    assert names(landing) == ["a1.jsonl", "a2.jsonl"]
    landing.load(f"{landing.folder}/**/*3.jsonl")
    assert names(landing) == ["a1.jsonl", "a2.jsonl", "in/a3.jsonl"]
    report = landing.load_one(f"{landing.folder}/c*")
    assert report.message == f"Nothing matches {landing.folder}/c*."
    assert report.hint == "Check the pattern and the working directory."


@pytest.mark.parametrize("given", ["runs", "runs/*.jsonl"])
def test_files_land_in_the_order_of_their_numbers(
    landing: Landing, row: dict[str, Any], given: str
) -> None:
    """Where a log has no times, what landed last is the latest run."""
    for number in (1, 2, 9, 10, 11):
        landing.lines({**row, "run_id": f"r-{number}"}, name=f"runs/r-{number}.jsonl")
    landing.load(landing.folder / given)
    assert [run for (run,) in landing.query("select run_id from landing.attempts order by loaded_at")] == [
        "r-1", "r-2", "r-9", "r-10", "r-11"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name", ["a[1].jsonl", "*.jsonl", "a?.csv", 'it\'s "it".jsonl', "ü 🚀.json"]
)
def test_names_with_characters_of_their_own(
    landing: Landing, row: dict[str, Any], name: str
) -> None:
    landing.lines(row | {"task_id": "wrong"}, name="a1.jsonl")
    landing.lines(row | {"task_id": "wrong"}, name="ab.csv")
    landing.lines(row | {"task_id": "right"}, name=name)
    landing.load(landing.folder / name)
    assert landing.attempts("task_id") == ["right"]


def test_a_file_named_twice_is_read_once(
    landing: Landing, row: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = landing.lines(row, name="logs/a.jsonl")
    monkeypatch.chdir(landing.folder)
    report = landing.load("logs/a.jsonl", file, "logs", "logs/../logs/*.jsonl")
    assert [(found.path, found.status) for found in report.files] == [(str(file), "landed")]


def test_a_link_that_is_named_is_followed(landing: Landing, row: dict[str, Any]) -> None:
    link = landing.folder / "latest.jsonl"
    link.symlink_to(landing.lines(row))
    assert landing.load_one(link).status == "landed"
    assert landing.attempts("source_file") == [str(link)]


def test_what_is_no_file(landing: Landing, row: dict[str, Any]) -> None:
    good = landing.lines(row)
    pipe, broken = landing.folder / "pipe", landing.folder / "broken"
    os.mkfifo(pipe)
    broken.symlink_to(landing.folder / "nowhere")
    report = landing.load("missing.jsonl", "/dev/null", pipe, broken, good)
    write = "Write what it gives to a file and load that."
    assert [(file.message, file.hint) for file in report.files] == [
        ("missing.jsonl does not exist.", CHECK),
        ("/dev/null is neither a file nor a folder but a device.", write),
        (f"{pipe} is neither a file nor a folder but a pipe.", write),
        (f"{broken} does not exist.", CHECK),
        ("", ""),
    ]
    assert report.exit_code == 2
    assert report.statuses == {"failed": 4, "landed": 1}
