"""Inspect: logs that are old, odd, cut off, damaged or of others."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import zstandard

from passk_py.ingest.formats import recognise
from passk_py.ingest.formats.first_look import take_sample
from passk_py.ingest.formats.harnesses.inspect import Inspect

from .inspect_logs import JSON, LOGS, MIXED, eval_log, header, json_log, row

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("value", "outcome", "score"),
    [
        ("C", "passed", 1.0), ("I", "failed", 0.0), ("P", "failed", 0.5), ("N", "failed", 0.0),
        (1, "passed", 1.0), (0.99, "failed", 0.99), (2, "passed", 2.0), (True, "passed", 1.0),
        (False, "failed", 0.0), ("Yes", "passed", 1.0), ("FALSE", "failed", 0.0),
        ("0.5", "failed", 0.5), ("1e0", "passed", 1.0), ("größer", "failed", 0.0),
        ("nan", "failed", 0.0), (-1, "failed", -1.0), ({"x": "C"}, "passed", 1.0),
    ],
)  # fmt: skip
def test_values_become_numbers_as_inspect_makes_them(
    value: Any, outcome: str, score: float, tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    (one,) = harness_log(json_log(tmp_path, [row(value=value)])).attempts
    assert (one["outcome"], one["score"]) == (outcome, score)


@pytest.mark.parametrize(
    ("more", "outcome", "reason"),
    [
        ({"error": "ValueError('x: ä')"}, "excluded", "error: ValueError"),
        ({"error": {"message": "httpx.ReadTimeout('t')"}}, "excluded", "error: httpx.ReadTimeout"),
        ({"error": "Error code: 429 - {'error': 1}"}, "excluded", "error: Error code: 429"),
        (
            {"error": {"message": "slow down", "traceback": "Traceback\nopenai.Slow: slow down\n"}},
            "excluded",
            "error: Slow",
        ),
        ({"error": {"message": " ", "traceback": 7}}, "excluded", "error"),
        ({"error": {"no": "message"}}, "excluded", "error"),
        ({"error": "CancelledError()"}, "excluded", "cancelled"),
        ({"error": "Cancelled()"}, "excluded", "cancelled"),
        ({"limit": "token"}, "failed", "token_limit"),
        ({"limit": {"type": "working", "limit": 3}}, "failed", "working_limit"),
        ({"limit": "operator"}, "excluded", "operator_limit"),
        ({"error": "E('x')", "limit": "time"}, "excluded", "error: E"),
        ({"completed": False}, "excluded", "incomplete"),
        ({"completed": True}, "excluded", "unscored"),
        ({"scores": None}, "excluded", "unscored"),
    ],
)
def test_what_befell_an_attempt_without_a_score(
    more: dict[str, Any],
    outcome: str,
    reason: str,
    tmp_path: Path,
    harness_log: Callable[..., Any],
) -> None:
    (one,) = harness_log(json_log(tmp_path, [row(value=None) | more])).attempts
    assert (one["outcome"], one["outcome_reason"], one["score"]) == (outcome, reason, None)


def test_a_log_from_before_there_was_an_eval_id_is_called_after_run_and_task(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    head = header(eval_id=None, solver="pkg/agent", model_generate_config={})
    head["plan"] = {"steps": [{"solver": "other"}], "config": {"seed": 3}}
    (one,) = harness_log(
        json_log(tmp_path, [row() | {"scores": None, "score": {"value": "C"}}], head)
    ).attempts
    assert (one["run_id"], one["agent"], one["seed"]) == ("R1_T1", "agent", 3)
    assert one["outcome"] == "passed"
    head = header(eval_id=None, run_id=None)
    (one,) = harness_log(json_log(tmp_path, [row()], head)).attempts
    # The file is called log, which says nothing.
    assert one["run_id"] == tmp_path.name


def test_what_has_the_wrong_type_is_refused_with_a_reason(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    rows: list[Any] = [
        row("good"), row(None), row({"a": 1}), row(epoch="x"), row(epoch=0), row(epoch=None),
        row(total_time="soon"), row(model_usage={"m": {"input_tokens": "many"}}), "text", [], None, {},
    ]  # fmt: skip
    log = harness_log(json_log(tmp_path, rows))
    assert [one["task_id"] for one in log.attempts] == ["good"]
    assert log.report.rows_read == len(rows)
    assert [one["reason_code"] for one in log.rejected] == [
        "missing_field", "wrong_type", "wrong_type", "out_of_range", "missing_field", "wrong_type",
        "wrong_type", "malformed_line", "malformed_line", "malformed_line", "missing_field",
    ]  # fmt: skip
    assert "epoch" in log.rejected[2]["reason"]


def test_of_a_key_that_is_there_twice_the_last_counts(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    summaries = '[{"id": "a", "id": "b", "epoch": 1, "scores": {"m": {"value": "C"}}}]'
    path = eval_log(tmp_path, {"header.json": header(), "summaries.json": summaries})
    assert harness_log(path).verdicts() == {("b", 1): "passed"}


def test_a_log_that_is_cut_off_keeps_the_rows_before(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = json_log(tmp_path, [row("a", n, explanation="é" * 50) for n in (1, 2, 3)])
    text = path.read_bytes()
    path.write_bytes(text[: text.rindex(b"explanation")])
    log = harness_log(path)
    assert log.verdicts() == {("a", 1): "passed", ("a", 2): "passed"}
    assert [one["reason_code"] for one in log.rejected] == ["truncated"]
    assert {one["run_id"] for one in log.attempts} == {"E1"}


@pytest.mark.parametrize("packer", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_compressed_json_log_is_read_too(
    packer: Callable[[bytes], bytes], tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    path = tmp_path / "log.json.packed"
    path.write_bytes(packer(JSON.read_bytes()))
    assert harness_log(path).verdicts() == {("10", 1): "passed", ("10", 2): "failed"}


def test_a_log_without_a_row_says_so(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    for path in (
        json_log(tmp_path, []),
        eval_log(tmp_path, {"header.json": header(), "summaries.json": []}),
    ):
        (one,) = harness_log(path).report.files
        assert (one.status, "holds no rows" in one.message) == ("failed", True)
    (one,) = harness_log(eval_log(tmp_path, {"_journal/start.json": header()})).report.files
    assert "has no samples" in one.message
    assert "--no-log-samples" in one.hint


def test_a_damaged_member_keeps_nothing_of_the_log(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    with zipfile.ZipFile(MIXED) as log:
        at = log.getinfo("summaries.json").header_offset + 200
    data = bytearray(MIXED.read_bytes())
    data[at : at + 8] = b"\xff" * 8
    path = tmp_path / "log.eval"
    path.write_bytes(data)
    (one,) = harness_log(path).report.files
    assert (one.status, one.rows_landed) == ("failed", 0)


@pytest.mark.parametrize("path", sorted(LOGS.iterdir()), ids=lambda path: path.name)
def test_its_logs_are_recognised_by_what_is_in_them(path: Path, tmp_path: Path) -> None:
    renamed = tmp_path / "x.bin"
    renamed.write_bytes(path.read_bytes())
    found = recognise(take_sample(renamed, duckdb.connect()))
    assert isinstance(found, Inspect)


def test_a_header_longer_than_the_sample_is_still_recognised(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    head = header(zzz="x" * (2 << 20))
    assert harness_log(json_log(tmp_path, [row()], head)).verdicts() == {("a", 1): "passed"}


@pytest.mark.parametrize(
    "text",
    [
        '{"version": 2, "status": "success", "eval": {"other": 1}, "samples": []}',
        '{"version": 2, "status": "success", "eval": "towns"}',
        '{"eval": {"task": "t", "model": "m"}}',
        '{"run_id": "r", "task_id": "a", "attempt": 1, "passed": true}',
        '[{"id": "a", "epoch": 1, "scores": {}}]',
    ],
)
def test_files_of_others_are_left_to_others(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    assert not isinstance(recognise(take_sample(path, duckdb.connect())), Inspect)


def test_a_zip_of_something_else_is_left_alone(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    eval_log(tmp_path, {"header.json": {}, "other.json": []}, "other.eval")
    log = harness_log(tmp_path)
    assert log.attempts == []
    assert [Path(one.path).name for one in log.report.skipped] == ["other.eval"]
