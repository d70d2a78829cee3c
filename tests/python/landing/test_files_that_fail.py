"""Files of which nothing can land: what is wrong, which file, what to do; the others land."""

from __future__ import annotations

import gzip
import io
import json
import os
import sqlite3
import tarfile
import zipfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from passk_py.ingest.formats import FORMATS

if TYPE_CHECKING:
    from conftest import Landing

READS = (
    "`passk formats` lists what passk reads; a canonical log has run_id, task_id, attempt "
    "and outcome, passed or score."
)
OR_MAP = f"{READS} Any other is read by --map, for example: "
ON_ONE_LINE = "Write each attempt on a line of its own, as `jq -c .` does."
AGAIN = "Write or copy the file again."
ENDED = "Check whether the run that wrote it has finished."
NUMBER = (
    "Number the tries of each task of a run from 1, in the order in which they ran, in a field "
    "attempt. If the rows stand in that order, `passk formats --propose` writes a line that numbers "
    "them."
)


def packed(kind: str) -> bytes:
    """Give an archive or a database with one small log in it."""
    row = b'{"task_id": "t", "attempt": 1, "passed": true}\n'
    data = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr("log.jsonl", row)
    elif kind == "sqlite":
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute("create table log (task_id)")
            return database.serialize()
    elif kind == "arrow":
        pl.DataFrame({"task_id": ["t"]}).write_ipc(data)
    else:
        with tarfile.open(fileobj=data, mode="w") as tar:
            member = tarfile.TarInfo("log.jsonl")
            member.size = len(row)
            tar.addfile(member, io.BytesIO(row))
    return data.getvalue()


UNPACK = "Unpack it, and load what was in it."

