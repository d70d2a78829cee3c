"""Files of no format: what they look like, and that the mapping to try reads them."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from passk_py.ingest.formats.mappings.mapping import mapping_from

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = [{"task": "a", "ok": True}, {"task": "a", "ok": False}]


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


PLAIN = "--map task_id=$.task --map passed=$.ok --map attempt=in_order"
# name, content, what it looks like, the options, and the outcomes that they land
FILES = [
    ("log.jsonl", lines(ROWS), "JSON lines of objects with the fields task, ok", PLAIN),
    ("log.json", json.dumps(ROWS, indent=1).encode(), "a JSON array of objects with the fields task, ok", PLAIN),
    ("log.csv", b"task,ok\na,true\na,false\n", "a table with the columns task, ok", PLAIN),
    (
        "log.json",
        json.dumps({"made": "now", "results": ROWS}, indent=1).encode(),
        "one JSON object with the keys made, results",
        f"--map rows=$.results {PLAIN}",
    ),
    (
        "log.json",
        json.dumps({"data": {"size": 2, "rows": ROWS}}).encode(),
        "one JSON object with the keys data",
        f"--map rows=$.data.rows {PLAIN}",
    ),
    (
        "log.jsonl",
        lines([{"case": {"id": 7}, "trial": n, "status": word, "model": "m"} for n, word in enumerate(["fail", "pass"])]),
        "JSON lines of objects with the fields case, trial, status, model",
        "--map task_id=$.case.id --map \"passed=$.status == 'pass'\" --map model=$.model --map 'attempt=$.trial + 1'",
    ),
    (
        "log.jsonl",
        lines([{"question id": "q", "score": 0.5, "run": "r"}, {"question id": "q", "score": 1.0, "run": "r"}]),
        "JSON lines of objects with the fields question id, score, run",
        "--map 'task_id=$[\"question id\"]' --map score=$.score --map run_id=$.run --map attempt=in_order",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "looks", "options"), FILES)
def test_the_mapping_to_try_reads_the_file(
    name: str,
    content: bytes,
    looks: str,
    options: str,
    tmp_path: Path,
    harness_log: Callable[..., Any],
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    (report,) = harness_log(path).report.files
    assert report.message == f"{path} is a log of no format that passk knows: {looks}."
    assert report.hint.endswith(f"by --map, for example: {options}")
    mapping = mapping_from(shlex.split(options)[1::2], None)
    loaded = harness_log(path, mapping=mapping)
    assert sorted(one["outcome"] for one in loaded.attempts) == ["failed", "passed"]
    assert [one["attempt"] for one in loaded.attempts] == [1, 2]


def test_a_parquet_table_gets_a_mapping_too(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "log.parquet"
    pl.DataFrame(ROWS).write_parquet(path)
    (report,) = harness_log(path).report.files
    assert "a Parquet table with the columns task, ok." in report.message
    assert report.hint.endswith(PLAIN)
    mapping = mapping_from(shlex.split(PLAIN)[1::2], None)
    assert len(harness_log(path, mapping=mapping).attempts) == 2


@pytest.mark.parametrize(
    "content", [b"not json\n", b"Dear log,\n", b"Hello, world\n", b"error: no\nat line 3\n"]
)
def test_text_is_no_table(content: bytes, tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    (report,) = harness_log(path).report.files
    start = " ".join(content.decode().splitlines()[0].split())
    assert report.message == f"{path} is text that starts with '{start}', and no JSON."
    assert "--map" not in report.hint
