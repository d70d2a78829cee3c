"""Inspect: folders, retries, copies and shards of logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .inspect_logs import LOGS, SAID, eval_log, header, json_log, row

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_folder_of_logs_is_a_run_each_and_lands_every_attempt_once(
    harness_log: Callable[..., Any],
) -> None:
    log = harness_log(LOGS)
    assert {one.status for one in log.report.files} == {"landed"}
    assert len({one["run_id"] for one in log.attempts}) == len(SAID) == 8
    assert len(log.attempts) == sum(len(said["attempts"]) for said in SAID.values())


def test_the_list_of_a_folders_logs_repeats_them(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    json_log(tmp_path, [row()])
    listing = tmp_path / "logs.json"
    listing.write_text(json.dumps({"log.json": header()}, indent=2))
    log = harness_log(tmp_path)
    assert len(log.attempts) == 1
    assert [Path(one.path).name for one in log.report.skipped] == ["logs.json"]
    named = harness_log(listing)
    assert "without their samples" in named.report.files[0].message


def test_of_an_epoch_that_was_run_again_the_later_row_of_the_journal_counts(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    members = {
        "_journal/start.json": header(),
        # Numbers, not texts: 10 comes after 2.
        "_journal/summaries/10.json": [row("a", 1, "C")],
        "_journal/summaries/2.json": [row("a", 1, "I"), row("b", 1, "I")],
        "_journal/summaries/1.json": [row("a", 1, None, error="RuntimeError('x')")],
    }
    log = harness_log(eval_log(tmp_path, members))
    assert log.verdicts() == {("a", 1): "passed", ("b", 1): "failed"}
    assert [one["reason_code"] for one in log.rejected] == ["superseded"] * 2
    assert "run again in epoch 1" in log.rejected[0]["reason"]


TASK = "oX48jnHozRF2GtW7ReDApF"


def named_log(folder: Path, start: str, rows: list[Any], name: str = "", **changes: Any) -> Path:
    spec = {"task_id": TASK, "created": f"{start}+00:00", **changes}
    members = {"header.json": header(**spec), "summaries.json": rows}
    folder.mkdir(parents=True, exist_ok=True)
    return eval_log(folder, members, name or f"{start.replace(':', '-')}-00-00_t_{TASK}.eval")


def test_a_retry_holds_what_it_copied(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    logs = tmp_path / "logs"
    first = [row("a"), row("b", value=None, error="ValueError()")]
    before = named_log(logs, "2026-01-31T10:00:00", first, eval_id="E1")
    after = named_log(logs, "2026-01-31T11:00:00", [row("a"), row("b", value="I")], eval_id="E2")
    for paths in ([logs], [logs, logs]):
        log = harness_log(*paths)
        assert [(one["run_id"], one["task_id"], one["outcome"]) for one in log.attempts] == [
            ("E2", "a", "passed"), ("E2", "b", "failed"),
        ]  # fmt: skip
        assert {one.path for one in log.report.skipped} == {str(before)}
        assert after.name in log.report.skipped[0].reason
    # A file that is named itself is read.
    assert len(harness_log(before, after).attempts) == 4


@pytest.mark.parametrize(
    ("rows", "changes"),
    [
        # It died before all was copied.
        ([row("b", value="I")], {}),
        ([row("a"), row("b")], {"task_id": "another"}),
        ([row("a"), row("b")], {"model": "another"}),
        ([row("a"), row("b")], {"created": "2026-01-31T10:00:00+00:00"}),
    ],
)
def test_what_is_no_retry_with_all_of_it_lands_beside_it(
    rows: list[Any], changes: dict[str, Any], tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    logs = tmp_path / "logs"
    named_log(logs, "2026-01-31T10:00:00", [row("a")], eval_id="E1")
    named_log(logs, "2026-01-31T11:00:00", rows, eval_id="E2", **changes)
    assert {one["run_id"] for one in harness_log(logs).attempts} == {"E1", "E2"}


def test_copies_of_a_log_land_once(tmp_path: Path, harness_log: Callable[..., Any]) -> None:
    logs = tmp_path / "logs"
    start = "2026-01-31T10:00:00"
    path = named_log(logs, start, [row("a")])
    json_log(logs, [row("a")], header(task_id=TASK)).rename(path.with_suffix(".json"))
    assert [Path(one.path) for one in harness_log(logs).report.files] == [path]
    scored = named_log(logs, start, [row("a", value="I")], f"{path.stem}-scored.eval")
    log = harness_log(logs)
    assert [Path(one.path) for one in log.report.files] == [scored]
    assert log.verdicts() == {("a", 1): "failed"}


def test_the_shards_of_a_merged_log_are_in_it(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    logs = tmp_path / "logs"
    start = "2026-01-31T10:00:00"
    merged = named_log(logs, start, [row("a"), row("b")], eval_id="M")
    for place, task in enumerate("abc"):
        shard = logs / f"{merged.stem}.shards" / str(place)
        named_log(shard, start, [row(task)], eval_id=f"S{place}")
    # The last one came after the merge.
    assert [(one["run_id"], one["task_id"]) for one in harness_log(logs).attempts] == [
        ("M", "a"), ("M", "b"), ("S2", "c"),
    ]  # fmt: skip


def test_a_damaged_log_beside_it_doubles_nothing(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    logs = tmp_path / "logs"
    path = named_log(logs, "2026-01-31T10:00:00", [row("a")])
    damaged = logs / f"2026-01-31T11-00-00-00-00_t_{TASK}.eval"
    damaged.write_bytes(path.read_bytes()[:300])
    assert harness_log(logs).verdicts() == {("a", 1): "passed"}


def test_summaries_may_hold_an_epoch_that_was_run_again(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    rows = [row("a", value="I"), row("a", 2), row("a", value="C")]
    log = harness_log(eval_log(tmp_path, {"header.json": header(), "summaries.json": rows}))
    assert log.verdicts() == {("a", 1): "passed", ("a", 2): "passed"}
    assert [one["reason_code"] for one in log.rejected] == ["superseded"]


def test_without_epochs_each_sample_is_expected_once(
    tmp_path: Path, harness_log: Callable[..., Any]
) -> None:
    log = harness_log(json_log(tmp_path, [row("a")], header(config={"limit": 2})))
    assert [(one["task_id"], one["expected_attempts"]) for one in log.expected] == [
        ("a", 1), ("b", 1),
    ]  # fmt: skip