# name, content, what the message says after the path, the hint
FILES = [
    ("log.tar", packed("tar"), "is a tar archive.", UNPACK),
    ("log.tar.gz", gzip.compress(packed("tar")), "is a tar archive.", UNPACK),
    (
        "log.zip",
        packed("zip"),
        "is a zip with the members log.jsonl.",
        "Unpack it, and load what was in it, if that is a log.",
    ),
    ("log.arrow", packed("arrow"), "is an Arrow file.", "Write it as Parquet."),
    ("log.db", packed("sqlite"), "is an SQLite database.", "Write its rows as CSV."),
    ("empty.jsonl", b"", "is empty.", ENDED),
    ("blank.csv", b" \n\n", "is empty.", ENDED),
    ("header.csv", b"run_id,task_id,attempt,passed\n", "holds no rows.", ENDED),
    ("list.json", b"[]", "is an empty JSON list.", READS),
    ("numbers.json", b"[1, 2]", "is a JSON list of something that is not objects.", READS),
    (
        "object.json",
        b'{\n  "a": 1,\n  "b": {}\n}\n',
        "is a log of no format that passk knows: one JSON object with the keys a, b.",
        f"{OR_MAP}--map rows=$.KEY --map task_id=$.TASK --map passed=$.VERDICT "
        "--map attempt=in_order",
    ),
    (
        "indented.json",
        b'{\n  "task_id": "t",\n  "attempt": 1,\n  "passed": true\n}\n',
        "is an attempt on several lines.",
        ON_ONE_LINE,
    ),
    (
        "indented.jsonl",
        b'{\n  "task_id": "t"\n}\n{\n  "task_id": "t"\n}\n',
        "is JSON objects on several lines.",
        ON_ONE_LINE,
    ),
    (
        "indented_otherwise.jsonl",
        b'{ "task_id": "t",\n  "a": 1 }\n{ "task_id": "t",\n  "a": 2 }\n',
        "is JSON objects on several lines.",
        ON_ONE_LINE,
    ),
    (
        "object_on_one_line.json",
        b'{"results": [{"case": "a"}]}\n',
        "is a log of no format that passk knows: one JSON object with the keys results.",
        f"{OR_MAP}--map rows=$.results --map task_id=$.case --map passed=$.VERDICT "
        "--map attempt=in_order",
    ),
    (
        "blanks.jsonl",
        b'{ "id": 1 }\n',
        "is a log of no format that passk knows: one JSON object with the keys id.",
        f"{OR_MAP}--map task_id=$.id --map passed=$.VERDICT --map attempt=in_order",
    ),
    (
        "upper.csv",
        b"RUN_ID,TASK_ID,ATTEMPT,PASSED\nr,t,1,true\n",
        "is a log of no format that passk knows: a table with the columns RUN_ID, TASK_ID, "
        "ATTEMPT, PASSED.",
        "The names of a canonical log are in lower case: rename its fields.",
    ),
    ("noise.jsonl", bytes(range(256)) * 8, "is binary data.", READS),
    (
        "text.csv",
        b"Dear log,\n",
        "is text that starts with 'Dear log,'.",
        READS,
    ),
    (
        "other.jsonl",
        b'{"id": 1, "ok": true}\n{"id": 2, "ok": true}\n',
        "is a log of no format that passk knows: JSON lines of objects with the fields id, ok.",
        f"{OR_MAP}--map task_id=$.id --map passed=$.ok --map attempt=in_order",
    ),
    ("text.jsonl", b"not json\n", "is text that starts with 'not json', and no JSON.", READS),
    (
        "utf16.csv",
        "run_id,task_id".encode("utf-16"),
        "is text in UTF-16.",
        "Convert the file to UTF-8.",
    ),
    ("half.parquet", b"PAR1" + bytes(100), "is a Parquet file without its end.", AGAIN),
    (
        "unnumbered.csv",
        b"run_id,task_id,passed\nr,t,true\n",
        "has no field attempt among its fields (run_id, task_id, passed).",
        NUMBER,
    ),
    (
        "unnumbered.jsonl",
        b'{"run_id": "r", "task_id": "t", "passed": true}\nnonsense\n',
        "has no field attempt among its fields (run_id, task_id, passed).",
        NUMBER,
    ),
    (
        "unjudged.csv",
        b"run_id,task_id,attempt\nr,t,1\n",
        "has no verdict among its fields (run_id, task_id, attempt).",
        "Say how each attempt ended in a field outcome (passed, failed, excluded), passed (true, "
        "false) or score.",
    ),
    (
        "twice.csv",
        b"run_id,task_id,attempt,passed,passed\nr,t,1,true,false\n",
        "has more than one column passed.",
        "Leave the one that counts and load it again.",
    ),
]


def test_each_says_what_is_wrong_and_the_others_land(landing: Landing, row: dict[str, Any]) -> None:
    bad = [landing.write(name, content) for name, content, _, _ in FILES]
    good = landing.lines(row)

    report = landing.load(*bad, good)

    said = [(file.status, file.message, file.hint) for file in report.files]
    expected = [
        ("failed", f"{path} {message}", hint)
        for path, (_, _, message, hint) in zip(bad, FILES, strict=True)
    ]
    assert said == [*expected, ("landed", "", "")]
    assert report.exit_code == 2
    assert landing.attempts("source_file") == [str(good)]
    assert landing.query("select count(*) from landing.files") == [(1,)]


def test_damaged_parquet(landing: Landing) -> None:
    file = landing.folder / "log.parquet"
    pl.DataFrame(
        {"run_id": ["r"], "task_id": ["t"], "attempt": [1], "passed": [True]}
    ).write_parquet(file)
    content = bytearray(file.read_bytes())
    footer = int.from_bytes(content[-8:-4], "little")
    content[-8 - footer : -8] = bytes(footer)
    report = landing.load_one(landing.write("log.parquet", bytes(content)))
    assert report.message.startswith(f"{file} is a damaged Parquet file (")
    assert report.hint == AGAIN


def test_damaged_pages_of_parquet(landing: Landing) -> None:
    file = landing.folder / "log.parquet"
    count = 5000
    pl.DataFrame(
        {
            "run_id": ["r"] * count,
            "task_id": [f"{n * 7919}" for n in range(count)],
            "attempt": [1] * count,
            "passed": [True] * count,
        }
    ).write_parquet(file, compression="zstd")
    content = bytearray(file.read_bytes())
    middle = len(content) // 3
    content[middle : middle + 200] = bytes(200)
    report = landing.load_one(landing.write("log.parquet", bytes(content)))
    assert report.status == "failed"
    assert str(file) in report.message
    assert not landing.database.exists()


