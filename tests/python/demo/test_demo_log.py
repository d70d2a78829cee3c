"""The demo log keeps the attempt contract, and tells what happened in the order it happened."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import pytest

from passk_py.common.contract import CONTRACT_COLUMNS, KEY, OUTCOMES, TRANSCRIPT
from passk_py.demo import generate, write_log
from passk_py.demo.agents import BUDGET
from passk_py.demo.clock import STEP_MS, StepClock
from passk_py.demo.dice import fold
from passk_py.demo.evaluation import RUNS
from passk_py.demo.suite import tasks

if TYPE_CHECKING:
    from pathlib import Path

    from passk_py.common.contract import Column
    from passk_py.demo import AttemptRow

Rows = tuple["AttemptRow", ...]

COLUMNS = [column for column in CONTRACT_COLUMNS if column != TRANSCRIPT]
PYTHON_TYPES = {"VARCHAR": str, "BIGINT": int, "DOUBLE": float, "TIMESTAMP": str}


def time(row: AttemptRow) -> datetime:
    return datetime.fromisoformat(row["started_at"])


def test_rows_have_the_columns_of_the_contract_in_its_order(rows: Rows) -> None:
    names = [column.name for column in COLUMNS]
    assert all(list(row) == names for row in rows)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_values_have_the_type_of_their_column(rows: Rows, column: Column) -> None:
    kind = PYTHON_TYPES.get(column.duckdb_type, dict)
    values = [dict(row)[column.name] for row in rows]
    assert all(type(value) is kind or (value is None and not column.required) for value in values)


def test_the_key_is_unique(rows: Rows) -> None:
    assert len({tuple(dict(row)[name] for name in KEY) for row in rows}) == len(rows)


def test_seeds_are_unique(rows: Rows) -> None:
    assert len({row["seed"] for row in rows}) == len(rows)


def test_outcomes_have_their_reasons_scores_and_outputs(rows: Rows) -> None:
    assert {row["outcome"] for row in rows} == set(OUTCOMES)
    for row in rows:
        outcome, reason, score = row["outcome"], row["outcome_reason"], row["score"]
        if outcome == "passed":
            assert (reason, score) == (None, 1.0)
            assert row["output_hash"] is not None
        elif outcome == "failed":
            assert reason == "budget_exhausted"
            assert score is not None
            assert 0 <= score < 1
            assert score == 0 or row["output_hash"] is not None
        else:
            assert (reason, score, row["output_hash"]) == ("infra_error", None, None)


def test_a_failed_attempt_spent_the_whole_budget(rows: Rows) -> None:
    spent = {row["duration_s"] for row in rows if row["outcome"] == "failed"}
    assert spent == {BUDGET * STEP_MS / 1000}


def test_output_digests_are_sha256_and_equal_outputs_get_equal_verdicts(rows: Rows) -> None:
    verdicts = defaultdict(set)
    for row in rows:
        if row["output_hash"] is not None:
            assert re.fullmatch("[0-9a-f]{64}", row["output_hash"])
            verdicts[row["task_id"], row["output_hash"]].add((row["outcome"], row["score"]))
    assert all(len(verdict) == 1 for verdict in verdicts.values())


def test_four_runs_try_the_same_48_tasks(rows: Rows) -> None:
    tried = defaultdict(set)
    for row in rows:
        tried[row["run_id"]].add(row["task_id"])
    assert list(tried) == ["scout-2026-02", "walker-2026-03", "tracer-2026-03", "scout-2026-03"]
    assert len(tasks()) == 48
    assert all(
        tasks_of_run == {task.task_id for task in tasks()} for tasks_of_run in tried.values()
    )


def test_tags_are_those_of_the_suite(rows: Rows) -> None:
    tags = {
        task.task_id: {"domain": task.domain, "difficulty": task.difficulty} for task in tasks()
    }
    assert all(row["tags"] == tags[row["task_id"]] for row in rows)
    assert {tag["domain"] for tag in tags.values()} == {"sat", "queens", "factor"}
    assert min(Counter(tag["difficulty"] for tag in tags.values()).values()) >= 10


def test_attempts_of_a_task_are_numbered_from_1_in_the_order_of_time(rows: Rows) -> None:
    numbers = defaultdict(list)
    for row in sorted(rows, key=time):
        numbers[row["run_id"], row["task_id"]].append(row["attempt"])
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values())


def test_a_run_goes_over_the_suite_in_rounds(rows: Rows) -> None:
    order = [task.task_id for task in tasks()]
    for _, run in groupby(rows, key=lambda row: row["run_id"]):
        places = [(row["attempt"], order.index(row["task_id"])) for row in run]
        assert places == sorted(places)


def test_the_log_is_in_the_order_of_time_and_no_attempt_waits(rows: Rows) -> None:
    starts = {run.run_id: run.start for run in RUNS}
    assert [time(row) for row in rows] == sorted(time(row) for row in rows)
    for run_id, run in groupby(rows, key=lambda row: row["run_id"]):
        attempts = list(run)
        assert time(attempts[0]).replace(tzinfo=None) == starts[run_id]
        for one, following in pairwise(attempts):
            milliseconds = round(one["duration_s"] * 1000)
            assert 0 < milliseconds <= BUDGET * STEP_MS
            assert milliseconds % STEP_MS == 0
            assert time(one) + timedelta(milliseconds=milliseconds) == time(following)


def test_n_differs_between_tasks_and_is_fixed_beforehand(rows: Rows) -> None:
    tried = Counter((row["run_id"], row["task_id"]) for row in rows)
    fixed = {task.task_id: task.attempts for task in tasks()}
    assert Counter(fixed.values()) == {16: 40, 20: 5, 24: 3}
    assert all(count == fixed[task_id] for (_, task_id), count in tried.items())


def test_few_attempts_are_excluded_and_every_task_keeps_enough(rows: Rows) -> None:
    excluded = Counter(row["run_id"] for row in rows if row["outcome"] == "excluded")
    counted = Counter((row["run_id"], row["task_id"]) for row in rows if row["score"] is not None)
    assert len(excluded) == 4
    assert 0.01 <= sum(excluded.values()) / len(rows) <= 0.02
    assert {14, 15, 16} <= set(counted.values())
    assert min(counted.values()) == 14


def test_another_seed_gives_other_attempts_at_the_same_puzzles(rows: Rows) -> None:
    again = next(generate(seed=1))
    assert again["seed"] != rows[0]["seed"]
    assert again["task_id"] == rows[0]["task_id"]
    assert again["tags"] == rows[0]["tags"]


def test_write_log_writes_the_same_rows_again_as_json(rows: Rows, tmp_path: Path) -> None:
    path = tmp_path / "demo log.jsonl"
    assert write_log(path) == len(rows)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert tuple(json.loads(line) for line in lines) == rows
    assert list(tmp_path.iterdir()) == [path]


def test_a_seed_is_folded_from_names_that_stay_apart() -> None:
    assert fold(2026, "walker-2026-03", "sat-01", 1) == fold(2026, "walker-2026-03", "sat-01", 1)
    assert fold("a", "b") != fold("ab")


def test_the_clock_counts_steps() -> None:
    clock = StepClock(datetime(2026, 3, 2, 6))
    assert (clock.spend(50), clock.now) == (1.25, datetime(2026, 3, 2, 6, 0, 1, 250_000))


def test_the_log_begins_with_the_first_task_of_the_oldest_run(rows: Rows) -> None:
    first = (rows[0]["run_id"], rows[0]["task_id"], rows[0]["attempt"], rows[0]["outcome"])
    assert first == ("scout-2026-02", "sat-01", 1, "passed")
