"""Hostile files: refused with a reason, in bounded memory and time, and nothing outside is touched."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MIB = 1 << 20
# A load of nothing takes about 100 MiB; one row of 64 MiB may be held, as bytes and as text.
MOST_MEMORY = 700
LOADS = """
import json, sys
from pathlib import Path
from passk_py.ingest.landing import load
report = load(sys.argv[1], database=sys.argv[2])
status = Path("/proc/self/status").read_text()
peak = next(line for line in status.splitlines() if line.startswith("VmHWM:")).split()[1]
files = [[file.status, file.message, file.rows_landed, file.rows_rejected, file.reasons] for file in report.files]
print(json.dumps({"peak": int(peak) / 1024, "files": files}))
"""


def loaded_alone(path: Path, tmp_path: Path, seconds: int = 60) -> dict[str, Any]:
    """Load in a process of its own: what it said, and the most memory that it had."""
    done = subprocess.run(
        [sys.executable, "-c", LOADS, str(path), str(tmp_path / "passk.duckdb")],
        capture_output=True, text=True, check=False, timeout=seconds,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    assert said["peak"] < MOST_MEMORY
    return said


HEADER = json.dumps(
    {
        "version": 2,
        "status": "success",
        "eval": {"eval_id": "e", "run_id": "r", "task": "t", "model": "m"},
    }
)
SUMMARY = {"id": 1, "epoch": 1, "scores": {"s": {"value": "C"}}}


def eval_log(path: Path, members: dict[str, Any]) -> Path:
    """Write an Inspect log; a number stands for so many blanks of JSON."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in {"header.json": HEADER, **members}.items():
            with file.open(name, "w", force_zip64=True) as member:
                if isinstance(content, int):
                    member.write(b"[")
                    for _ in range(content // MIB):
                        member.write(b" " * MIB)
                    member.write(json.dumps(SUMMARY).encode() + b"]")
                else:
                    member.write(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.long
def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    path = eval_log(tmp_path / "bomb.eval", {"summaries.json": 6 * 1024 * MIB})
    assert path.stat().st_size < 10 * MIB
    ((status, message, landed, _, _),) = loaded_alone(path, tmp_path, 120)["files"]
    assert (status, landed) == ("failed", 0)
    assert "summaries.json" in message


def test_a_large_member_that_is_no_bomb_lands_in_bounded_memory(tmp_path: Path) -> None:
    rows = [json.dumps({**SUMMARY, "id": n, "input": "x" * 2000}) for n in range(20_000)]
    path = eval_log(tmp_path / "large.eval", {"summaries.json": "[" + ",".join(rows) + "]"})
    ((status, _, landed, rejected, _),) = loaded_alone(path, tmp_path)["files"]
    assert (status, landed, rejected) == ("landed", 20_000, 0)


@pytest.mark.parametrize(
    "name", ["../../escaped.json", "/etc/escaped.json", "samples/../../x.json"]
)
def test_members_that_climb_out_are_never_written(
    name: str, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    path = eval_log(inside / "log.eval", {name: "{}", "summaries.json": json.dumps([SUMMARY])})
    before = sorted(str(file) for file in tmp_path.rglob("*"))
    harness_log(path)
    after = sorted(str(file) for file in tmp_path.rglob("*") if "passk_" not in file.name)
    assert after == before


def test_a_member_that_lies_about_its_size_is_no_danger(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", HEADER)
        file.writestr("summaries.json", json.dumps([SUMMARY] * 100))
    data = bytearray(packed.getvalue())
    # The directory is at the end; its sizes of the last member are made to lie.
    at = data.rindex(b"PK\x01\x02")
    data[at + 20 : at + 28] = (0xFFFFFF0).to_bytes(4, "little") * 2
    path = tmp_path / "lies.eval"
    path.write_bytes(data)
    for status, _, landed, rejected, _ in loaded_alone(path, tmp_path)["files"]:
        assert status in ("landed", "failed")
        assert landed + rejected <= 101


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    "prolog",
    [
        f'<!DOCTYPE t [<!ENTITY l0 "ha">{LAUGHS}]>',
        '<!DOCTYPE t [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE t SYSTEM "http://127.0.0.1:9/never.dtd">',
    ],
)
def test_xml_with_entities_is_refused(prolog: str, tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    case = '<testcase classname="a" name="b" time="1">&l9;</testcase>'
    path.write_text(
        f'<?xml version="1.0"?>{prolog}<testsuites><testsuite>{case}</testsuite></testsuites>'
    )
    ((status, message, landed, rejected, _),) = loaded_alone(path, tmp_path)["files"]
    assert landed == 0
    assert status == "failed" or rejected
    assert "root:" not in message


def test_xml_nested_without_end_takes_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    with path.open("w") as file:
        file.write("<testsuites>")
        for _ in range(300):
            file.write("<testsuite>" * 10_000)
    for status, _, landed, _, _ in loaded_alone(path, tmp_path)["files"]:
        assert (status, landed) in (("failed", 0), ("landed", 0))


@pytest.mark.long
def test_json_nested_without_end_takes_bounded_memory(tmp_path: Path) -> None:
    row = {"trial_name": "t.1-of-2.r", "task_id": "t", "is_resolved": True}
    good = json.dumps(row)
    for name, deep in {
        "lists": "[" * 3_000_000 + "]" * 3_000_000,
        "objects": '{"a":' * 1_000_000 + "1" + "}" * 1_000_000,
        "unclosed": "[" * 3_000_000,
    }.items():
        path = tmp_path / f"{name}.json"
        path.write_text(
            f'{{"results": [{good}, {{"trial_name": "t.2-of-2.r", "deep": {deep}}}, {good}]}}'
        )
        ((status, _, landed, rejected, _),) = loaded_alone(path, tmp_path)["files"]
        assert status == "landed"
        assert landed >= 1
        assert rejected >= 1


@pytest.mark.long
@pytest.mark.parametrize("where", ["a row", "a value beside the rows", "a name"])
def test_a_line_without_end_takes_bounded_memory(where: str, tmp_path: Path) -> None:
    good = json.dumps({"trial_name": "t.1-of-2.r", "task_id": "t", "is_resolved": True})
    path = tmp_path / "log.json"
    with path.open("w") as file:
        file.write('{"results": [' + good + ",")
        if where == "a row":
            file.write('{"trial_name": "t.2-of-2.r", "task_id": "')
        elif where == "a value beside the rows":
            file.write(good + '], "beside": "')
        else:
            file.write(good + '], "')
        for _ in range(200):
            file.write("x" * MIB)
        file.write('"}]}' if where == "a row" else '"}' if where != "a name" else '": 1}')
    ((status, message, landed, _, reasons),) = loaded_alone(path, tmp_path)["files"]
    assert status == "landed", message
    assert landed == (1 if where == "a row" else 2)
    if where == "a row":
        assert reasons == {"field_too_large": 1}


def test_links_and_devices_in_a_folder_are_left_alone(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    row = {"trial_name": "t.1-of-2.r", "task_id": "t", "is_resolved": True}
    (tmp_path / "outside.json").write_text(json.dumps({"results": [row]}))
    (folder / "inside.json").write_text(json.dumps({"results": [row]}))
    (folder / "link.json").symlink_to(tmp_path / "outside.json")
    (folder / "zero.json").symlink_to("/dev/zero")
    (folder / "around").symlink_to(folder)
    os.mkfifo(folder / "pipe.json")
    loaded = harness_log(folder)
    assert [file.status for file in loaded.report.files] == ["landed"]
    assert {row["source_file"] for row in loaded.attempts} == {str(folder / "inside.json")}
    assert {file.reason for file in loaded.report.skipped} == {
        "a link, which is not followed",
        "not a regular file",
    }


def test_a_companion_that_is_a_link_is_not_followed(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    row = {"trial_name": "t.1-of-2.r", "task_id": "t", "is_resolved": True}
    run = tmp_path / "run"
    run.mkdir()
    (run / "results.json").write_text(json.dumps({"results": [row]}))
    (tmp_path / "secret.json").write_text(json.dumps({"agent_name": "secret", "n_attempts": 9}))
    (run / "run_metadata.json").symlink_to(tmp_path / "secret.json")
    loaded = harness_log(run)
    assert [(row["agent"], row["outcome"]) for row in loaded.attempts] == [(None, "passed")]
    assert loaded.expected == []