def test_damaged_gzip(landing: Landing) -> None:
    packed = bytearray(gzip.compress(json.dumps({"task_id": "t"}).encode()))
    packed[12:16] = b"\xff\xff\xff\xff"
    file = landing.write("log.jsonl.gz", bytes(packed))
    report = landing.load_one(file)
    assert report.message.startswith(f"{file} is damaged (")
    assert report.hint == AGAIN


def test_a_format_that_is_none(landing: Landing, row: dict[str, Any]) -> None:
    from passk_py.common.errors import PasskError

    with pytest.raises(PasskError) as error:
        landing.load(landing.lines(row), format="xml")
    names = ", ".join(known.name for known in FORMATS)
    assert str(error.value) == f"There is no format 'xml'.\nThe formats are {names}."


def test_a_format_that_the_file_is_not(landing: Landing, row: dict[str, Any]) -> None:
    file = landing.lines(row)
    report = landing.load_one(file, format="parquet")
    assert report.message == f"{file} can't be read as parquet: it is of the kind json_lines."
    assert report.hint == "Leave out --format to let passk recognise the file."


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"run_id": ""}, "--run-id is '', which is not a name."),
        ({"agent": "a\0b"}, "--agent is 'a\\x00b', which is not a name."),
        ({"tags": {"": "x"}}, "--tag is '', which is not a name."),
        (
            {"score_threshold": float("nan")},
            "--score-threshold is nan, which is not a finite number.",
        ),
    ],
)
def test_options_that_make_no_sense(
    landing: Landing, row: dict[str, Any], option: dict[str, Any], message: str
) -> None:
    from passk_py.common.errors import PasskError

    with pytest.raises(PasskError) as error:
        landing.load(landing.lines(row), **option)
    assert error.value.message == message
    assert error.value.hint


def test_nothing_to_load(landing: Landing) -> None:
    from passk_py.common.errors import PasskError

    with pytest.raises(PasskError) as error:
        landing.load()
    assert str(error.value) == "There is nothing to load.\nName files, globs or folders."


def test_a_file_that_grows_while_it_is_read(
    landing: Landing, row: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from passk_py.ingest.landing.fingerprint import FingerprintThread

    file = landing.lines(row)
    read = FingerprintThread.result

    def result(self: FingerprintThread) -> Any:
        found = read(self)
        with file.open("a") as log:
            log.write(json.dumps(row) + "\n")
        return found

    monkeypatch.setattr(FingerprintThread, "result", result)
    report = landing.load_one(file)
    assert report.message == f"{file} was written to while it was read."
    assert report.hint == "Load it again when the run that writes it has finished."
    assert not landing.database.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(landing: Landing, row: dict[str, Any]) -> None:
    file = landing.lines(row)
    file.chmod(0)
    report = landing.load_one(file)
    assert report.message == f"{file} can't be read: no permission."


def test_names_that_are_not_utf8(landing: Landing, row: dict[str, Any]) -> None:
    file = landing.lines(row)
    odd = Path(os.fsdecode(os.fsencode(landing.folder) + b"/\xff.jsonl"))
    file.rename(odd)
    report = landing.load_one(odd)
    assert report.message == f"{landing.folder}/\\xff.jsonl has a name that is not UTF-8."
    assert report.hint == "Rename the file."


def test_what_is_something_else_is_left_alone_in_a_folder(
    landing: Landing, row: dict[str, Any]
) -> None:
    landing.lines(row, name="log.jsonl")
    archive = landing.write("all.json.gz", gzip.compress(packed("tar")))
    report = landing.load(landing.folder)
    assert [(file.path, file.reason) for file in report.skipped] == [
        (str(archive), "a tar archive")
    ]
    assert (report.exit_code, report.rows_landed) == (0, 1)
